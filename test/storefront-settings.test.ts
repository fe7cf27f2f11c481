import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { systemOrigin } from "../src/platform/events.ts";
import { Problem } from "../src/platform/problem.ts";
import { insertDeployment } from "../src/publishing/projects/deployments.store.ts";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import { deployChanged } from "../src/publishing/projects/storefront-settings.store.ts";
import { newMember, type Browser } from "./support/dashboard.ts";
import type { Failure } from "./support/models.ts";
import { picture } from "./support/pictures.ts";
import { upload } from "./support/profiles.ts";
import { startService, type Reply, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { openStorefront, visitSite } from "./support/storefront.ts";
import { until } from "./support/until.ts";

type Shown = { settings: string | null; startPage: boolean; logo: string | null };

let service: TestService;
let member: Browser;
before(async () => {
  service = await startService({ env: { KEEP_DEPLOYMENTS: "3" } });
  member = await newMember(service, { account: service.accountId, email: "ann@shop.example", role: "member" });
});
after(() => service.close());

const values = { name: "Rex & Co.", colour: "#a0430a", tagline: "Good friends", email: "hello@rex.example", hours: [] };
const pathOf = (id: number, part = "") => `/projects/${id}/storefront${part}`;
const publish = (id: number, more: object = {}) => member.ask<Deployment>("PUT", pathOf(id), { ...values, ...more });

async function setLogo(id: number, body: Uint8Array<ArrayBuffer>, type = "image/png"): Promise<Reply<Deployment>> {
  const headers = { cookie: member.cookie, origin: service.address, "content-type": type };
  const response = await fetch(`${service.address}/dashboard/v1${pathOf(id, "/logo")}`, { method: "PUT", headers, body });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Deployment };
}

async function logoOf(width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const background = { r: 200, g: 30, b: 30, alpha: 0.5 };
  return new Uint8Array(
    await sharp({ create: { width, height, channels: 4, background } })
      .png()
      .toBuffer(),
  );
}

const newProject = (slug: string) => made<{ id: number; url: string }>(service, "POST", "/projects", { name: slug, slug });
const structured = (body: string) =>
  JSON.parse(/<script type="application\/ld\+json">\s*([^<]+?)\s*<\/script>/.exec(body)![1]!) as Record<string, unknown>;

test("a save of the form serves the new settings at once, and keeps every file and the logo of the live deployment", async () => {
  const files = { "about/index.html": "about us", "robots.txt": "mine", "logo.svg": "<svg/>", "same.txt": "about us" };
  const { id, url } = await openStorefront(service, "keeping", { logo: "logo.svg", tagline: "Old" }, { files });
  const { status, body } = await publish(id);
  assert.deepEqual([status, body.status, body.files, body.error], [200, "ready", 4, null]);
  const home = await visitSite(url);
  assert.ok(home.body.includes("Good friends") && home.body.includes("Rex &#38; Co.") && home.body.includes('src="/logo.svg"'));
  // beyond the number of kept deployments, so that the one with the upload is deleted and its content swept
  for (let i = 0; i < 4; i++) assert.equal((await publish(id, { tagline: `Friends ${i}` })).status, 200);
  await service.publishing.idle();
  const served = { "/about/": "about us", "/robots.txt": "mine", "/same.txt": "about us", "/logo.svg": "<svg/>" };
  for (const [path, content] of Object.entries(served)) assert.equal((await visitSite(url, path)).body, content, path);
  assert.equal((await made<Deployment[]>(service, "GET", `/projects/${id}/deployments`)).length, 3);
  const events = await made<{ type: string; resource: { id: number } }[]>(service, "GET", "/events?types=deployment.*&limit=100");
  assert.ok(events.some(({ type, resource }) => type === "deployment.ready" && resource.id === body.id));
});

