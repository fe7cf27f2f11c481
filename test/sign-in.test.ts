import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newMember, openBrowser, tokenIn, type Standing } from "./support/dashboard.ts";
import type { Failure } from "./support/models.ts";
import { startService, testOnce, type TestService } from "./support/service.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const password = "correct horse battery";
const time = { now: Date.UTC(2030, 0, 1) };
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => time.now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
after(() => shop.close());

let addresses = 0;
/** A caller with an address that no other test uses, so that its attempts are counted alone. */
const from = () => ({ "x-forwarded-for": `192.0.2.${++addresses}` });
const invite = (email: string, account = shop.accountId) => shop.administration["members.invite"]({ account, email });
const redeem = (link: string, headers = from()) =>
  openBrowser(shop).ask<Failure>("POST", "/sign-in/link", { token: tokenIn(link) }, headers);
const signIn = (email: string, secret: string, headers = from()) =>
  openBrowser(shop).ask<Failure & Standing>("POST", "/sign-in", { email, password: secret }, headers);

test("a sign-in link works once, however many attempts are made at the same time", async () => {
  const { link } = await invite("once@shop.example");
  const statuses = (await Promise.all([1, 2, 3, 4].map(() => redeem(link)))).map(({ status }) => status);
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [200, 401, 401, 401],
  );
});

test("an account never loses its last owner, of however many attempts at the same time", async () => {
  const { id } = await shop.newAccount();
  const one = await newMember(shop, { account: id, email: "one@owners.example", role: "owner" });
  const two = await newMember(shop, { account: id, email: "two@owners.example", role: "owner" });
  const { body } = await one.ask<{ id: number }[]>("GET", "/members");
  const [first, second] = body.map((each) => `/members/${each.id}`);
  await Promise.all([one.ask("DELETE", first ?? ""), two.ask("PATCH", second ?? "", { role: "member" })]);
  const { members } = await shop.administration["members.list"]({ account: id });
  assert.equal(members.filter(({ role }) => role === "owner").length, 1);
});

test("an invitation works for 72 hours, another sign-in link for 15 minutes, and no longer", async () => {
  const reset = async (email: string) => {
    await invite(email);
    return shop.administration["members.reset"]({ account: shop.accountId, email });
  };
  for (const [makeLink, ms] of [
    [invite, 72 * 60 * minuteMs],
    [reset, 15 * minuteMs],
  ] as const) {
    const { link: early, expiresAt } = await makeLink(`early${ms}@shop.example`);
    const { link: late } = await makeLink(`late${ms}@shop.example`);
    assert.equal(Date.parse(expiresAt), time.now + ms);
    time.now += ms - 1;
    assert.equal((await redeem(early)).status, 200);
    time.now += 1;
    assert.equal((await redeem(late)).status, 401);
  }
});

test("a member's email cannot be invited again: a reset is a separate call, and ends the earlier link", async () => {
  const first = await invite("two@shop.example");
  await assert.rejects(invite("TWO@shop.example"), { code: "member_exists" });
  const second = await shop.administration["members.reset"]({ account: shop.accountId, email: "TWO@shop.example" });
  assert.equal(second.member.id, first.member.id);
  assert.equal((await redeem(first.link)).status, 401);
  assert.equal((await redeem(second.link)).status, 200);
});

test("a co-owner cannot take over another owner's sign-in unnoticed: the invitation returns 409, and a reset is recorded and ends the sessions", async () => {
  const account = await shop.newAccount();
  const ann = await newMember(shop, { account: account.id, email: "ann@co.example", role: "owner", password });
  const bob = await newMember(shop, { account: account.id, email: "bob@co.example", role: "owner", password });
  const invited = await ann.ask<Failure>("POST", "/members", { email: "Bob@co.example" });
  assert.deepEqual([invited.status, invited.body.code], [409, "member_exists"]);
  assert.equal((await bob.ask("GET", "/session")).status, 200);

  const members = (await ann.ask<{ id: number; email: string; reset: unknown }[]>("GET", "/members")).body;
  assert.deepEqual(
    members.map(({ reset }) => reset),
    [null, null],
  );
  const reset = await ann.ask<{ member: { reset: unknown } }>("POST", `/members/${members[1]?.id}/reset`);
  const recorded = { at: new Date(time.now).toISOString().replace(".000Z", "Z"), by: "ann@co.example" };
  assert.deepEqual([reset.status, reset.body.member.reset], [201, recorded]);
  assert.equal((await bob.ask("GET", "/session")).status, 401);
  const byOperator = await shop.administration["members.reset"]({ account: account.id, email: "bob@co.example" });
  assert.equal(byOperator.member.reset?.by, "operator");
});

