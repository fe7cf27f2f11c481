import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { newMember, openBrowser, tokenIn, type Browser, type Standing } from "./support/dashboard.ts";
import type { Failure } from "./support/models.ts";
import { codeAt, setUpApp } from "./support/second-factors.ts";
import { startService, type TestService } from "./support/service.ts";

const dayMs = 24 * 3_600_000;
const password = "correct horse battery";
const time = { now: Date.UTC(2030, 0, 1) };
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => time.now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
after(() => shop.close());

type Listed = { current: boolean; memberId: number; email: string | null; account: { id: number; name: string } };
type Person = { email: string; accountId: number; memberId: number; own: Browser };
let people = 0;

/** A member of a new account, signed in at a browser of their own. */
async function newPerson(): Promise<Person> {
  const { id: accountId } = await shop.newAccount();
  const email = `person${++people}@browsers.example`;
  const own = await newMember(shop, { account: accountId, email, role: "owner", password });
  const { member } = (await own.ask<Standing>("GET", "/session")).body;
  return { email, accountId, memberId: member.id, own };
}

const signIn = (browser: Browser, { email }: Person) =>
  browser.ask<Failure & Standing>("POST", "/sign-in", { email, password }, { "x-forwarded-for": `192.0.2.${(people % 250) + 1}` });
const listed = async (browser: Browser) => (await browser.ask<Listed[]>("GET", "/browser-sessions")).body;
const membersIn = async (browser: Browser) => (await listed(browser)).map(({ memberId }) => memberId);
const current = async (browser: Browser) => (await browser.ask<Standing>("GET", "/session")).body.member?.id;
const switchTo = (browser: Browser, memberId: number, headers = {}) =>
  browser.ask<Failure & Standing>("POST", `/browser-sessions/${memberId}/switch`, undefined, headers);

/** A browser in which these people are signed in, the last of them now. */
async function browserOf(...all: Person[]): Promise<Browser> {
  const browser = openBrowser(shop);
  for (const person of all) assert.equal((await signIn(browser, person)).status, 200);
  return browser;
}

test("signing in to another account keeps the session, and the browser switches between the two", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  assert.equal(await current(browser), bea.memberId);
  assert.deepEqual(await listed(browser), [
    { current: true, memberId: bea.memberId, email: bea.email, account: { id: bea.accountId, name: (await accountOf(bea)).name } },
    { current: false, memberId: ann.memberId, email: ann.email, account: { id: ann.accountId, name: (await accountOf(ann)).name } },
  ]);
  const made = await browser.ask<{ id: number }>("POST", "/categories", { name: "Dogs of Bea" });
  assert.equal(made.status, 201);
  const switched = await switchTo(browser, ann.memberId);
  assert.deepEqual([switched.status, switched.body.member.id, switched.body.account.id], [200, ann.memberId, ann.accountId]);
  assert.equal(await current(browser), ann.memberId);
  assert.deepEqual((await browser.ask("GET", "/categories")).body, []);
  assert.equal((await browser.ask("GET", `/categories/${made.body.id}`)).status, 404);
  assert.deepEqual(await membersIn(browser), [ann.memberId, bea.memberId]);
});

async function accountOf({ own }: Person): Promise<Standing["account"]> {
  return (await own.ask<Standing>("GET", "/session")).body.account;
}

test("signing in again as the same member replaces the session and adds none", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  const copy = openBrowser(shop);
  copy.cookie = browser.cookie;
  await signIn(browser, ann);
  assert.deepEqual(await membersIn(browser), [ann.memberId, bea.memberId]);
  assert.deepEqual(await membersIn(copy), [bea.memberId], "the earlier session of the member has ended");
});

test("a browser has five accounts; the sixth is refused in plain words, uses up no link, and is let in once there is room", async () => {
  const five: Person[] = [];
  for (let i = 0; i < 5; i++) five.push(await newPerson());
  const browser = await browserOf(...five);
  assert.equal((await listed(browser)).length, 5);
  const { cookie } = browser;
  const { link } = await shop.administration["members.invite"]({ account: shop.accountId, email: "sixth@browsers.example" });
  for (let i = 0; i < 2; i++) {
    const refused = await browser.ask<Failure>("POST", "/sign-in/link", { token: tokenIn(link) });
    assert.deepEqual([refused.status, refused.body.code], [400, "invalid_request"]);
    assert.match(refused.body.message, /^This browser is signed in to 5 accounts/);
  }
  assert.equal((await signIn(browser, await newPerson())).status, 400);
  assert.equal(browser.cookie, cookie);
  assert.equal((await signIn(browser, five[0] as Person)).status, 200, "one of the five may sign in again");
  assert.equal((await listed(browser)).length, 5);
  await browser.ask("POST", "/sign-out");
  assert.equal((await browser.ask("POST", "/sign-in/link", { token: tokenIn(link) })).status, 200);
});