test("a save of the form keeps the settings that it does not have", async () => {
  const pages = [{ slug: "imprint", title: "Imprint", text: "Rex" }];
  const more = {
    theme: "classic",
    hero: "none",
    action: { label: "Adopt", link: "/pages/imprint" },
    social: ["https://www.instagram.com/rex"],
    pages,
  };
  const { id, url } = await openStorefront(service, "kept", { ...more, timeZone: "Europe/Berlin" });
  await publish(id, { hours: [{ days: "Mon", time: "9 – 18" }] });
  const { body } = await visitSite(url);
  for (const text of ["Good friends", "Fraunces", ">Adopt</a>", "Instagram", "/pages/imprint", 'data-zone="Europe/Berlin"'])
    assert.ok(body.includes(text), text);
});

test("a save of the form writes, changes and removes the shop's own pages, and says which of them is wrong", async () => {
  const { id, url } = await openStorefront(service, "pages", {});
  const imprint = { slug: "imprint", title: "Imprint", text: "# We\n\nare **here**." };
  const largest = Array.from({ length: 7 }, (_, i) => ({ slug: `page-${i}`, title: `Page ${i}`, text: "é".repeat(8_000) }));
  await publish(id, { pages: [imprint, ...largest] });
  assert.match((await visitSite(url, "/pages/imprint")).body, /are <strong>here<\/strong>/);
  for (const [page, why] of [
    [{ ...imprint, title: "" }, /^page 1: its title is missing/],
    [{ ...imprint, slug: "A b" }, /^page 1: its slug must be lower-case/],
  ] as const) {
    const { status, body } = await member.ask<Failure>("PUT", pathOf(id), { ...values, pages: [page] });
    assert.deepEqual([status, body.details?.[0]?.path], [400, "body.pages"]);
    assert.match(body.details![0]!.message, why);
  }
  await publish(id, {});
  assert.equal((await visitSite(url, "/pages/imprint")).status, 200, "a form without pages leaves them");
  await publish(id, { pages: [] });
  assert.equal((await visitSite(url, "/pages/imprint")).status, 404);
});

test("a save of the form changes the theme, the time zone and the social links, and removes those that are empty", async () => {
  const { id, url } = await openStorefront(service, "later", { hero: "none" });
  const social = ["https://www.instagram.com/rex"];
  const hours = [{ days: "Mon", time: "9 – 18" }];
  await publish(id, { theme: "playful", timeZone: "Europe/Berlin", social, hours });
  const texts = ["Baloo 2", "Instagram", 'data-zone="Europe/Berlin"'];
  const { body } = await visitSite(url);
  for (const text of texts) assert.ok(body.includes(text), text);
  for (const wrong of [{ theme: "dark" }, { timeZone: "Berlin" }, { social: ["http://x.example"] }, { social: Array(9).fill(social[0]) }]) {
    const refused = await member.ask<{ details: { path: string }[] }>("PUT", pathOf(id), { ...values, ...wrong });
    assert.deepEqual([refused.status, refused.body.details[0]?.path], [400, `body.${Object.keys(wrong)[0]}`]);
  }
  assert.equal((await visitSite(url)).body, body, "a refused save changes nothing");
  await publish(id, { theme: "", timeZone: "", social: [], hours });
  const plain = (await visitSite(url)).body;
  for (const text of texts) assert.ok(!plain.includes(text), text);
});