test("email and password sign in, whatever the email's case, and a wrong password and an unknown email get the same error", async () => {
  await newMember(shop, { account: shop.accountId, email: "Ann@Shop.example", role: "owner", password });
  assert.equal((await signIn(" ann@shop.EXAMPLE ", password)).body.member.email, "Ann@Shop.example");
  const wrong = await signIn("ann@shop.example", "wrong horse battery");
  const unknown = await signIn("nobody@shop.example", password);
  assert.deepEqual([wrong.status, wrong.body], [401, unknown.body]);
  assert.deepEqual(wrong.headers.getSetCookie(), []);
});

test("a member who has not set a password cannot sign in with one", async () => {
  await invite("new@shop.example");
  assert.equal((await signIn("new@shop.example", "")).status, 401);
  assert.equal((await signIn("new@shop.example", password)).status, 401);
});

test("one email in two accounts has two passwords, and each opens its own account", async () => {
  const other = await shop.newAccount();
  await newMember(shop, { account: shop.accountId, email: "both@shop.example", role: "member", password: "first password" });
  await newMember(shop, { account: other.id, email: "both@shop.example", role: "member", password: "second password" });
  assert.equal((await signIn("both@shop.example", "first password")).body.account.id, shop.accountId);
  assert.equal((await signIn("both@shop.example", "second password")).body.account.id, other.id);
});

testOnce("a member has ten wrong attempts in five minutes from one address; from another address the right password signs in", async () => {
  await newMember(shop, { account: shop.accountId, email: "target@shop.example", role: "member", password });
  const attacker = from();
  for (let i = 0; i < 10; i++) assert.equal((await signIn("target@shop.example", "a wrong password", attacker)).status, 401);
  const refused = await signIn("Target@shop.example", password, attacker);
  assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [429, "rate_limit_exceeded", "300"]);
  assert.equal((await signIn("target@shop.example", password)).status, 200, "the member, from an address of their own");
  assert.equal((await signIn("target@shop.example", password, attacker)).status, 429, "and this forgets nothing of the attacker's");
  time.now += 5 * minuteMs;
  assert.equal((await signIn("target@shop.example", password, attacker)).status, 200);
});

testOnce("an owner who adds the email to another account and signs in there gets no more attempts at the first one", async () => {
  const other = await shop.newAccount();
  await newMember(shop, { account: shop.accountId, email: "victim@shop.example", role: "member", password });
  await newMember(shop, { account: other.id, email: "victim@shop.example", role: "member", password: "planted by the attacker" });
  const attacker = from();
  for (let i = 0; i < 30; i++) {
    const guess = i % 5 === 4 ? "planted by the attacker" : `guess number ${i}`;
    assert.equal((await signIn("victim@shop.example", guess, attacker)).status, guess.startsWith("guess") ? 401 : 200);
  }
  assert.equal((await signIn("victim@shop.example", password, attacker)).status, 401, "no longer compared with the victim's password");
  assert.equal((await signIn("victim@shop.example", password)).status, 200);
});

testOnce("sign-ins with an email that looks like a member's counter do not use up that member's attempts", async () => {
  const browser = await newMember(shop, { account: shop.accountId, email: "number@shop.example", role: "member", password });
  const { id } = (await browser.ask<Standing>("GET", "/session")).body.member;
  const address = from();
  for (let i = 0; i < 11; i++) await signIn(`member ${id}`, password, address);
  const change = await browser.ask("PUT", "/password", { password: "another password", currentPassword: password }, address);
  assert.equal(change.status, 200);
});

