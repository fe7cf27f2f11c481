import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { openBounds, type Bounds } from "../../platform/bounds.ts";
import type { Problem } from "../../platform/problem.ts";
import { openRenderer } from "./renderer.ts";
import { parseStorefront } from "./settings.ts";
import type { Catalogue, PageRequest, RenderedPage, Shop, ShownAnimal } from "./storefront.ts";

const settings = parseStorefront({}, (why) => assert.fail(why));
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};
const rex: ShownAnimal = { id: 7, name: "Rex", categoryId: 1, status: "available", description: null, price: null, facts: {}, photos: [] };

/** A renderer of one place, whose catalogue notes what it reads, and answers searches only when the test calls `goOn`. Its turns count by a clock that moves 1 ms each time it is read. */
function openScene({ places = 1, animals = 1 } = {}) {
  const scene = { version: 1, now: 0, read: [] as string[], lists: 0, isHeld: false, held: [] as (() => void)[] };
  const catalogue: Catalogue = {
    version: async () => `${scene.version}`,
    categories: async () => [{ id: 1, name: "Dogs & cats", isEmpty: false }],
    async animals(accountId, wanted) {
      scene.read.push(`${accountId} ${wanted.sort === "name" ? wanted.q : wanted.status}`);
      if (scene.isHeld) await new Promise<void>((resolve) => scene.held.push(resolve));
      return [rex];
    },
    animal: async () => rex,
    arrivals: async () => [],
    valuesOf: async () => ({ values: [], isComplete: true }),
    async newest() {
      scene.lists += 1;
      await turns(3);
      return Array.from({ length: animals }, (_, n) => animals - n);
    },
  };
  let turnMs = 0;
  const bounds: Bounds = openBounds({}, () => (turnMs += 1));
  const queue: Bounds["queue"] = (name, limits) => bounds.queue(name, { max: places, ...limits });
  const render = openRenderer(catalogue, () => scene.now, { queue });
  const visit = (project: number, address: string, path: string, more: Partial<PageRequest & { origin: string }> = {}) => {
    const { origin = `http://${project}.example`, ...request } = more;
    const shop: Shop = { accountId: project, name: "Rex & Co.", settings, origin };
    return render(shop, { path, query: "", coding: undefined, turn: `${project} ${address}`, ...request });
  };
  const search = (project: number, address: string, q: string) => visit(project, address, "", { query: `?q=${q}` });
  const goOn = async (): Promise<void> => {
    while (scene.held.length === 0) await turns(1);
    scene.held.shift()!();
    await turns(3);
  };
  return Object.assign(scene, { visit, search, goOn });
}

async function textOf({ body, coding }: RenderedPage): Promise<string> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body.chunks()));
  if (!Buffer.isBuffer(body)) assert.equal(bytes.length, body.bytes);
  return String(coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes);
}

test("a visitor with many searches delays neither another visitor of the site, nor those of another site", async () => {
  const scene = openScene();
  scene.isHeld = true;
  const pages = Array.from({ length: 20 }, (_, n) => scene.search(1, "10.0.0.1", `flood${n}`));
  await turns(3);
  pages.push(scene.search(1, "10.0.0.2", "same"), scene.search(2, "10.0.0.3", "other"));
  for (let i = 0; i < pages.length; i++) await scene.goOn();
  await Promise.all(pages);
  assert.deepEqual(scene.read.slice(0, 3).toSorted(), ["1 flood0", "1 same", "2 other"]);
});

test("a site that many addresses visit delays no visitor of another site", async () => {
  const scene = openScene();
  scene.isHeld = true;
  const pages = Array.from({ length: 60 }, (_, n) => scene.search(1, `2001:db8:0:${n}::/64`, `flood${n}`));
  await turns(3);
  pages.push(scene.search(2, "10.0.0.3", "other"), scene.search(2, "10.0.0.3", "again"));
  for (let i = 0; i < pages.length; i++) await scene.goOn();
  await Promise.all(pages);
  assert.equal(scene.read[1], "2 other");
  assert.ok(scene.read.slice(2, 4).includes("2 again"), scene.read.slice(0, 4).join());
});

test("a visitor with as many pages waiting as the bound allows gets a 503 for more, which the others do not", async () => {
  const scene = openScene();
  scene.isHeld = true;
  const refused: Problem[] = [];
  const pages = Array.from({ length: 1_100 }, (_, n) =>
    scene.search(1, "10.0.0.1", `flood${n}`).catch((error: Problem) => void refused.push(error)),
  );
  await turns(3);
  assert.ok(refused.length > 0);
  for (const { code, isOverload, headers } of refused)
    assert.deepEqual([code, isOverload, headers?.["retry-after"]], ["unavailable", true, "1"]);
  const other = scene.search(1, "10.0.0.2", "other");
  scene.isHeld = false;
  await scene.goOn();
  assert.equal((await other).status, 200);
  await Promise.all(pages);
});

