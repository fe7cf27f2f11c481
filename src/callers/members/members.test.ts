import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { leastHashCost } from "../../../test/support/hash-cost.ts";
import { openBounds } from "../../platform/bounds.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import type { Problem } from "../../platform/problem.ts";
import { newSecretsKey, parseSecretsKeys } from "../../platform/secrets.ts";
import { insertAccount } from "../accounts/accounts.store.ts";
import { comesFromDashboard } from "./gate.ts";
import { findPassword, invite, replacePassword } from "./members.store.ts";
import { emailOf } from "./members.ts";
import { isCommonPassword, newSalt, openPasswordHasher, type Asker, type HashCost, type PasswordHasher } from "./passwords.ts";
import { insertSession, findSession, deleteEndedSessions, listSessions } from "./sessions.store.ts";
import { sessionCookie, sessionsMax } from "./sessions.ts";
import { openSignInThrottle, signIn, type Subject, subjectAttemptsMax, windowMs } from "./sign-in.ts";

const now = Date.UTC(2030, 0, 1);
const visitor = { address: "192.0.2.1", userAgent: "Test" };

/** @param cost of the passwords' hashes. Default: the service's own */
async function openScene(t: TestContext, cost?: HashCost) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const db = openSqlite(join(folder, "test.db"));
  await migrate(db, now);
  t.after(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });
  const real = openPasswordHasher(openBounds().queue("passwords"), cost);
  const computed: string[] = [];
  const hash: PasswordHasher["hash"] = (password, salt, by) => (computed.push(salt), real.hash(password, salt, by));
  const hasher = { hash };
  /** Adds a member with this password (null: none) to a new account. */
  async function add(email: string, password: string | null) {
    return db.write(async (tx) => {
      const account = await insertAccount(tx, "Shop", { plan: "pro", perMinute: null, perDay: null }, now);
      const { member } = await invite(tx, account.id, { email }, now);
      const seen = await findPassword(tx, account.id, member.id);
      assert.ok(seen);
      const who = { accountId: account.id, memberId: member.id };
      const salt = newSalt();
      if (password !== null) await replacePassword(tx, who, seen, { salt, password: await real.hash(password, salt, who) });
      return who;
    });
  }
  const secrets = parseSecretsKeys(newSecretsKey());
  return { db, computed, add, parts: { db, hasher, throttle: openSignInThrottle(), secrets } };
}

test("a sign-in takes as many computations for an unknown email as for one with members in two accounts", async (t) => {
  const { add, computed, parts } = await openScene(t, leastHashCost);
  await add("invited@a.example", null);
  await add("once@a.example", "the password 1");
  for (let i = 0; i < 2; i++) await add("twice@a.example", `the password ${i}`);
  for (const email of ["unknown@a.example", "invited@a.example", "once@a.example", "twice@a.example"]) {
    const client = { ...visitor, tokens: [], now };
    computed.length = 0;
    await assert.rejects(signIn(parts, { email, password: "a wrong one" }, client), { code: "unauthorized" });
    assert.equal(computed.length, 2, email);
    assert.equal(new Set(computed).size, 2, "no two computations share a salt");
  }
});

test("an email with members in many accounts costs ten computations, and later members displace no earlier ones", async (t) => {
  const { add, computed, parts } = await openScene(t, leastHashCost);
  const first = await add("often@a.example", "the first password");
  for (let i = 0; i < 11; i++) await add("often@a.example", "another password");
  const last = await add("often@a.example", "the last password");
  const client = { ...visitor, tokens: [], now };
  computed.length = 0;
  const earliest = await signIn(parts, { email: "often@a.example", password: "the first password" }, client);
  assert.ok("memberId" in earliest && earliest.memberId === first.memberId);
  assert.equal(computed.length, 10);
  await assert.rejects(signIn(parts, { email: "often@a.example", password: "the last password" }, client), { code: "unauthorized" });
  const named = { email: "often@a.example", password: "the last password", accountId: last.accountId };
  const chosen = await signIn(parts, named, client);
  assert.ok("memberId" in chosen && chosen.memberId === last.memberId);
});