test("changing keys and members needs the password again after ten minutes, and nothing else does", async () => {
  const account = await shop.newAccount();
  const owner = await newMember(shop, { account: account.id, email: "owner@confirm.example", role: "owner", password });
  const { id } = (await owner.ask<Standing>("GET", "/session")).body.member;
  const key = (await owner.ask<{ id: number }>("POST", "/keys", {})).body;
  time.now += 10 * minuteMs;
  const guarded: [string, string, unknown][] = [
    ["POST", "/keys", {}],
    ["POST", `/keys/${key.id}/rotate`, {}],
    ["POST", "/members", { email: "new@confirm.example" }],
    ["POST", `/members/${id}/reset`, undefined],
    ["PATCH", `/members/${id}`, { role: "owner" }],
    ["DELETE", `/members/${id}`, undefined],
  ];
  for (const [method, path, body] of guarded) {
    const refused = await owner.ask<Failure>(method, path, body);
    assert.deepEqual([refused.status, refused.body.code], [403, "confirmation_required"], `${method} ${path}`);
  }
  assert.equal((await owner.ask("GET", "/keys")).status, 200);
  assert.equal((await owner.ask("POST", "/categories", { name: "Dogs" })).status, 201);
  assert.equal((await owner.ask("DELETE", `/keys/${key.id}`)).status, 204, "a key is revoked at any time");

  const wrong = await owner.ask<Failure>("POST", "/confirm", { password: "not the password" }, from());
  assert.deepEqual([wrong.status, wrong.body.details?.[0]?.path], [400, "body.password"]);
  assert.equal((await owner.ask("POST", "/keys", {})).status, 403);
  const confirmed = await owner.ask<{ confirmedUntil: string }>("POST", "/confirm", { password }, from());
  assert.equal(Date.parse(confirmed.body.confirmedUntil), time.now + 10 * minuteMs);
  assert.equal((await owner.ask("POST", "/keys", {})).status, 201);
  time.now += 10 * minuteMs;
  assert.equal((await owner.ask("POST", "/keys", {})).status, 403);
});

testOnce("a stolen session has ten guesses at the password in five minutes, and the member's other sessions keep working", async () => {
  const email = "guessed@shop.example";
  const browser = await newMember(shop, { account: shop.accountId, email, role: "owner", password });
  const thief = from();
  for (let i = 0; i < 10; i++) assert.equal((await browser.ask("POST", "/confirm", { password: `guess ${i}` }, thief)).status, 400);
  assert.equal((await browser.ask("POST", "/confirm", { password }, thief)).status, 429);
  assert.equal((await browser.ask("POST", "/confirm", { password }, from())).status, 200);
});

testOnce("an unknown email has the same limit on attempts as a known one", async () => {
  const address = from();
  for (let i = 0; i < 10; i++) assert.equal((await signIn("ghost@shop.example", password, address)).status, 401);
  assert.equal((await signIn("ghost@shop.example", password, address)).status, 429);
});

testOnce(
  "one address has sixty attempts in five minutes, at links and any emails together, and other addresses are not affected",
  async () => {
    const address = from();
    const guess = () => openBrowser(shop).ask("POST", "/sign-in/link", { token: "guess" }, address);
    const statuses = await Promise.all(Array.from({ length: 61 }, async () => (await guess()).status));
    assert.equal(statuses.filter((status) => status === 429).length, 1);
    assert.equal((await signIn("any@shop.example", password, address)).status, 429);
    assert.equal((await signIn("any@shop.example", password)).status, 401);
  },
);

test("signing in starts a new session and ends the browser's earlier one, so that a planted cookie is worthless", async () => {
  const planted = await newMember(shop, { account: shop.accountId, email: "fix@shop.example", role: "member", password });
  const victim = openBrowser(shop);
  victim.cookie = planted.cookie;
  assert.equal((await victim.ask("POST", "/sign-in", { email: "fix@shop.example", password }, from())).status, 200);
  assert.notEqual(victim.cookie, planted.cookie);
  assert.equal((await victim.ask("GET", "/session")).status, 200);
  assert.equal((await planted.ask("GET", "/session")).status, 401);
});

test("a cookie that the service did not make is not a session, and never becomes one", async () => {
  const browser = openBrowser(shop);
  browser.cookie = `petstore-session=${"A".repeat(43)}`;
  assert.equal((await browser.ask("GET", "/session")).status, 401);
  const { link } = await invite("own@shop.example");
  await browser.ask("POST", "/sign-in/link", { token: tokenIn(link) }, from());
  assert.notEqual(browser.cookie, `petstore-session=${"A".repeat(43)}`);
});