test("concurrent requests for a page share one rendering, but not one that still waits for another visitor's turn", async () => {
  const scene = openScene();
  scene.isHeld = true;
  const flood = Array.from({ length: 10 }, (_, n) => scene.search(1, "10.0.0.1", `flood${n}`));
  flood.push(scene.search(1, "10.0.0.1", "wanted"));
  await turns(3);
  const wanted = scene.search(1, "10.0.0.2", "wanted");
  await scene.goOn();
  const shared = [scene.search(1, "10.0.0.4", "wanted"), scene.search(1, "10.0.0.1", "wanted")];
  await scene.goOn();
  assert.equal(new Set(await Promise.all([wanted, ...shared])).size, 1);
  scene.isHeld = false;
  for (const resume of scene.held.splice(0)) resume();
  await Promise.all(flood);
  assert.equal(scene.read.filter((read) => read === "1 wanted").length, 2, "the visitor with the flood gets its own later");
});

test("pages that nothing keeps are rendered one in each turn of the event loop", async () => {
  const scene = openScene({ places: 4 });
  const pages = Array.from({ length: 40 }, (_, n) => scene.search(1, "10.0.0.1", `flood${n}`));
  await turns(5);
  assert.ok(scene.read.length > 0 && scene.read.length < 20, `${scene.read.length} pages in five turns`);
  await Promise.all(pages);
});

test("a page is kept until the version of the catalogue moves, and an unknown address is rendered once for all", async () => {
  const scene = openScene();
  const first = await scene.visit(1, "10.0.0.1", "");
  assert.equal(await scene.visit(1, "10.0.0.2", ""), first);
  scene.version += 1;
  const second = await scene.visit(1, "10.0.0.1", "");
  assert.notEqual(second, first);
  assert.equal(second.etag, first.etag, "it shows the same");
  assert.equal(await scene.visit(1, "10.0.0.1", "nope/1"), await scene.visit(1, "10.0.0.1", "nope/2"));
});

test("the sitemap is read once for all hosts of a catalogue, and differs only in the origin", async () => {
  const scene = openScene({ places: 4, animals: 1_000 });
  const hosts = Array.from({ length: 24 }, (_, n) => `http://host-${n}.example`);
  const codings = [undefined, "br", "gzip"] as const;
  const asked = hosts.flatMap((origin) => codings.map((coding) => ({ origin, coding })));
  const pages = await Promise.all(asked.map((request) => scene.visit(1, "10.0.0.1", "sitemap.xml", request)));
  assert.equal(scene.lists, 1);
  const texts = await Promise.all(pages.map(textOf));
  const [first = ""] = texts;
  for (const [index, { origin }] of asked.entries()) assert.equal(texts[index], first.replaceAll(hosts[0]!, origin));
  assert.equal(first.match(/<url><loc>http:\/\/host-0\.example\/animals\/\d+<\/loc><\/url>/g)?.length, 1_000);
  assert.match(first, /^<\?xml [^\n]+\n<urlset [^\n]+\n<url><loc>http:\/\/host-0\.example\/<\/loc><\/url>\n[^]*<\/urlset>\n$/);
  assert.equal(new Set(pages.map(({ etag }) => etag)).size, hosts.length, "one for each host, in all codings");
});

test("a new sitemap is made when the version of the catalogue has moved, but at most once a minute", async () => {
  const scene = openScene();
  const ask = () => scene.visit(1, "10.0.0.1", "sitemap.xml");
  await ask();
  scene.version += 1;
  await ask();
  assert.equal(scene.lists, 1, "within the minute");
  scene.now += 60_000;
  await Promise.all([ask(), ask()]);
  assert.equal(scene.lists, 2);
  scene.now += 24 * 3_600_000;
  await ask();
  assert.equal(scene.lists, 2, "the catalogue shows the same");
});

test("other work gets turns while a large sitemap is made", async () => {
  const scene = openScene({ animals: 30_000 });
  for (const coding of [undefined, "br", "gzip"] as const) {
    let count = 0;
    const step = (): void => void ((count += 1), (next = setImmediate(step)));
    let next = setImmediate(step);
    const page = await scene.visit(1, "10.0.0.1", "sitemap.xml", { coding });
    assert.equal((await textOf(page)).match(/<loc>/g)?.length, 30_002);
    clearImmediate(next);
    assert.ok(count >= 100, `${count} turns`);
  }
});

test("a preview keeps no page, and puts none out of the cache", async () => {
  const scene = openScene();
  await scene.visit(1, "10.0.0.1", "");
  const before = scene.read.length;
  const preview = () => scene.visit(1, "account-1", "", { isPreview: true, origin: "" });
  await preview();
  const each = scene.read.length - before;
  assert.ok(each > 0);
  await preview();
  assert.equal(scene.read.length, before + 2 * each, "the second preview is rendered anew");
  await scene.visit(1, "10.0.0.2", "");
  assert.equal(scene.read.length, before + 2 * each, "the visitor's page is still kept");
});
