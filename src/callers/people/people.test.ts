import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import type { Problem } from "../../platform/problem.ts";
import { insertAccount } from "../accounts/accounts.store.ts";
import { comesFromDashboard } from "./origins.ts";
import { openPasswordHasher } from "./passwords.ts";
import { emailOf } from "./people.ts";
import { invite, setPassword, findPassword } from "./people.store.ts";
import { sessionCookie, sessionsMax } from "./sessions.ts";
import { beginSession, findSession, forgetEnded, listSessions } from "./sessions.store.ts";
import { signIn } from "./sign-in.ts";
import { byEmail, openSignInThrottle, waitMs, withAttempt } from "./throttle.ts";

const now = Date.UTC(2030, 0, 1);
const visitor = { address: "192.0.2.1", userAgent: "Test" };

async function openScene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const db = openSqlite(join(folder, "test.db"));
  await migrate(db, now);
  t.after(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });
  const real = openPasswordHasher();
  const computed: string[] = [];
  const hasher = { hash: (password: string, salt: string) => (computed.push(salt), real.hash(password, salt)) };
  /** A member with this password, null for none, in an account of their own. */
  async function add(email: string, password: string | null) {
    return db.write(async (tx) => {
      const account = await insertAccount(tx, "Shop", { plan: "pro", perMinute: null, perDay: null }, now);
      const { member } = await invite(tx, account.id, { email }, now);
      const seen = await findPassword(tx, account.id, member.id);
      assert.ok(seen);
      if (password !== null) await setPassword(tx, account.id, seen, await real.hash(password, seen.salt));
      return { accountId: account.id, memberId: member.id };
    });
  }
  return { db, computed, add, parts: { db, hasher, throttle: openSignInThrottle() } };
}

test("a sign-in takes one computation, whether the email is unknown, invited, known once or in many accounts", async (t) => {
  const { add, computed, parts } = await openScene(t);
  await add("invited@a.example", null);
  await add("once@a.example", "the password 1");
  for (let i = 0; i < 5; i++) await add("often@a.example", `the password ${i}`);
  for (const email of ["unknown@a.example", "invited@a.example", "once@a.example", "often@a.example"]) {
    const comer = { ...visitor, earlier: undefined, now };
    computed.length = 0;
    await assert.rejects(signIn(parts, { email, password: "a wrong one" }, comer), { code: "unauthorized" });
    assert.equal(computed.length, 1, email);
    assert.equal(Buffer.from(computed[0] ?? "", "base64url").length, 16);
  }
});