test("a session ends after seven days without use", async () => {
  const browser = await newMember(shop, { account: shop.accountId, email: "idle@shop.example", role: "member" });
  time.now += 7 * dayMs - 1;
  assert.equal((await browser.ask("GET", "/session")).status, 200);
  time.now += 7 * dayMs - 1;
  assert.equal((await browser.ask("GET", "/session")).status, 200);
  time.now += 7 * dayMs;
  assert.equal((await browser.ask("GET", "/session")).status, 401);
});

test("a session ends after thirty days, even if it is used", async () => {
  const browser = await newMember(shop, { account: shop.accountId, email: "old@shop.example", role: "member" });
  for (let day = 0; day < 29; day++) {
    time.now += dayMs;
    assert.equal((await browser.ask("GET", "/session")).status, 200);
  }
  time.now += dayMs;
  assert.equal((await browser.ask("GET", "/session")).status, 401);
});

test("signing out ends the session, also for a copy of its cookie, and clears the cookie", async () => {
  const browser = await newMember(shop, { account: shop.accountId, email: "out@shop.example", role: "member" });
  const thief = openBrowser(shop);
  thief.cookie = browser.cookie;
  assert.equal((await browser.ask("POST", "/sign-out")).status, 204);
  assert.equal(browser.cookie, "");
  assert.equal((await thief.ask("GET", "/session")).status, 401);
  assert.equal((await browser.ask("POST", "/sign-out")).status, 204);
});

test("changing the password needs the current one, ends every other session and renews this one", async () => {
  const email = "change@shop.example";
  const browser = await newMember(shop, { account: shop.accountId, email, role: "member", password });
  const elsewhere = openBrowser(shop);
  await elsewhere.ask("POST", "/sign-in", { email, password }, from());
  const earlier = browser.cookie;
  const change = (currentPassword?: string) => browser.ask<Failure>("PUT", "/password", { password: "another password", currentPassword });
  assert.match((await change()).body.message, /^currentPassword is required/);
  assert.match((await change("not the password")).body.message, /^currentPassword is wrong/);
  assert.equal((await change(password)).status, 200);
  assert.notEqual(browser.cookie, earlier);
  assert.equal((await browser.ask("GET", "/session")).status, 200);
  assert.equal((await elsewhere.ask("GET", "/session")).status, 401);
  assert.equal((await signIn(email, password)).status, 401);
  assert.equal((await signIn(email, "another password")).status, 200);
});

test("a password is 10 to 256 characters, not the email, and not a common one", async () => {
  const browser = await newMember(shop, { account: shop.accountId, email: "short@shop.example", role: "member" });
  for (const bad of ["123456789", "x".repeat(257), "Short@shop.example", "1234567890", "Password2026!"]) {
    assert.equal((await browser.ask<Failure>("PUT", "/password", { password: bad })).body.code, "invalid_request", bad);
  }
  assert.equal((await browser.ask("PUT", "/password", { password: "ten letter" })).status, 200);
});

test("the owner of a first start has no email, sets one with the password, and then signs in with both", async () => {
  const account = await shop.newAccount();
  const { member, link } = await shop.administration["members.invite"]({ account: account.id });
  assert.deepEqual([member.email, member.role], [null, "owner"]);
  const browser = openBrowser(shop);
  await browser.ask("POST", "/sign-in/link", { token: tokenIn(link) }, from());
  assert.equal((await browser.ask("PUT", "/password", { password })).status, 400);
  assert.equal((await browser.ask("PUT", "/password", { password, email: "boss@shop.example" })).status, 200);
  assert.equal((await signIn("boss@shop.example", password)).body.account.id, account.id);
});

test("an owner of a first start who never signed in is replaced by the one who is invited", async () => {
  const account = await shop.newAccount();
  await shop.administration["members.invite"]({ account: account.id });
  time.now += 15 * minuteMs;
  const { member } = await invite("came@shop.example", account.id);
  assert.equal(member.role, "owner");
  const { members } = await shop.administration["members.list"]({ account: account.id });
  assert.deepEqual(
    members.map(({ email }) => email),
    ["came@shop.example"],
  );
});
