import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import { examplePicture } from "./support/pictures.ts";
import { upload } from "./support/profiles.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { openStorefront, visitSite } from "./support/storefront.ts";
import { until } from "./support/until.ts";

const hostile = `</script><img src=x onerror="alert(1)">&'`;
const contact = { email: "hello@rex.example", phone: "+49 30 123", address: "Linden Street 12\n10115 Berlin" };
const hours = [{ days: "Mon – Fri", time: "9 – 18" }];

let service: TestService;
let url: string;
let dogs: number;
let rex: number;
before(async () => {
  service = await startService();
  dogs = (await newCategory(service, "Dogs")).id;
  const cats = (await newCategory(service, hostile)).id;
  rex = (await newPet(service, dogs, { name: "Rex" })).id;
  await made(service, "PUT", `/pets/${rex}/profile`, { description: `Friendly ${hostile}`, price: { amount: 4_900, currency: "EUR" } });
  await service.ask("POST", `/pets/${rex}/profile/photos?alt=${encodeURIComponent(`Rex ${hostile}`)}`, {
    body: examplePicture,
    headers: { "content-type": "image/jpeg" },
  });
  await newPet(service, cats, { name: hostile });
  await newPet(service, cats, { name: "Lupo", status: "sold" });
  const batch = Array.from({ length: 60 }, (_, i) => ({ name: `Bird ${i}`, categoryId: cats }));
  await made(service, "POST", "/pets/batch", batch);
  const settings = { colour: "#a0430a", tagline: `Best friends ${hostile}`, about: `About ${hostile}`, contact, hours };
  ({ url } = await openStorefront(service, "rex", settings, { name: `Rex ${hostile}` }));
});
after(() => service.close());

const at = (path: string, headers?: Record<string, string>) => visitSite(url, path, headers);