test("the form puts a photo of an animal at the top, no other file, and a photo of another where the animal has none", async () => {
  const { id, url } = await openStorefront(service, "chosen", { tagline: "Pets" }, { files: { "other.png": "" } });
  const category = await newCategory(service, "Hamsters");
  const ids: number[] = [];
  for (const name of ["Ham", "Ster", "Bare"]) ids.push((await newPet(service, category.id, { name })).id);
  const [first, second, bare] = ids as [number, number, number];
  const photo = (colour: string) => picture(colour, { width: 60, height: 60 }).then((bytes) => new Uint8Array(bytes));
  const headers = { "content-type": "image/jpeg" };
  await service.ask("POST", `/pets/${first}/profile/photos`, { body: await photo("teal"), headers });
  await service.ask("POST", `/pets/${second}/profile/photos`, { body: await photo("coral"), headers });
  const other = await upload(service, first, await photo("gold"));
  const showsOther = async () => (await visitSite(url)).body.split("</figure>")[0]!.includes(new URL(other.body.url).pathname);
  const atTop = async () => /Meet (?:Ham|Ster|Bare)</.exec((await visitSite(url)).body)?.[0];
  await until(async () => (await atTop()) === "Meet Ster<"); // the newest with a photo; on PostgreSQL within a second
  await publish(id, { hero: `animals/${first}` });
  assert.equal(await atTop(), "Meet Ham<");
  assert.equal(await showsOther(), false);
  await publish(id, { hero: `animals/${first}/photos/${other.body.id}` });
  assert.deepEqual([await atTop(), await showsOther()], ["Meet Ham<", true]);
  await service.ask("DELETE", `/pets/${first}/profile/photos/${other.body.id}`);
  await until(async () => !(await showsOther()));
  assert.equal(await atTop(), "Meet Ham<", "the first photo takes the place of one that is gone");
  await publish(id, {});
  assert.equal(await atTop(), "Meet Ham<", "a form that does not know the field keeps it");
  await service.ask("PATCH", `/pets/${first}`, { body: { status: "sold" } });
  await until(async () => (await atTop()) === "Meet Ster<");
  for (const hero of [`animals/${bare}`, "animals/999999"]) {
    await publish(id, { hero });
    assert.equal(await atTop(), "Meet Ster<", hero);
  }
  for (const hero of [
    "other.png",
    "animals/0",
    "animals/x",
    "animals/1/photos/0",
    "animals/1/photos/",
    "https://other.example/x.png",
    "../x.png",
  ]) {
    const refused = await member.ask<{ details: { path: string }[] }>("PUT", pathOf(id), { ...values, hero });
    assert.deepEqual([refused.status, refused.body.details[0]?.path], [400, "body.hero"], hero);
  }
  await publish(id, { hero: "none" });
  assert.equal(await atTop(), undefined);
  await publish(id, { hero: "" });
  assert.equal(await atTop(), "Meet Ster<");
  for (const petId of ids) await service.ask("DELETE", `/pets/${petId}`);
});

test("a preview is the first page with unsaved settings, without scripts and links, and changes nothing", async () => {
  const { id, url } = await openStorefront(service, "preview", { tagline: "As it was" });
  await setLogo(id, await logoOf(100, 100));
  const category = await newCategory(service, "Dogs");
  const { id: petId } = await newPet(service, category.id);
  const photo = new Uint8Array(await picture("teal"));
  await service.ask("POST", `/pets/${petId}/profile/photos`, { body: photo, headers: { "content-type": "image/jpeg" } });
  const published = (await visitSite(url)).body;
  const hours = [{ days: "Mon", time: "9 – 18" }];
  const more = { theme: "playful", tagline: "<script>alert(1)</script>", timeZone: "Europe/Berlin", hours };
  const { status, body } = await member.ask<{ html: string }>("POST", pathOf(id, "/preview"), { ...values, ...more });
  assert.equal(status, 200);
  for (const text of [
    "&#60;script&#62;alert(1)",
    "Baloo 2",
    "--brand:#a0430a",
    "<body inert>",
    'src="data:image/webp;base64,',
    "Mon 9 – 18",
  ])
    assert.ok(body.html.includes(text), text);
  assert.doesNotMatch(body.html, /<script|src="\/|srcset="\/|As it was/);
  const photos = [...body.html.matchAll(/\S+\/photos\/[0-9a-f]{64}/g)].map(([one]) => one.replace(/^[^h]*/, ""));
  assert.ok(photos.length > 0 && photos.every((one) => one.startsWith("http://photos.petstore.localhost:")), photos.join(" "));
  const [, font = ""] = /href="(\/fonts\/[^"]+)"/.exec(body.html) ?? [];
  const served = await fetch(service.address + font);
  assert.deepEqual([served.status, served.headers.get("content-type")], [200, "font/woff2"]);
  assert.equal((await fetch(`${service.address}/fonts/none.woff2`)).status, 404);
  assert.equal((await visitSite(url)).body, published);
  assert.equal((await made<Deployment[]>(service, "GET", `/projects/${id}/deployments`)).length, 2);
  await service.ask("DELETE", `/pets/${petId}`);
});

