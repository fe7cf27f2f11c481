import assert from "node:assert/strict";
import { test } from "node:test";
import { apiOperations } from "../src/app/operations.ts";
import { guides, htmlOf } from "../src/app/reference-texts.ts";
import { errorTable } from "../src/platform/error-table.ts";
import { stage } from "./support/browser.ts";
import { lendPage } from "./support/contexts.ts";
import { findings, overflow, smallestPhone, visit } from "./support/pages.ts";
import { ask, startService } from "./support/service.ts";

const publicUrl = "http://shop.localhost:9999";
const [, shop] = await stage(() => startService({ env: { PUBLIC_URL: publicUrl } }));
/** A service that pages can be opened at: its public address is its own. */
const [browser, own] = await stage(startService);

const get = (path: string, headers: Record<string, string> = {}, method = "GET") => ask<string>(shop.address + path, method, { headers });

test("every operation and guide is Markdown at its address, with its parameters, refusals and samples", async () => {
  for (const { operationId, path, method } of apiOperations) {
    const { status, headers, body } = await get(`/reference/${operationId}.md`);
    assert.deepEqual([status, headers.get("content-type")], [200, "text/markdown; charset=utf-8"], operationId);
    assert.match(body, /^# \S/);
    assert.ok(body.includes(`\`${method} /v1${path}\``), operationId);
    assert.match(body, /\| 401 \| `unauthorized` \|/, operationId);
    assert.doesNotMatch(body, /undefined|\[object/, operationId);
  }
  const pet = (await get("/reference/createPet.md")).body;
  for (const part of [
    "| `categoryId` | integer | yes |",
    "`available`, `pending`, `sold`",
    "unknown_reference",
    "curl -X POST",
    "```json",
  ]) {
    assert.ok(pet.includes(part), part);
  }
  for (const name of guides) assert.match((await get(`/reference/guides/${name}.md`)).body, /^# \S+\n/, name);
  const guide = (await get("/reference/guides/errors.md")).body;
  for (const text of [pet, guide]) assert.ok(text.includes(errorTable.unknown_reference.meaning), "what a code means in general");
  assert.match((await get("/reference.md")).body, /\[List pets\]\(\/reference\/listPets\)/);
});

test("/llms.txt links to all of them by the public address, and each link leads somewhere", async () => {
  const { status, headers, body } = await get("/llms.txt");
  assert.deepEqual([status, headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
  assert.match(body, /^# Pet Store API\n\n> \S/);
  const links = [...body.matchAll(/\]\((https?:[^)]+)\)/g)].map(([, url = ""]) => url);
  assert.ok(links.length > apiOperations.length + guides.length);
  for (const link of links) {
    assert.ok(link.startsWith(`${publicUrl}/`), link);
    assert.equal((await get(link.slice(publicUrl.length))).status, 200, link);
  }
});

test("/.well-known/api-catalog is a link set (RFC 9727), to GET and HEAD, whose links lead somewhere", async () => {
  const { status, headers, body } = await get("/.well-known/api-catalog");
  assert.deepEqual(
    [status, headers.get("content-type")],
    [200, 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
  );
  type Link = { href: string; type: string };
  const { linkset } = body as unknown as { linkset: (Record<string, Link[]> & { anchor: string })[] };
  const api = linkset.find(({ anchor }) => anchor === `${publicUrl}/v1`) ?? assert.fail();
  for (const relation of ["service-desc", "service-doc", "status"]) {
    for (const { href } of api[relation] ?? assert.fail(relation))
      assert.equal((await get(href.slice(publicUrl.length))).status, 200, href);
  }
  assert.deepEqual((await get("/.well-known/api-catalog", {}, "HEAD")).status, 200);
});

test("a page of the reference holds its content without JavaScript, with its own title, description and address", async () => {
  const { body, headers } = await get("/reference/createOrder");
  assert.match(headers.get("content-security-policy") ?? "", /script-src 'self'/);
  assert.match(body, /<title>Place an order · Pet Store<\/title>/);
  assert.match(body, /<meta name="description" content="Places an order\." \/>/);
  assert.match(body, /<link rel="canonical" href="http:\/\/shop\.localhost:9999\/reference\/createOrder" \/>/);
  for (const part of ["<h1>Place an order</h1>", "<code>insufficient_stock</code>", "<code>petId</code>", "curl -X POST"]) {
    assert.ok(body.includes(part), part);
  }
  const again = await get("/reference/createOrder", { "if-none-match": headers.get("etag") ?? "" });
  assert.equal(again.status, 304);
  assert.match((await get("/reference")).body, /<a href="\/reference\/listPets">List pets<\/a>/);
  assert.match((await get("/reference/guides/limits")).body, /<h1>Limits<\/h1>/);
  assert.match((await get("/reference/nothing")).body, /<title>Pet Store<\/title>/);
});

test("Markdown becomes markup only where it is meant: HTML in a text stays text", () => {
  assert.equal(htmlOf("# A & <b>"), "<h1>A &amp; &lt;b&gt;</h1>");
  assert.equal(htmlOf("`<script>` **x** [y](/z)"), '<p><code>&lt;script&gt;</code> <strong>x</strong> <a href="/z">y</a></p>');
  assert.equal(htmlOf('[y](javascript:alert(1)) </noscript> "'), "<p>[y](javascript:alert(1)) &lt;/noscript&gt; &quot;</p>");
  assert.equal(
    htmlOf("| a |\n|---|\n| `b\\|c` |"),
    '<div class="scrolled" tabindex="0"><table><thead><tr><th>a</th></tr></thead><tbody><tr><td><code>b|c</code></td></tr></tbody></table></div>',
  );
});

test("with scripts a guide is a page of the reference, which nothing shifts; without them its text is there", async (t) => {
  const { page } = await visit(t, browser, `${own.address}/reference`);
  await page.getByRole("link", { name: "Idempotency", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Idempotency" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Idempotency" }).waitFor();
  const shift = await page.evaluate(
    `new Promise((resolve) => { let sum = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; }).observe({ type: "layout-shift", buffered: true }); requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum))); })`,
  );
  assert.ok((shift as number) <= 0.02, String(shift));
  const plain = await browser.newPage({ javaScriptEnabled: false });
  t.after(() => plain.close());
  await plain.goto(`${own.address}/reference/listPets`);
  assert.ok(await plain.getByRole("heading", { level: 1, name: "List pets" }).isVisible());
});

test("the text of a page can be read while its scripts are still on their way, and the application takes its place", async () => {
  for (const [path, title, colorScheme] of [
    ["/reference", "Pet Store API", "light"],
    ["/reference/createOrder", "Place an order", "dark"],
    ["/reference/guides/limits", "Limits", "light"],
  ] as const) {
    const { page, giveBack } = await lendPage(browser, own.address, { colorScheme, viewport: smallestPhone });
    const description = Promise.withResolvers<void>();
    await page.route("**/openapi.json", async (route) => {
      await description.promise;
      await route.continue();
    });
    await page.goto(own.address + path);
    const early = page.locator(".early-text");
    const heading = page.getByRole("heading", { level: 1, name: title });
    assert.ok(await early.isVisible(), path);
    assert.ok(await heading.isVisible());
    assert.deepEqual(await findings(page), [], path);
    assert.equal(await overflow(page), 0, path);
    description.resolve();
    await page.getByRole("banner").waitFor();
    assert.equal(await early.count(), 0);
    assert.equal(await heading.count(), 1);
    await page.unrouteAll();
    await giveBack();
  }
});

test("if the description cannot be loaded, the page says so in place of its text", async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.route("**/openapi.json", (route) => route.abort());
  await page.goto(`${own.address}/reference/listPets`);
  await page.getByRole("button", { name: "Try again" }).waitFor();
  assert.equal(await page.locator(".early-text").count(), 0);
});