test("the home page, a category and an animal are whole pages without JavaScript, with every text escaped", async () => {
  for (const path of ["/", `/?category=${dogs}`, `/animals/${rex}`, "/?q=rex"]) {
    const { status, headers, body } = await at(path);
    assert.deepEqual([status, headers["content-type"]], [200, "text/html; charset=utf-8"], path);
    assert.ok(!body.includes("<img src=x"), path);
    assert.ok(body.includes("Rex &#60;/script&#62;&#60;img"), path);
    for (const text of ["hello@rex.example", "tel:+4930123", "Linden Street 12", "9 – 18"])
      assert.ok(body.includes(text), `${path}: ${text}`);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(
      String(headers["content-security-policy"]),
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; font-src 'self'; img-src 'self'; connect-src 'self';/,
    );
    assert.ok(!/<script(?! type="application\/ld\+json")|\son\w+=["']|\sstyle=/.test(body), "no script, handler or inline style");
  }
  assert.match((await at(`/animals/${rex}`)).body, /€49\.00[^]*Available/);
});

test("the structured data of an animal is valid JSON, which no text of the shop can end", async () => {
  const { body } = await at(`/animals/${rex}`);
  const data = JSON.parse(/<script type="application\/ld\+json">\s*([^<]+?)\s*<\/script>/.exec(body)![1]!) as Record<string, unknown>;
  assert.deepEqual([data["@type"], data["name"], data["description"]], ["Product", "Rex", `Friendly ${hostile}`]);
  const offer = data["offers"] as Record<string, unknown>;
  assert.deepEqual([offer["price"], offer["priceCurrency"], offer["availability"]], ["49.00", "EUR", "https://schema.org/InStock"]);
  assert.equal(data["url"], `${url}/animals/${rex}`);
  assert.match(String((data["image"] as string[])[0]), /\/photos\/[0-9a-f]{64}\.webp$/);
});

test("a photo is on the page with its alternative text, and served by the site itself", async () => {
  const { body } = await at(`/animals/${rex}`);
  assert.ok(body.includes('alt="Rex &#60;/script&#62;'));
  const path = /src="(\/photos\/[0-9a-f]{64}\.webp)"/.exec(body)![1]!;
  const photo = await at(path);
  assert.deepEqual([photo.status, photo.headers["content-type"]], [200, "image/webp"]);
  const other = await service.newAccount();
  const theirs = await openStorefront(service, "theirs", {}, { key: other.key });
  assert.equal((await visitSite(theirs.url, path)).status, 404, "another shop's site does not serve it");
});

test("a photo is cropped around the point that was chosen for it, in lists, at the top and on its page", async () => {
  const shop = await service.newAccount();
  const { id } = await newPet(service, (await newCategory(service, "Dogs", shop.key)).id, {}, shop.key);
  const { body: photo } = await upload(service, id, examplePicture, {}, shop.key);
  const { url: site } = await openStorefront(service, "cropped", {}, { key: shop.key });
  const cropsOf = async (path: string) => (await visitSite(site, path)).body.match(/ data-x="\d+" data-y="\d+"/g);
  assert.equal(await cropsOf("/"), null);
  await made(service, "PATCH", `/pets/${id}/profile`, { photos: [{ id: photo.id, focus: { x: 100, y: 4 } }] }, shop.key);
  const crop = ' data-x="10" data-y="0"';
  await until(async () => (await cropsOf("/"))?.join() === [crop, crop].join());
  assert.deepEqual(await cropsOf(`/animals/${id}`), [crop]);
});

test("robots.txt, sitemap.xml and favicon.ico are there, and each page names its canonical address", async () => {
  const robots = await at("/robots.txt");
  assert.deepEqual([robots.status, robots.body], [200, `User-agent: *\nAllow: /\nSitemap: ${url}/sitemap.xml\n`]);
  const sitemap = await at("/sitemap.xml");
  assert.deepEqual([sitemap.status, sitemap.headers["content-type"]], [200, "application/xml; charset=utf-8"]);
  assert.ok(sitemap.body.includes(`<loc>${url}/animals/${rex}</loc>`));
  assert.equal(sitemap.body.match(/<loc>/g)?.length, 1 + 2 + 62, "home, categories and all that is not sold");
  const icon = await at("/favicon.ico");
  assert.deepEqual([icon.status, icon.headers["content-type"]], [200, "image/svg+xml"]);
  assert.ok((await at("/")).body.includes(`<link rel="canonical" href="${url}/"`));
  assert.ok((await at(`/?category=${dogs}&utm_source=x`)).body.includes(`href="${url}/?category=${dogs}"`));
  assert.ok((await at("/?q=rex")).body.includes('content="noindex"'), "a search is not listed");
});

test("the links to the next page lead to every animal that is not sold; a sold one has only its address", async () => {
  const seen = new Set<string>();
  let path: string | undefined = "/";
  for (let pages = 0; path !== undefined && pages < 5; pages++) {
    const { body } = await at(path);
    for (const [, id] of body.matchAll(/href="\/animals\/(\d+)"/g)) seen.add(id!);
    path = /rel="next"\s+href="([^"]+)"/.exec(body)?.[1]?.replaceAll("&#38;", "&");
  }
  assert.equal(seen.size, 62);
  assert.match((await at(`/animals/${rex + 2}`)).body, /Lupo[^]*Sold/);
});

/** The names of a list's animals, page by page. */
async function namesFrom(site: string, start: string): Promise<string[][]> {
  const pages: string[][] = [];
  let path: string | undefined = start;
  while (path !== undefined && pages.length < 9) {
    const { body } = await visitSite(site, path);
    pages.push(Array.from(body.matchAll(/<h[23]><a href="\/animals\/\d+">([^<]+)<\/a><\/h/g), ([, name]) => name!));
    path = /rel="next"\s+href="([^"]+)"/.exec(body)?.[1]?.replaceAll("&#38;", "&");
  }
  return pages;
}