test("signing out ends only the current session and switches to the previous one, until none is left", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  const copy = openBrowser(shop);
  copy.cookie = browser.cookie;
  const first = await browser.ask<Standing>("POST", "/sign-out");
  assert.deepEqual([first.status, first.body.member.id], [200, ann.memberId]);
  assert.equal(await current(browser), ann.memberId);
  assert.deepEqual(await membersIn(copy), [ann.memberId], "also for a copy of the cookie");
  assert.equal((await browser.ask("POST", "/sign-out")).status, 204);
  assert.equal(browser.cookie, "");
  assert.deepEqual(await listed(copy), []);
  assert.equal(await current(bea.own), bea.memberId, "other browsers stay signed in");
});

test("ending the current session in the list switches to the previous account", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  const sessions = (await browser.ask<{ id: number; current: boolean }[]>("GET", "/sessions")).body;
  const own = sessions.find((session) => session.current);
  assert.equal((await browser.ask("DELETE", `/sessions/${own?.id}`)).status, 204);
  assert.equal(await current(browser), ann.memberId);
});

test("signing out of all accounts ends every session of the browser, and none of another", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  const copy = openBrowser(shop);
  copy.cookie = browser.cookie;
  assert.equal((await browser.ask("DELETE", "/browser-sessions")).status, 204);
  assert.equal(browser.cookie, "");
  assert.deepEqual(await listed(copy), []);
  assert.deepEqual([await current(ann.own), await current(bea.own)], [ann.memberId, bea.memberId]);
  assert.equal((await browser.ask("DELETE", "/browser-sessions")).status, 204, "also without a session");
});

test("a session that has ended drops out, makes room, and cannot be switched to", async () => {
  const [ann, bea, cy] = [await newPerson(), await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea, cy);
  await shop.administration["members.reset"]({ account: bea.accountId, email: bea.email });
  assert.deepEqual(await membersIn(browser), [cy.memberId, ann.memberId]);
  const refused = await switchTo(browser, bea.memberId);
  assert.deepEqual([refused.status, refused.body.code], [404, "not_found"]);
  assert.equal(await current(browser), cy.memberId);

  await cy.own.ask("DELETE", "/sessions");
  assert.equal((await browser.ask("GET", "/session")).status, 401, "the current session has ended; no other takes its place unasked");
  assert.deepEqual(
    (await listed(browser)).map((session) => [session.memberId, session.current]),
    [[ann.memberId, false]],
  );
  assert.equal((await switchTo(browser, ann.memberId)).status, 200);
  assert.equal(browser.cookie.split(".").length, 1, "the cookie keeps no token that has ended");
  time.now += 7 * dayMs;
  assert.deepEqual(await listed(browser), []);
});

test("a browser switches only to sessions of its own", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann);
  for (const id of [bea.memberId, 987_654_321]) assert.equal((await switchTo(browser, id)).status, 404);
  assert.equal(await current(browser), ann.memberId);
});

test("a call for another member than the current one is refused and changes nothing", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  const forAnn = { "dashboard-member": String(ann.memberId) };
  const calls: [string, string, unknown][] = [
    ["POST", "/categories", { name: "Written for Ann" }],
    ["GET", "/categories", undefined],
    ["GET", "/session", undefined],
    ["POST", "/sign-out", undefined],
    ["DELETE", "/browser-sessions", undefined],
  ];
  for (const [method, path, body] of calls) {
    const refused = await browser.ask<Failure>(method, path, body, forAnn);
    assert.deepEqual([refused.status, refused.body.code], [412, "session_changed"], `${method} ${path}`);
    assert.ok(refused.headers.has("x-ratelimit-limit"));
  }
  assert.equal((await browser.ask("GET", "/categories", undefined, { "dashboard-member": "nobody" })).status, 412);
  assert.deepEqual(await membersIn(browser), [bea.memberId, ann.memberId]);
  assert.deepEqual((await browser.ask("GET", "/categories", undefined, { "dashboard-member": String(bea.memberId) })).body, []);
  await switchTo(browser, ann.memberId);
  assert.equal((await browser.ask("POST", "/categories", { name: "Written for Ann" }, forAnn)).status, 201);
});

