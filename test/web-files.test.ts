import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { stage } from "./support/browser.ts";
import { visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { assertLight } from "./support/weight.ts";

const [browser, service] = await stage(startService);

type Raw = { status: number; headers: IncomingMessage["headers"]; body: Buffer };

/** A GET whose path and encoding are left as they are. */
function raw(path: string, headers: Record<string, string> = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    get(service.address, { path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
    }).on("error", reject);
  });
}

async function scriptPath(): Promise<string> {
  const { body } = await raw("/");
  const path = /<script type="module"[^>]* src="([^"]+)"/.exec(body.toString())?.[1];
  assert.ok(path);
  return path;
}

test("every page forbids foreign code, framing and guessing of types", async () => {
  for (const path of ["/", "/reference", "/reference/listPets", "/nothing"]) {
    const { headers } = await raw(path, { accept: "text/html" });
    const policy = (headers["content-security-policy"] as string).split("; ");
    assert.ok(policy.includes("default-src 'none'"));
    assert.ok(policy.includes("script-src 'self'"));
    assert.ok(policy.includes("frame-ancestors 'none'"));
    assert.ok(policy.includes("base-uri 'none'"));
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "same-origin");
    assert.equal(headers["cache-control"], "no-cache");
  }
});

test("a trailing slash leads to the same page, and no existing page answers 404", async () => {
  for (const path of ["/reference", "/reference/listPets", "/sign-in", "/dashboard", "/dashboard/animals"]) {
    for (const spelling of [path, `${path}/`]) assert.equal((await raw(spelling, { accept: "text/html" })).status, 200, spelling);
  }
});

test("no script is in the page itself", async () => {
  const { body } = await raw("/");
  assert.deepEqual(body.toString().match(/<script(?![^>]* src=)[^>]*>|\son\w+=/g), null);
});

test("files under /assets are immutable and sent in the best accepted encoding", async () => {
  const path = await scriptPath();
  const plain = await raw(path);
  assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(plain.headers["content-type"], "text/javascript; charset=utf-8");
  assert.equal(plain.headers["x-content-type-options"], "nosniff");
  assert.equal(plain.headers["vary"], "Accept-Encoding");
  assert.equal(plain.headers["content-encoding"], undefined);

  const brotli = await raw(path, { "accept-encoding": "gzip, deflate, br" });
  assert.equal(brotli.headers["content-encoding"], "br");
  assert.deepEqual(brotliDecompressSync(brotli.body), plain.body);
  const gzip = await raw(path, { "accept-encoding": "GZIP;q=0.5, br;q=0" });
  assert.equal(gzip.headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(gzip.body), plain.body);
});

test("an unchanged page is not sent again", async () => {
  const { headers } = await raw("/reference");
  const again = await raw("/reference", { "if-none-match": `"other", ${headers.etag}` });
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
  assert.ok(again.headers["content-security-policy"]);
});

test("an unknown address answers a page to browsers and a JSON error to programs", async () => {
  const page = await raw("/nothing", { accept: "text/html,*/*;q=0.8" });
  assert.equal(page.status, 404);
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  for (const [path, accept] of [
    ["/nothing", "application/json"],
    ["/assets/nothing.js", "*/*"],
  ] as const) {
    const { status, body } = await raw(path, { accept });
    assert.equal(status, 404);
    assert.equal((JSON.parse(body.toString()) as { code: string }).code, "not_found");
  }
  const api = await raw("/v1/nothing", { accept: "text/html" });
  assert.equal(api.headers["content-type"], "application/json; charset=utf-8");
});

test("nothing outside the built files is served", async () => {
  for (const path of [
    "/assets/../../../package.json",
    "/assets/%2e%2e/%2e%2e/package.json",
    "/..%2f..%2fpackage.json",
    "/inputs.sha256",
    "/index.html.br",
  ]) {
    assert.ok((await raw(path)).status >= 400, path);
  }
});

test("the first load of / has little JavaScript", async (t) => {
  await assertLight(t, await visit(t, browser, `${service.address}/`, { isFirstVisit: true }));
});
