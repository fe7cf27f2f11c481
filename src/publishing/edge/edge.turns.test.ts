import assert from "node:assert/strict";
import { connect } from "node:http2";
import { BlockList } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { fetchFrom, openTestEdge, throwAwayCertificate } from "../../../test/support/test-edge.ts";
import { openBounds } from "../../platform/bounds.ts";
import { openLoopTurns } from "../../platform/event-loop.ts";
import { overloaded } from "../../platform/problem.ts";
import { parseStorefront } from "../storefront/settings.ts";
import type { RenderStorefront } from "../storefront/storefront.ts";
import type { Site } from "./site.ts";

const settings = parseStorefront({}, (why) => assert.fail(why));
const storefront = (projectId: number): Site => {
  return { status: "live", projectId, manifest: new Map(), shop: { accountId: 1, name: "Rex", settings } };
};
const body = Buffer.from("a page");
const page = { status: 200, type: "text/html; charset=utf-8", etag: "x", coding: undefined, body, headers: {} };
const shownBy = (renderStorefront: RenderStorefront) => ({ renderStorefront, findPhoto: async () => undefined });
const nextTurn = () => new Promise(setImmediate);

test("a request takes the turns of its project and of the visitor's address, which only a trusted proxy may name", async (t) => {
  const turns: string[] = [];
  const renderStorefront: RenderStorefront = async (_shop, { turn }) => {
    turns.push(turn);
    return page;
  };
  const trustedProxies = new BlockList();
  trustedProxies.addAddress("127.0.0.1");
  const behind = await openTestEdge({ shown: shownBy(renderStorefront), trustedProxies });
  t.after(() => behind.close(0));
  behind.sites.set("rex.example", storefront(7));
  behind.sites.set("5--rex.petstore.localhost", {
    status: "deployment",
    projectId: 7,
    find: async () => storefront(7) as Extract<Site, { status: "live" }>,
  });
  const visit = (host: string, forwarded: string) => fetchFrom(behind, host, "/", { headers: { "x-forwarded-for": forwarded } });
  await visit("rex.example", "198.51.100.9, 192.0.2.1");
  await visit("rex.example", "2001:db8:1:2:3::4");
  await visit("5--rex.petstore.localhost", "192.0.2.1:4711");
  assert.deepEqual(turns.splice(0), ["7 192.0.2.1", "7 2001:db8:1:2::/64", "7 192.0.2.1"]);

  const alone = await openTestEdge({ shown: shownBy(renderStorefront) });
  t.after(() => alone.close(0));
  alone.sites.set("rex.example", storefront(7));
  await fetchFrom(alone, "rex.example", "/", { headers: { "x-forwarded-for": "192.0.2.1" } });
  assert.deepEqual(turns, ["7 127.0.0.1"]);
});

test("a refused page is a 503 that nothing caches, and refusals are one line of the log a minute for each site", async (t) => {
  const renderStorefront: RenderStorefront = async () => Promise.reject(overloaded("Too many pages are rendered at once."));
  const edge = await openTestEdge({ shown: shownBy(renderStorefront) });
  t.after(() => edge.close(0));
  for (const host of ["rex.example", "www.rex.example"]) edge.sites.set(host, storefront(7));
  edge.sites.set("luna.example", storefront(8));
  const visit = async (host: string): Promise<void> => {
    const { status, headers } = await fetchFrom(edge, host, `/?q=${Math.random()}`);
    assert.deepEqual([status, headers["retry-after"], headers["cache-control"]], [503, "1", "no-store"]);
  };
  for (let i = 0; i < 20; i++) for (const host of ["rex.example", "www.rex.example", "luna.example"]) await visit(host);
  assert.deepEqual(edge.lines.splice(0), [
    { host: "rex.example", refused: 1 },
    { host: "luna.example", refused: 1 },
  ]);
  edge.now.ms += 60_000;
  await visit("www.rex.example");
  assert.deepEqual(edge.lines, [{ host: "www.rex.example", refused: 40 }]);
});

test("however many requests of one site arrive at once, those of another are answered before most of them", async () => {
  const begun: string[] = [];
  const inTurn = openLoopTurns(openBounds().queue<string>("visits"));
  const ask = (key: string) =>
    inTurn(
      key,
      () => void begun.push(key),
      () => assert.fail("nothing is refused"),
    );
  for (let n = 0; n < 1_000; n++) ask(`7 10.0.0.${n % 50}`);
  ask("8 10.1.0.1");
  assert.ok(begun.length < 50 && begun.includes("8 10.1.0.1"), `${begun.length} begin in the turn in which they arrive`);
  for (let turn = 0; turn < 5; turn++) {
    const before = begun.length;
    await nextTurn();
    await nextTurn();
    assert.ok(begun.length - before <= 2 * 64, "a turn begins few");
  }
  ask("7 10.0.9.9");
  ask("8 10.1.0.1");
  await nextTurn();
  await nextTurn();
  assert.equal(begun.filter((key) => key === "8 10.1.0.1").length, 2);
  while (begun.length < 1_003) await nextTurn();
});

test("a visitor with too many requests waiting is answered with 503, and another visitor is not", async () => {
  const refused: string[] = [];
  const begun: string[] = [];
  const inTurn = openLoopTurns(openBounds().queue<string>("visits"));
  const ask = (key: string) =>
    inTurn(
      key,
      () => void begun.push(key),
      () => void refused.push(key),
    );
  for (let n = 0; n < 2_100; n++) ask("7 10.0.0.1");
  assert.ok(refused.length > 0);
  ask("7 10.0.0.2");
  while (begun.length + refused.length < 2_101) await nextTurn();
  assert.ok(begun.includes("7 10.0.0.2") && !refused.includes("7 10.0.0.2"));
});

test("a page that is made while it is sent arrives whole over HTTP/1.1 and HTTP/2, and is not made for a HEAD or a 304", async (t) => {
  const pieces = Array.from({ length: 300 }, (_, n) => Buffer.from(`${n} `.repeat(500)));
  let begun = 0;
  async function* chunks(): AsyncGenerator<Buffer> {
    begun += 1;
    for (const piece of pieces) yield piece;
  }
  const whole = Buffer.concat(pieces);
  const renderStorefront: RenderStorefront = async () => ({ ...page, body: { bytes: whole.length, chunks } });
  const edge = await openTestEdge({ shown: shownBy(renderStorefront) });
  t.after(() => edge.close(0));
  edge.sites.set("rex.example", storefront(7));
  const fetched = await fetchFrom(edge, "rex.example", "/sitemap.xml");
  assert.deepEqual([fetched.headers["content-length"], fetched.body.equals(whole)], [`${whole.length}`, true]);
  edge.certificates.set("rex.example", throwAwayCertificate("rex.example"));
  const client = connect(`https://localhost:${edge.addresses.https?.port}`, { servername: "rex.example", rejectUnauthorized: false });
  t.after(() => client.destroy());
  const stream = client.request({ ":authority": "rex.example", ":path": "/sitemap.xml" });
  assert.ok((await buffer(stream)).equals(whole));
  assert.equal(begun, 2);
  const tls = { rejectUnauthorized: false };
  assert.equal(
    (await fetchFrom(edge, "rex.example", "/sitemap.xml", { tls, method: "HEAD" })).headers["content-length"],
    `${whole.length}`,
  );
  assert.equal((await fetchFrom(edge, "rex.example", "/sitemap.xml", { tls, headers: { "if-none-match": '"x"' } })).status, 304);
  assert.equal(begun, 2);
});