test("a list begins with the animals that can be bought, those with a photo first on each page; it is filtered and sorted by links", async () => {
  const { key } = await service.newAccount();
  const { id: birds } = await newCategory(service, "Birds", key);
  const { id: empty } = await newCategory(service, "Empty", key);
  const batch = Array.from({ length: 60 }, (_, i) => ({
    name: `Bird ${String(i).padStart(2, "0")}`,
    categoryId: birds,
    status: i % 2 === 0 ? "pending" : "available",
  }));
  const pets = await made<{ id: number }[]>(service, "POST", "/pets/batch", batch, key);
  const headers = { "content-type": "image/jpeg" };
  await service.ask("POST", `/pets/${pets[41]!.id}/profile/photos?alt=Bird`, { body: examplePicture, headers, key });
  const { url: site } = await openStorefront(service, "sorted", {}, { key });
  const newest = (await namesFrom(site, "/")).map((page) => page.map((name) => Number(name.slice(-2))));
  const [available, reserved] = [Array.from({ length: 30 }, (_, n) => 59 - 2 * n), Array.from({ length: 30 }, (_, n) => 58 - 2 * n)];
  assert.deepEqual(newest[0], [41, ...available.slice(0, 24).filter((n) => n !== 41)]);
  assert.deepEqual(
    newest.flat().toSorted((a, b) => a - b),
    Array.from({ length: 60 }, (_, n) => n),
    "each of them once",
  );
  assert.deepEqual(newest[1], [...available.slice(24), ...reserved.slice(0, 18)]);
  assert.deepEqual(
    (await namesFrom(site, "/?sort=name")).flat(),
    batch.map(({ name }) => name),
  );
  assert.deepEqual(
    (await namesFrom(site, `/?sort=name&status=reserved&category=${birds}`)).flat(),
    batch.flatMap(({ name, status }) => (status === "pending" ? name : [])),
  );
  assert.deepEqual((await namesFrom(site, "/?status=available")).flat().length, 30);
  assert.deepEqual(
    (await namesFrom(site, "/?q=bird")).flat(),
    batch.map(({ name }) => name),
    "a search has further pages",
  );
  const second = (await visitSite(site, "/?q=bird&after=1-Bird+40")).body;
  assert.match(second, /href="\/\?q=bird">First page</);
  const strange = await visitSite(site, "/?q=bird&after=1-Zebra");
  assert.deepEqual(
    [strange.status, strange.body.includes("Bird 00")],
    [200, true],
    "an address with a start that is no match begins at the first",
  );
  const home = (await visitSite(site)).body;
  assert.ok(home.includes(`/?category=${birds}`) && !home.includes(`/?category=${empty}`), "no page leads to an empty category");
  assert.ok(!(await visitSite(site, "/sitemap.xml")).body.includes(`category=${empty}`));
  assert.equal((await visitSite(site, `/?category=${empty}`)).status, 200);
  assert.ok((await visitSite(site, `/?category=${birds}&status=reserved`)).body.includes('content="noindex"'));
});

test("the animals of the last two weeks are new, unless most of a page is", async () => {
  const { key } = await service.newAccount();
  const { id: cats } = await newCategory(service, "Cats", key);
  const batch = Array.from({ length: 60 }, (_, i) => ({ name: `Cat ${i}`, categoryId: cats }));
  await made(service, "POST", "/pets/batch", batch, key);
  const { url: site } = await openStorefront(service, "arrivals", {}, { key });
  assert.ok(!(await visitSite(site)).body.includes('class="ribbon new"'), "all are new");
  const late = await newPet(service, cats, { name: "Aaron" }, key);
  await until(async () => (await visitSite(site)).body.includes("Aaron"));
  const byName = (await visitSite(site, "/?sort=name")).body;
  assert.match(byName, /ribbon new[^]*Aaron/);
  const page = (await visitSite(site, `/animals/${late.id}`)).body;
  assert.equal(page.match(/You may also like/g)?.length, 1);
  assert.equal(page.match(/<h3><a href="\/animals\/\d+">Cat \d+<\/a><\/h3>/g)?.length, 4, "related animals, without itself");
});