test("a session from before an upgrade, whose cookie is one token, keeps working and takes others beside it", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const token = randomBytes(32).toString("base64url");
  await shop.db.write((tx) =>
    tx.query(sql`
      INSERT INTO sessions (account_id, id, member_id, hash, address, user_agent, created_at, seen_at, confirmed_at)
      VALUES (${ann.accountId}, nextval('session_ids'), ${ann.memberId}, ${hash("sha256", token, "base64url")}, '192.0.2.1', 'Old',
        ${time.now}, ${time.now}, ${time.now})`),
  );
  const browser = openBrowser(shop);
  browser.cookie = `petstore-session=${token}`;
  assert.equal(await current(browser), ann.memberId);
  await signIn(browser, bea);
  assert.deepEqual(await membersIn(browser), [bea.memberId, ann.memberId]);
  await browser.ask("POST", "/sign-out");
  assert.equal(browser.cookie, `petstore-session=${token}`);
});

test("a planted session learns nothing of those beside it, and a plain sign-in makes a token that nobody knew", async () => {
  const [attacker, victim] = [await newPerson(), await newPerson()];
  const browser = openBrowser(shop);
  browser.cookie = attacker.own.cookie;
  await signIn(browser, victim);
  assert.equal(await current(browser), victim.memberId);
  assert.deepEqual(await membersIn(attacker.own), [attacker.memberId]);
  assert.equal((await switchTo(attacker.own, victim.memberId)).status, 404);
  assert.ok(!attacker.own.cookie.includes(browser.cookie.slice("petstore-session=".length).split(".")[0] ?? ""));
});

test("two session cookies with different values count as none, so a planted one has no effect", async () => {
  const [ann, attacker] = [await newPerson(), await newPerson()];
  const asked = async (cookie: string) => (await openBrowser(shop).ask("GET", "/session", undefined, { cookie })).status;
  assert.equal(await asked(`${attacker.own.cookie}; ${ann.own.cookie}`), 401);
  assert.equal(await asked(`${ann.own.cookie}; petstore-session=`), 401);
  assert.equal(await asked(`${ann.own.cookie}; ${ann.own.cookie}`), 200, "the same one twice");
  assert.equal(await asked(`x${attacker.own.cookie}; ${ann.own.cookie}; petstore-sessions=1`), 200, "other names");
});

test("of a long cookie five tokens count; a hundred cookies do no harm, and too many are refused", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const made = () => randomBytes(32).toString("base64url");
  const tokenOf = ({ own }: Person) => own.cookie.split("=")[1] ?? "";
  const ask = (cookie: string) => openBrowser(shop).ask<Listed[]>("GET", "/browser-sessions", undefined, { cookie });
  const five = Array.from({ length: 5 }, made);
  assert.deepEqual((await ask(`petstore-session=${[...five, tokenOf(bea)].join(".")}`)).body, [], "the sixth is not looked at");
  const twice = `petstore-session=${[tokenOf(ann), tokenOf(ann), "x", "", tokenOf(bea)].join(".")}`;
  assert.deepEqual(
    (await ask(twice)).body.map(({ memberId }) => memberId),
    [ann.memberId, bea.memberId],
  );
  const hundred = Array.from({ length: 100 }, (_, i) => `c${i}=${"v".repeat(60)}`).join("; ");
  assert.equal((await ask(`${hundred}; ${ann.own.cookie}`)).body.length, 1);
  const refused = await ask(`petstore-session=${Array.from({ length: 400 }, made).join(".")}`);
  assert.equal(refused.status, 431);
  assert.equal(await current(ann.own), ann.memberId);
});

test("another site can neither switch nor sign out nor list the accounts", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const browser = await browserOf(ann, bea);
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { "sec-fetch-site": "same-site" },
  ];
  for (const headers of foreign) {
    assert.equal((await switchTo(browser, ann.memberId, headers)).status, 403);
    assert.equal((await browser.ask("DELETE", "/browser-sessions", undefined, headers)).status, 403);
    assert.equal((await browser.ask("POST", "/sign-out", undefined, headers)).status, 403);
  }
  assert.equal((await browser.ask("GET", "/browser-sessions", undefined, foreign[0])).status, 403);
  assert.deepEqual(await membersIn(browser), [bea.memberId, ann.memberId]);
});

test("a new password and a second step keep the other accounts of the browser", async () => {
  const [ann, bea] = [await newPerson(), await newPerson()];
  const { secret } = await setUpApp(ann.own, time.now);
  const browser = await browserOf(bea);
  assert.equal((await signIn(browser, ann)).status, 202);
  assert.deepEqual(await membersIn(browser), [bea.memberId], "half a sign-in changes nothing");
  time.now += 60_000;
  assert.equal((await browser.ask("POST", "/sign-in/code", { code: codeAt(secret, time.now) })).status, 200);
  assert.deepEqual(await membersIn(browser), [ann.memberId, bea.memberId]);
  const change = { password: "another long password", currentPassword: password };
  assert.equal((await browser.ask("PUT", "/password", change)).status, 200);
  assert.deepEqual(await membersIn(browser), [ann.memberId, bea.memberId]);
  assert.equal(await current(browser), ann.memberId);
});