test("a password is kept as argon2id with 19 MiB and two passes, salted by email", async (t) => {
  const { db, add } = await openScene(t);
  const one = await add("one@a.example", "the same password");
  const two = await add("two@a.example", "the same password");
  const [a, b] = await Promise.all([one, two].map(({ accountId, memberId }) => findPassword(db, accountId, memberId)));
  assert.match(a?.password ?? "", /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(a?.password, b?.password);
});

test("computations are bounded: beyond those that wait one is refused, and all others are done", async () => {
  const hasher = openPasswordHasher();
  const salt = Buffer.alloc(16).toString("base64url");
  const outcomes = await Promise.allSettled(Array.from({ length: 103 }, () => hasher.hash("password", salt)));
  const refused = outcomes.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  assert.equal(refused.length, 1);
  assert.equal((refused[0]?.reason as Problem | undefined)?.code, "unavailable");
  assert.match(await hasher.hash("password", salt), /^\$argon2id/);
});

test("attempts are counted in a window that begins with the first, and a clock set back holds nobody", () => {
  let attempts = withAttempt(undefined, byEmail, now);
  for (let i = 1; i < byEmail.attempts; i++) attempts = withAttempt(attempts, byEmail, now + i);
  assert.equal(waitMs(attempts, byEmail, now + 100), byEmail.windowMs - 100);
  assert.equal(waitMs(attempts, byEmail, now + byEmail.windowMs), 0);
  assert.deepEqual(withAttempt(attempts, byEmail, now + byEmail.windowMs), { since: now + byEmail.windowMs, made: 1 });
  assert.equal(waitMs(attempts, byEmail, now - 1), 0);
});

test("a refused attempt uses up neither window, and a success forgives the email's attempts", () => {
  const throttle = openSignInThrottle();
  for (let i = 0; i < byEmail.attempts; i++) assert.equal(throttle.attempt(`192.0.2.${i}`, "a@a.example", now), 0);
  for (let i = 0; i < 100; i++) assert.equal(throttle.attempt("192.0.2.99", "a@a.example", now), byEmail.windowMs);
  assert.equal(throttle.attempt("192.0.2.99", "b@a.example", now), 0);
  throttle.succeeded("a@a.example");
  assert.equal(throttle.attempt("192.0.2.99", "a@a.example", now), 0);
});

test("a member has at most twenty sessions: the one used longest ago ends", async (t) => {
  const { db, add } = await openScene(t);
  const who = await add("a@a.example", null);
  const begin = (at: number) => db.write((tx) => beginSession(tx, who, visitor, undefined, at));
  const first = await begin(now);
  for (let i = 1; i < sessionsMax; i++) await begin(now + i);
  assert.ok(await findSession(db, first, now + 100));
  await begin(now + 100);
  assert.equal(await findSession(db, first, now + 100), undefined);
  assert.equal((await listSessions(db, who.accountId, who.memberId, now + 100)).length, sessionsMax);
});

test("sessions and links that have ended are cleared away, others stay", async (t) => {
  const { db, add } = await openScene(t);
  const who = await add("a@a.example", null);
  const old = await db.write((tx) => beginSession(tx, who, visitor, undefined, now - 8 * 86_400_000));
  const fresh = await db.write((tx) => beginSession(tx, who, visitor, undefined, now));
  await forgetEnded(db, now);
  assert.equal(await findSession(db, old, now - 8 * 86_400_000), undefined);
  assert.ok(await findSession(db, fresh, now));
});

test("a write comes from the dashboard only with its own origin, on loopback with the name it was called by", () => {
  const from = (origin: string | undefined, host: string, publicUrl: string) =>
    comesFromDashboard("POST", { ...(origin !== undefined && { origin }), host }, publicUrl);
  assert.equal(from("http://127.0.0.1:8080", "127.0.0.1:8080", "http://localhost:8080"), true);
  assert.equal(from("http://localhost:3000", "localhost:8080", "http://localhost:8080"), false);
  assert.equal(from("http://evil.example", "evil.example", "http://localhost:8080"), false);
  assert.equal(from("http://site.petstore.localhost:8080", "site.petstore.localhost:8080", "http://localhost:8080"), false);
  assert.equal(from("https://pets.example", "internal:8080", "https://pets.example"), true);
  assert.equal(from("http://pets.example", "pets.example", "https://pets.example"), false);
  assert.equal(from(undefined, "pets.example", "https://pets.example"), false);
});

test("the cookie is found among others by its whole name", () => {
  const cookie = sessionCookie("https://pets.example");
  assert.equal(cookie.read("a=1; __Host-petstore-session=token; b=2"), "token");
  assert.equal(cookie.read("petstore-session=token; x__Host-petstore-session=token"), undefined);
  assert.equal(cookie.read("__Host-petstore-session="), undefined);
  assert.equal(cookie.read(undefined), undefined);
});

test("what is no email is refused", () => {
  assert.equal(emailOf(" Ann@Shop.example "), "Ann@Shop.example");
  for (const text of [
    "",
    "ann",
    "@shop.example",
    "ann@",
    "a b@shop.example",
    "a@b@c",
    `${"a".repeat(65)}@b.example`,
    `a@${"b".repeat(253)}`,
  ]) {
    assert.throws(() => emailOf(text), { code: "invalid_request" }, text);
  }
});