test("a preview is refused like the save: wrong values at their field, large bodies, other accounts, and who is not signed in", async () => {
  const { id } = await openStorefront(service, "no-preview", {});
  const ask = (body: object) => member.ask<{ details: { path: string }[] }>("POST", pathOf(id, "/preview"), body);
  const wrong = await ask({ ...values, timeZone: "Berlin" });
  assert.deepEqual([wrong.status, wrong.body.details[0]?.path], [400, "body.timeZone"]);
  assert.equal((await ask({ ...values, about: "x".repeat(400_000) })).status, 413);
  const other = await newMember(service, { account: (await service.newAccount()).id, email: "eva@other.example", role: "owner" });
  assert.equal((await other.ask("POST", pathOf(id, "/preview"), values)).status, 404);
  const headers = { "content-type": "application/json", origin: service.address };
  const anonymous = { method: "POST", headers, body: JSON.stringify(values) };
  assert.equal((await fetch(`${service.address}/dashboard/v1${pathOf(id, "/preview")}`, anonymous)).status, 401);
});

test("a preview leaves out a picture that is too large for it, and shows a small one", async () => {
  const files = { "hero.svg": `<svg xmlns="http://www.w3.org/2000/svg">${" ".repeat(300_000)}</svg>`, "logo.svg": "<svg/>" };
  const { id } = await openStorefront(service, "large-hero", { hero: "hero.svg", logo: "logo.svg" }, { files });
  const { body } = await member.ask<{ html: string }>("POST", pathOf(id, "/preview"), values);
  assert.match(body.html, /<img src="data:image\/gif;base64,/);
  assert.ok(body.html.includes(`<img src="data:image/svg+xml;base64,${btoa("<svg/>")}"`));
});

test("the first publication keeps the files of a site; it removes the start page only on request", async () => {
  const { id, url } = await newProject("own-site");
  const site = await packSite({ "petstore.json": "{}", "index.html": "my page", "style.css": "body{}" });
  await service.ask("POST", `/projects/${id}/deployments`, { body: site, headers: { "content-type": "application/gzip" } });
  await service.publishing.idle();
  const shown = await member.ask<Shown>("GET", pathOf(id));
  assert.deepEqual(shown.body, { settings: null, startPage: true, logo: null });
  await publish(id);
  assert.equal((await visitSite(url)).body, "my page");
  await publish(id, { replacesStartPage: true });
  assert.ok((await visitSite(url)).body.includes("Good friends"));
  assert.equal((await visitSite(url, "/style.css")).body, "body{}");
});

test("a project without a deployment gets its shop with one call; another account's does not exist", async () => {
  const { id, url } = await newProject("fresh");
  assert.equal((await setLogo(id, await logoOf(10, 10))).status, 409, "there is no shop yet");
  assert.equal((await publish(id)).status, 200);
  assert.equal((await visitSite(url)).status, 200);
  const other = await newMember(service, { account: (await service.newAccount()).id, email: "eve@other.example", role: "owner" });
  for (const method of ["GET", "DELETE"]) {
    const part = method === "DELETE" ? "/logo" : "";
    assert.equal((await other.ask(method, pathOf(id, part))).status, 404);
  }
  assert.equal((await other.ask("PUT", pathOf(id), values)).status, 404);
});

test("a square logo is a small WebP on each page, the icon, and the preview of pages without a picture", async () => {
  const { id, url } = await openStorefront(service, "logo", {}, { files: { "hello.txt": "hello" } });
  const { status, body } = await setLogo(id, await logoOf(1_000, 900));
  assert.deepEqual([status, body.status, body.files], [200, "ready", 3]);
  const home = (await visitSite(url)).body;
  const [, path = "", alt, width, height] = /<img src="([^"]+)" alt="([^"]*)" width="(\d+)" height="(\d+)"/.exec(home) ?? [];
  assert.deepEqual([alt, width, height], ["Rex &#38; Co.", "49", "44"]);
  const logo = await visitSite(url, path);
  assert.deepEqual([logo.headers["content-type"], logo.headers["cache-control"]], ["image/webp", "public, max-age=31536000, immutable"]);
  const { format, width: pixels, hasAlpha } = await sharp(logo.bytes).metadata();
  assert.deepEqual([format, pixels, hasAlpha], ["webp", 480, true]);
  const icon = await visitSite(url, "/favicon.ico");
  const square = await sharp(icon.bytes).metadata();
  assert.deepEqual([icon.status, icon.headers["content-type"], square.width, square.height], [200, "image/png", 192, 192]);
  assert.ok(home.includes(`<meta property="og:image" content="${url}${path}"`));
  assert.equal(structured(home)["logo"], `${url}${path}`);
  const shown = await member.ask<Shown>("GET", pathOf(id));
  assert.equal(Buffer.from(shown.body.logo!, "base64").equals(logo.bytes), true);
  await publish(id, { tagline: "Later" });
  assert.ok((await visitSite(url)).body.includes(path), "a save keeps the logo");
  assert.equal((await visitSite(url, "/hello.txt")).body, "hello");
});

test("another logo takes the place of the first; a wide one is no icon; without a logo the letter is back", async () => {
  const { id, url } = await openStorefront(service, "logos", {});
  await setLogo(id, await logoOf(100, 100));
  const [, first = ""] = /<img src="([^"]+)"/.exec((await visitSite(url)).body) ?? [];
  const { body } = await setLogo(id, new Uint8Array(await picture("teal", { width: 900, height: 200 })), "image/jpeg");
  assert.equal(body.files, 1);
  const home = (await visitSite(url)).body;
  assert.match(home, /width="197" height="44"/);
  assert.equal((await visitSite(url, first)).status, 404);
  assert.equal((await visitSite(url, "/favicon.ico")).headers["content-type"], "image/svg+xml");
  assert.equal((await member.ask<Deployment>("DELETE", pathOf(id, "/logo"))).body.files, 0);
  assert.ok(!(await visitSite(url)).body.includes('src="/shop-logo'));
});