test("pages of the shop's own are served, linked and listed; their text is safe", async () => {
  const text = `## How\n\nAsk **us**: [mail](mailto:a@b.example), ${hostile} [bad](javascript:alert(1))`;
  const pages = [
    { slug: "adoption", title: "Adoption & more", text },
    { slug: "imprint", title: "Imprint", text: "Rex" },
  ];
  const { url: site } = await openStorefront(service, "paged", { pages, social: ["https://www.instagram.com/rex"] });
  const { status, body } = await visitSite(site, "/pages/adoption");
  assert.equal(status, 200);
  assert.match(body, /<h1>Adoption &#38; more<\/h1>\s*<h2>How<\/h2>/);
  assert.ok(body.includes('<strong>us</strong>: <a href="mailto:a@b.example">mail</a>'));
  assert.ok(!body.includes("<img src=x") && !body.includes('href="javascript'));
  assert.ok(body.includes(`<link rel="canonical" href="${site}/pages/adoption"`));
  assert.match(body, /<a href="https:\/\/www\.instagram\.com\/rex" rel="me noopener">Instagram<\/a>/);
  assert.equal((await visitSite(site)).body.match(/href="\/pages\/imprint"/g)?.length, 2, "at the top and at the end");
  assert.ok((await visitSite(site, "/sitemap.xml")).body.includes(`<loc>${site}/pages/imprint</loc>`));
  assert.ok((await visitSite(site, "/sitemap.xml", { "accept-encoding": "gzip" })).bytes.length > 0);
  assert.equal((await visitSite(site, "/pages/nope")).status, 404);
});

test("a theme brings its typefaces from the shop's own address, for good", async () => {
  const { url: site } = await openStorefront(service, "themed", { theme: "classic" });
  const { body } = await visitSite(site);
  const fonts = Array.from(body.matchAll(/rel="preload"\s+href="([^"]+)"/g), ([, path]) => path!);
  assert.equal(fonts.length, 2);
  for (const path of fonts) {
    const { status, headers, bytes } = await visitSite(site, path);
    assert.deepEqual(
      [status, headers["content-type"], headers["cache-control"]],
      [200, "font/woff2", "public, max-age=31536000, immutable"],
    );
    assert.equal(bytes.subarray(0, 4).toString(), "wOF2");
  }
  assert.equal((await visitSite(site, "/fonts/other.woff2")).status, 404);
});

test("unknown pages, animals and categories are a 404 page; hostile addresses are answered and change nothing", async () => {
  for (const path of ["/nope", "/animals/999999", "/animals/0", "/animals/1e3", "/?category=999999", `/animals/${rex}/`, "/animals"])
    assert.deepEqual([(await at(path)).status, (await at(path)).body.includes("This page is not here")], [404, true], path);
  const queries = [
    "?q=%00",
    "?q=%ff",
    `?q=${"x".repeat(1_500)}`,
    "?category=-1",
    "?before=abc",
    "?before=99999999999999999",
    "?q=a&q=b",
    "?&&&=",
  ];
  for (const query of queries) assert.equal((await at(`/${query}`)).status, 200, query);
  const many = await Promise.all(Array.from({ length: 100 }, (_, i) => at(`/?q=bird${i}&utm=${i}`)));
  assert.ok(many.every(({ status }) => status === 200));
});

test("the next request after a change gets the current page, and a request while nothing changes gets a 304", async () => {
  const path = `/animals/${rex}`;
  const first = await at(path, { "accept-encoding": "br" });
  assert.equal(first.headers["content-encoding"], "br");
  const again = await at(path, { "accept-encoding": "br", "if-none-match": String(first.headers["etag"]) });
  assert.equal(again.status, 304);
  await made(service, "PATCH", `/pets/${rex}`, { name: "Rexina" });
  await until(async () => (await at(path)).body.includes("Rexina"));
  await made(service, "PATCH", `/pets/${rex}/profile`, { price: { amount: 100_000, currency: "JPY" } });
  await until(async () => (await at(path)).body.includes("¥100,000"));
  await made(service, "PATCH", `/pets/${rex}`, { name: "Rex" });
});

test("files of the deployment come before the pages, and a site without a storefront stays as it is", async () => {
  const own = await openStorefront(
    service,
    "own",
    {},
    { files: { "robots.txt": "mine", "404.html": "own 404", "about/index.html": "about us" } },
  );
  assert.equal((await visitSite(own.url, "/robots.txt")).body, "mine");
  assert.equal((await visitSite(own.url, "/about/")).body, "about us");
  assert.deepEqual((await visitSite(own.url, "/nope")).body, "own 404");
  assert.equal((await visitSite(own.url, "/")).status, 200);
  const project = await made<{ id: number; url: string }>(service, "POST", "/projects", { name: "plain", slug: "plain" });
  const body = await packSite({ "index.html": "plain", "petstore.json": "{}" });
  await service.ask("POST", `/projects/${project.id}/deployments`, { body, headers: { "content-type": "application/gzip" } });
  await service.publishing.idle();
  assert.equal((await visitSite(project.url, "/")).body, "plain");
  assert.equal((await visitSite(project.url, "/robots.txt")).status, 404);
});

test("wrong settings fail the deployment with the field's name, and the live one stays", async () => {
  const wrong: [unknown, RegExp][] = [
    [[], /`storefront` must be an object/],
    [{ color: "#fff" }, /unknown field "color"/],
    [{ colour: "red" }, /`storefront\.colour` must be six/],
    [{ tagline: "x".repeat(201) }, /`storefront\.tagline` must be a text of at most 200/],
    [{ logo: "../x.png" }, /`storefront\.logo`/],
    [{ logo: "https://example.com/x.png" }, /`storefront\.logo`/],
    [{ contact: { email: "nobody" } }, /`storefront\.contact\.email` must be an email/],
    [{ hours: [{ days: "Mon" }] }, /`storefront\.hours\[0\]\.time` is missing/],
    [{ hours: Array.from({ length: 15 }, () => hours[0]) }, /at most 14/],
    [{ theme: "dark" }, /`storefront\.theme` must be modern, classic or playful/],
    [{ hero: "animals/1/photos/x" }, /`storefront\.hero` must be the path of a picture in the folder, .*`animals\/ID\/photos\/ID`\.$/],
    [{ timeZone: "Berlin" }, /`storefront\.timeZone` must be the name of a time zone/],
    [{ timeZone: "+02:00" }, /`storefront\.timeZone`/],
    [{ action: { label: "Buy", link: "javascript:alert(1)" } }, /`storefront\.action\.link` must be a path/],
    [{ action: { link: "/" } }, /`storefront\.action\.label` is missing/],
    [{ social: ["http://x.example"] }, /`storefront\.social\[0\]` must be an https address/],
    [{ social: ["https://user:pw@x.example/"] }, /`storefront\.social\[0\]`/],
    [{ social: Array.from({ length: 9 }, () => "https://x.example") }, /at most 8/],
    [{ pages: [{ slug: "About us", title: "x", text: "x" }] }, /`storefront\.pages\[0\]\.slug` must be lower-case/],
    [{ pages: [1, 2].map(() => ({ slug: "a", title: "x", text: "x" })) }, /`storefront\.pages\[1\]\.slug` is that of another page/],
    [{ pages: [{ slug: "a", title: "x", text: "x".repeat(8_001) }] }, /`storefront\.pages\[0\]\.text` must be a text of at most 8000/],
  ];
  const { id, url: address } = await openStorefront(service, "settings", {});
  for (const [storefront, reason] of wrong) {
    const body = await packSite({ "petstore.json": JSON.stringify({ storefront }) });
    const headers = { "content-type": "application/gzip" };
    const sent = await service.ask<Deployment>("POST", `/projects/${id}/deployments`, { body, headers });
    await service.publishing.idle();
    const { status, error } = await made<Deployment>(service, "GET", `/projects/${id}/deployments/${sent.body.id}`);
    assert.equal(status, "failed", JSON.stringify(storefront));
    assert.match(String(error), reason);
  }
  assert.equal((await visitSite(address, "/")).status, 200);
});
