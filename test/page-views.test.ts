import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import type { Database } from "../src/platform/db/database.ts";
import { dayOf, daysKept, openPageViews } from "../src/publishing/storefront/page-view-counter.ts";
import { expirePageViews, readPageViews } from "../src/publishing/storefront/page-views.store.ts";
import { newMember } from "./support/dashboard.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";
import { openStorefront, visitSite } from "./support/storefront.ts";

const time = { now: Date.UTC(2026, 5, 15, 12) };
const clock = () => time.now;
let service: TestService;
before(async () => void (service = await startService({ clock, env: { PLATFORM_DOMAIN: "sites.test" } })));
after(() => service.close());

const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
let shops = 0;

/** A shop with a storefront, and its page views of the last 7 days as Home shows them. */
async function openShop() {
  shops += 1;
  const { id: accountId, key } = await service.newAccount();
  const { id: petId } = await newPet(service, (await newCategory(service, "Dogs", key)).id, {}, key);
  const { id, url } = await openStorefront(service, `views-${shops}`, { pages: [{ slug: "about", title: "About", text: "We." }] }, { key });
  const member = await newMember(service, { account: accountId, email: `views${shops}@shop.example`, role: "member" });
  const views = async (): Promise<number> => (await member.ask<{ views: { now: number } }>("GET", "/figures")).body.views.now;
  return { accountId, key, petId, id, url, views };
}

test("each page of a storefront that a browser shows is one page view, from the cache and unchanged ones too", async () => {
  const { petId, url, views } = await openShop();
  const other = await openShop();
  for (const path of ["/", "/", `/animals/${petId}`, "/pages/about", "/?q=rex"])
    assert.equal((await visitSite(url, path, browser)).status, 200);
  const { headers } = await visitSite(url, "/", browser);
  const unchanged = await visitSite(url, "/", { ...browser, "if-none-match": String(headers["etag"]) });
  assert.equal(unchanged.status, 304);
  assert.equal(await views(), 7);
  assert.equal(await other.views(), 0);
});

test("robots, HEAD, pages that are fetched ahead, files, unknown addresses and the address of one deployment are no page views", async () => {
  const { key, id, url, views } = await openShop();
  const agents = ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "curl/8.5.0", "Wget/1.21", ""];
  for (const agent of agents) assert.equal((await visitSite(url, "/", { "user-agent": agent })).status, 200);
  assert.equal((await visitSite(url, "/")).status, 200);
  assert.equal((await visitSite(url, "/", browser, "HEAD")).status, 200);
  assert.equal((await visitSite(url, "/", { ...browser, "sec-purpose": "prefetch;prerender" })).status, 200);
  for (const path of ["/robots.txt", "/sitemap.xml", "/favicon.ico"]) assert.equal((await visitSite(url, path, browser)).status, 200);
  for (const path of ["/nothing", "/animals/999999"]) assert.equal((await visitSite(url, path, browser)).status, 404);
  const { body } = await service.ask<{ url: string }[]>("GET", `/projects/${id}/deployments`, { key });
  assert.equal((await visitSite(body[0]!.url, "/", browser)).status, 200);
  assert.equal(await views(), 0);
});

const viewsOf = async (db: Database, accountId: number) => [...(await readPageViews(db, accountId, 0))].toSorted(([a], [b]) => a - b);

test("what several nodes count at the same time adds up, by the day in UTC, and a write that fails is made up for by the next", async () => {
  const { db } = service;
  const [{ id: first }, { id: second }] = [await service.newAccount(), await service.newAccount()];
  const at = { now: Date.UTC(2026, 0, 1, 23, 59) };
  let isBroken = false;
  const breaking: Database = { ...db, write: (...given) => (isBroken ? Promise.reject(new Error("away")) : db.write(...given)) };
  const nodes = [db, db, breaking].map((one) => openPageViews({ db: one, clock: () => at.now }));
  for (const node of nodes) for (const accountId of [first, second, first]) node.count(accountId);
  isBroken = true;
  await assert.rejects(nodes[2]!.flush(), /away/);
  at.now += 2 * 60_000;
  for (const node of nodes) node.count(second);
  await Promise.all([nodes[0]!.flush(), nodes[1]!.flush()]);
  const day = dayOf(at.now);
  assert.deepEqual(await viewsOf(db, second), [
    [day - 1, 2],
    [day, 2],
  ]);
  isBroken = false;
  await nodes[2]!.flush();
  await Promise.all(nodes.map((node) => node.flush()));
  assert.deepEqual(await viewsOf(db, first), [[day - 1, 6]]);
  assert.deepEqual(await viewsOf(db, second), [
    [day - 1, 3],
    [day, 3],
  ]);
});

test("page views of an account that was deleted meanwhile are dropped, and those of other accounts are kept", async () => {
  const { db } = service;
  const [{ id: gone }, { id: kept }] = [await service.newAccount(), await service.newAccount()];
  const counter = openPageViews({ db, clock });
  for (const accountId of [gone, kept]) counter.count(accountId);
  await counter.flush();
  for (const accountId of [gone, kept]) counter.count(accountId);
  await service.administration["accounts.delete"]({ id: gone });
  await counter.flush();
  assert.deepEqual(await viewsOf(db, gone), []);
  assert.deepEqual(await viewsOf(db, kept), [[dayOf(time.now), 2]]);
});

test("page views are kept for 90 days", async () => {
  const { db } = service;
  const { id } = await service.newAccount();
  const today = dayOf(time.now);
  await db.write(async (tx) => {
    for (const ago of [0, daysKept - 1, daysKept, 200])
      await tx.query(sql`INSERT INTO page_views (account_id, day, views) VALUES (${id}, ${today - ago}, 5)`);
  });
  await expirePageViews(db, today - daysKept + 1);
  assert.deepEqual(
    (await viewsOf(db, id)).map(([day]) => today - day),
    [daysKept - 1, 0],
  );
});

test("a period that begins within a day takes a part of that day's page views, so steady ones have no trend", async () => {
  const { accountId } = await openShop();
  const member = await newMember(service, { account: accountId, email: "steady@shop.example", role: "member" });
  const today = dayOf(time.now);
  await service.db.write(async (tx) => {
    for (let ago = 0; ago <= 20; ago++)
      await tx.query(sql`INSERT INTO page_views (account_id, day, views) VALUES (${accountId}, ${today - ago}, ${ago === 0 ? 50 : 100})`);
  });
  const { body } = await member.ask<{ views: object }>("GET", "/figures");
  assert.deepEqual(body.views, { now: 700, before: 700 });
});