test("wrong values and wrong pictures are refused at their field, and change nothing", async () => {
  const { id, url } = await openStorefront(service, "wrong", { tagline: "As it was" });
  const refused = await member.ask<{ details: object[] }>("PUT", pathOf(id), { ...values, email: "nobody" });
  assert.deepEqual([refused.status, refused.body.details], [400, [{ path: "body.email", message: "must be an email address" }]]);
  assert.equal((await publish(id, { colour: "red" })).status, 400);
  const svg = new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'/>");
  assert.equal((await setLogo(id, svg)).status, 400);
  assert.equal((await setLogo(id, svg, "image/svg+xml")).status, 415);
  assert.ok((await visitSite(url)).body.includes("As it was"));
});

test("while an upload waits, a save is refused instead of being overtaken by it", async () => {
  const { id: projectId } = await openStorefront(service, "waiting", {});
  const { accountId, db } = service;
  const target = { accountId, projectId, kept: 3, now: Date.now(), origin: systemOrigin };
  const saved = db.write(async (tx) => {
    await insertDeployment(tx, accountId, projectId, "nowhere.tar.gz", Date.now());
    await deployChanged(tx, target, () => assert.fail("the form is not read"));
  });
  await assert.rejects(saved, (error) => error instanceof Problem && error.code === "deployment_not_ready");
});

test("photos of animals and the logo are not mixed up: the same picture can be both", async () => {
  const { id, url } = await openStorefront(service, "both", {});
  const bytes = new Uint8Array(await picture("olive", { width: 300, height: 300 }));
  const [logo, again] = await Promise.all([setLogo(id, bytes, "image/jpeg"), setLogo(id, bytes, "image/jpeg")]);
  assert.deepEqual([logo.status, again.status], [200, 200]);
  assert.match((await visitSite(url)).body, /shop-logo-/);
});