test("a password is stored as argon2id with 19 MiB and two passes, and members with one email share no salt", async (t) => {
  const { db, add } = await openScene(t);
  const one = await add("one@a.example", "the same password");
  const two = await add("one@a.example", "the same password");
  const [a, b] = await Promise.all([one, two].map(({ accountId, memberId }) => findPassword(db, accountId, memberId)));
  assert.match(a?.password ?? "", /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(a?.salt, b?.salt);
  assert.notEqual(a?.password, b?.password);
});

test("a common password is recognized in upper or lower case and with a number after it, and so is a run of characters", async () => {
  for (const common of ["1234567890", "Password123", "QWERTYUIOP", "iloveyou2026!", "0123456789", "aaaaaaaaaaaa", "zyxwvutsrq"]) {
    assert.equal(await isCommonPassword(common), true, common);
  }
  for (const fine of ["correct horse battery", "a good long password", "vX9#kk2-plum", "😀🐶🐱🐭🐹🐰🦊🐻🐼🐨"]) {
    assert.equal(await isCommonPassword(fine), false, fine);
  }
});

test("computations are bounded for each address: one that finds the queue full is refused, and all others complete", async () => {
  const turns = openBounds().queue<string>("passwords");
  const hasher = openPasswordHasher(turns, leastHashCost);
  const salt = Buffer.alloc(16).toString("base64url");
  const [crowd, other]: Asker[] = [{ address: "192.0.2.1" }, { address: "192.0.2.2" }];
  const outcomes = await Promise.allSettled(
    Array.from({ length: turns.waitingMaxPerKey + 2 }, () => hasher.hash("password", salt, crowd!)),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  assert.equal(refused.length, 1);
  const problem = refused[0]?.reason as Problem | undefined;
  assert.deepEqual([problem?.code, problem?.headers], ["unavailable", { "retry-after": "1" }]);
  assert.match(await hasher.hash("password", salt, other!), /^\$argon2id/);
});

test("a sign-in waits for none of another address, and a signed-in member's password check waits for no sign-in", async () => {
  const hasher = openPasswordHasher(openBounds().queue<string>("passwords"), leastHashCost);
  const done: string[] = [];
  const hash = (name: string, by: Asker) => hasher.hash("password", newSalt(), by).then(() => done.push(name));
  const crowd = Array.from({ length: 50 }, (_, i) => hash(`crowd ${i}`, { address: "192.0.2.1" }));
  await Promise.all([hash("other", { address: "192.0.2.2" }), hash("member", { accountId: 1, memberId: 1 })]);
  assert.ok(done.length < 10, done.join(", "));
  await Promise.all(crowd);
});

test("attempts at one subject from one address are refused after ten, and do not count for others", () => {
  const throttle = openSignInThrottle();
  const member = { kind: "member", accountId: 1, memberId: 2 } as const;
  const attempt = (subject: Subject, address = "192.0.2.1") => throttle.requireSubjects([subject], address, now).length;
  for (let i = 0; i < subjectAttemptsMax; i++) assert.equal(attempt(member), 1);
  for (let i = 0; i < 100; i++) assert.throws(() => attempt(member), { code: "rate_limit_exceeded", headers: { "Retry-After": "300" } });
  assert.equal(attempt(member, "192.0.2.2"), 1, "another address");
  assert.equal(attempt({ ...member, accountId: 2 }), 1, "the same number in another account");
  assert.equal(attempt({ ...member, kind: "password" }), 1, "the member's own password change");
  assert.equal(attempt({ kind: "unknown", accountId: undefined, email: "member 2" }), 1, "an email that looks like a member");
  assert.deepEqual(throttle.requireSubjects([member, { ...member, memberId: 3 }], "192.0.2.1", now), [{ ...member, memberId: 3 }]);
  throttle.forget(member, "192.0.2.1");
  assert.equal(attempt(member), 1);
});

test("one address has sixty attempts in all, and a refused attempt uses none", () => {
  const throttle = openSignInThrottle();
  for (let i = 0; i < 60; i++) throttle.requireAddress("192.0.2.1", now);
  for (let i = 0; i < 100; i++) assert.throws(() => throttle.requireAddress("192.0.2.1", now), { code: "rate_limit_exceeded" });
  throttle.requireAddress("192.0.2.1", now + windowMs);
  throttle.requireAddress("192.0.2.2", now);
});

test("a member has at most twenty sessions: the least recently used one ends", async (t) => {
  const { db, add } = await openScene(t);
  const who = await add("a@a.example", null);
  const begin = (at: number) => db.write((tx) => insertSession(tx, who, visitor, at));
  const first = await begin(now);
  for (let i = 1; i < sessionsMax; i++) await begin(now + i);
  assert.ok(await findSession(db, first, now + 100));
  await begin(now + 100);
  assert.equal(await findSession(db, first, now + 100), undefined);
  assert.equal((await listSessions(db, who.accountId, who.memberId, now + 100)).length, sessionsMax);
});

test("sessions and links that have ended are deleted, others stay", async (t) => {
  const { db, add } = await openScene(t);
  const who = await add("a@a.example", null);
  const old = await db.write((tx) => insertSession(tx, who, visitor, now - 8 * 86_400_000));
  const fresh = await db.write((tx) => insertSession(tx, who, visitor, now));
  await deleteEndedSessions(db, now);
  assert.equal(await findSession(db, old, now - 8 * 86_400_000), undefined);
  assert.ok(await findSession(db, fresh, now));
});

test("a write needs the dashboard's origin; on loopback, the host name of the request also counts as it", () => {
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

test("the cookie is found among others by its full name", () => {
  const cookie = sessionCookie("https://pets.example");
  const [one, two] = ["A".repeat(43), "B".repeat(43)];
  assert.deepEqual(cookie.read(`a=1; __Host-petstore-session=${one}; b=2`), [one]);
  assert.deepEqual(cookie.read(`__Host-petstore-session=${two}.${one}`), [two, one]);
  assert.deepEqual(cookie.read(`petstore-session=${one}; x__Host-petstore-session=${one}`), []);
  assert.deepEqual(cookie.read("__Host-petstore-session="), []);
  assert.deepEqual(cookie.read(undefined), []);
});

test("a text that is not an email is refused", () => {
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
