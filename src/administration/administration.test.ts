import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { fill, rowsOf, start } from "../../test/support/account-rows.ts";
import { defaultScopes } from "../callers/keys/keys.ts";
import { openKeyVerifier } from "../callers/keys/verify.ts";
import { openMemoryLimiter } from "../callers/limits/memory.ts";
import { migrate } from "../platform/db/migrate.ts";
import { openSqlite } from "../platform/db/sqlite.ts";
import { noOtherNodes } from "../platform/nodes/nodes.ts";
import { Problem } from "../platform/problem.ts";
import { createFirst } from "./accounts.ts";
import { openAdministration } from "./administration.ts";

const hourMs = 3_600_000;
const free = { perMinute: 60, perDay: 1_000 };

async function openScene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const db = openSqlite(join(folder, "test.db"));
  await migrate(db, start);
  const time = { now: start };
  const clock = () => time.now;
  const verifier = openKeyVerifier(db, clock);
  t.after(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });
  const limiter = openMemoryLimiter({ clock, addressQuota: free });
  const publicUrl = "https://pets.example";
  const admin = openAdministration({
    db,
    clock,
    verifier,
    limiter,
    announcer: noOtherNodes,
    publicUrl,
    directoryUrl: "",
    ports: { edgeHttpPort: 80, edgeHttpsPort: 443, edgePublicHttpPort: 0, edgePublicHttpsPort: 0 },
    secrets: () => assert.fail("no operation here needs the keys"),
  });
  return { db, clock, time, publicUrl, verifier, limiter, admin, shop: (name: string) => admin["accounts.create"]({ name, plan: "pro" }) };
}

function refused(code: string, message?: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    if (message) assert.match(error.message, message);
    return true;
  };
}

test("the first account is made once, however often it is asked for at the same moment", async (t) => {
  const { admin, ...parts } = await openScene(t);
  const shown: string[] = [];
  await Promise.all(Array.from({ length: 5 }, () => createFirst(parts, ({ key }) => shown.push(key))));
  assert.equal(shown.length, 1);
  assert.deepEqual(
    (await admin["accounts.list"]({})).accounts.map(({ name }) => name),
    ["My shop"],
  );
});

test("if the first account's key cannot be shown, the account is not made, and the next start makes another", async (t) => {
  const { admin, verifier, ...parts } = await openScene(t);
  const unseen: string[] = [];
  const dies = createFirst(parts, ({ key }) => {
    unseen.push(key);
    throw new Error("standard output is gone");
  });
  await assert.rejects(dies, /standard output is gone/);
  assert.deepEqual((await admin["accounts.list"]({})).accounts, []);
  const shown: string[] = [];
  await createFirst(parts, ({ key }) => shown.push(key));
  assert.equal(shown.length, 1);
  assert.equal(await verifier.verify(unseen[0]!), undefined);
  assert.notEqual(await verifier.verify(shown[0]!), undefined);
});

test("a new account has a first key with the scopes that all have, which works at once", async (t) => {
  const { verifier, shop } = await openScene(t);
  const made = await shop(" Paws ");
  assert.deepEqual(made, { account: { id: 1, name: "Paws", plan: "pro" }, key: made.key });
  const verified = await verifier.verify(made.key);
  assert.equal(verified?.accountId, 1);
  assert.deepEqual([...verified.scopes], defaultScopes);
});

test("accounts.create refuses unknown fields and invalid values, and names the field", async (t) => {
  const { admin } = await openScene(t);
  const create = admin["accounts.create"];
  await assert.rejects(create({ plan: "pro" }), refused("invalid_request", /^name is required/));
  await assert.rejects(
    create({ name: "A", plan: "gold" }),
    refused("invalid_request", /^plan must be one of free, pro, business, enterprise/),
  );
  await assert.rejects(create({ name: "A", plan: "pro", colour: "red" }), refused("invalid_request", /^colour /));
  await assert.rejects(create({ name: "A", plan: "enterprise", perMinute: 0 }), refused("invalid_request", /^perMinute /));
  await assert.rejects(create({ name: "A", plan: "pro", perDay: 5 }), refused("invalid_request", /enterprise/));
  for (const figure of [-1, 1.5, 2 ** 53, "7"])
    for (const field of ["records", "publishedBytes", "eventBytes"])
      await assert.rejects(create({ name: "A", plan: "pro", [field]: figure }), refused("invalid_request", RegExp(`^${field} `)));
  await assert.rejects(create([]), refused("invalid_request"));
  assert.deepEqual(await admin["accounts.list"]({}), { accounts: [] });
});

test("accounts are listed by id with the limits of their plan, and from any id on", async (t) => {
  const { admin, shop } = await openScene(t);
  await shop("A");
  await admin["accounts.create"]({ name: "B", plan: "enterprise", perMinute: 7 });
  const { accounts } = await admin["accounts.list"]({});
  const records = { limit: 5_000_000, used: 0, remaining: 5_000_000 };
  const publishedBytes = { limit: 53_687_091_200, used: 0, remaining: 53_687_091_200 };
  const limits = { perMinute: 7, perDay: 100_000, records, publishedBytes };
  const eventLimit = 5_368_709_120;
  const { used } = accounts[1]!.eventBytes;
  assert.ok(used > 256, "the event of its key");
  const eventBytes = { limit: eventLimit, used, remaining: eventLimit - used };
  assert.deepEqual(accounts[1], { id: 2, name: "B", plan: "enterprise", ...limits, eventBytes, createdAt: "2026-01-01T00:00:00Z" });
  assert.deepEqual((await admin["accounts.list"]({ after: 1 })).accounts, accounts.slice(1));
});

test("a change of plan is in effect when it is answered", async (t) => {
  const { admin, verifier, shop } = await openScene(t);
  const { key } = await shop("A");
  await verifier.verify(key);
  await admin["accounts.setPlan"]({ id: 1, plan: "free" });
  assert.deepEqual((await verifier.verify(key))?.quota, { perMinute: 60, perDay: 1_000 });
  await assert.rejects(admin["accounts.setPlan"]({ id: 2, plan: "free" }), refused("not_found"));
});

test("a key has the scopes and the expiry that were asked for", async (t) => {
  const { admin, verifier, time, shop } = await openScene(t);
  await shop("A");
  const asked = { account: 1, scopes: ["orders:write", "catalogue:read", "orders:write"], expires: "2026-01-02" };
  const made = await admin["keys.create"](asked);
  assert.deepEqual(Object.keys(made), ["id", "key", "scopes"]);
  assert.deepEqual(made.scopes, ["catalogue:read", "orders:write"]);
  assert.ok(await verifier.verify(made.key));
  time.now = Date.UTC(2026, 0, 2);
  assert.equal(await verifier.verify(made.key), undefined);
});

test("a publishable key can read the catalogue and the inventory and never more", async (t) => {
  const { admin, verifier, shop } = await openScene(t);
  await shop("A");
  const made = await admin["keys.create"]({ account: 1, publishable: true });
  assert.match(made.key, /^psp_/);
  assert.deepEqual(made.scopes, ["catalogue:read", "inventory:read"]);
  assert.equal((await verifier.verify(made.key))?.publishable, true);
  const more = { account: 1, publishable: true, scopes: ["catalogue:read", "orders:read"] };
  await assert.rejects(admin["keys.create"](more), refused("invalid_request", /orders:read/));
});

test("keys.create refuses unknown scopes and accounts, and expiries that are in the past or not dates", async (t) => {
  const { admin, shop } = await openScene(t);
  await shop("A");
  const create = admin["keys.create"];
  await assert.rejects(create({ account: 2 }), refused("not_found"));
  await assert.rejects(create({ account: "1" }), refused("invalid_request", /^account /));
  await assert.rejects(create({ account: 1, scopes: ["pets:read"] }), refused("invalid_request", /^scopes/));
  await assert.rejects(create({ account: 1, scopes: [] }), refused("invalid_request"));
  await assert.rejects(create({ account: 1, expires: "2026-01-01" }), refused("invalid_request", /future/));
  await assert.rejects(create({ account: 1, expires: "soon" }), refused("invalid_request", /date/));
});

test("a key has its given name, or one with its number, and its given origins; its successor has them too", async (t) => {
  const { admin, shop } = await openScene(t);
  await shop("A");
  const origins = ["https://SHOP.example/", "https://shop.example:443", "http://localhost:3000"];
  await admin["keys.create"]({ account: 1, name: "  Online shop ", publishable: true, origins });
  await admin["keys.rotate"]({ id: 1 });
  await admin["keys.rotate"]({ id: 2 });
  const { keys } = await admin["keys.list"]({ account: 1 });
  const bound = ["https://shop.example", "http://localhost:3000"];
  assert.deepEqual(
    keys.map((key) => [key.name, key.origins]),
    [
      ["Key 1", []],
      ["Online shop", bound],
      ["Key 3", []],
      ["Online shop", bound],
    ],
  );
});

test("keys.create refuses origins for a secret key, invalid origins, too many origins, and names that are empty or too long", async (t) => {
  const { admin, shop } = await openScene(t);
  await shop("A");
  const create = (terms: object) => admin["keys.create"]({ account: 1, publishable: true, ...terms });
  await assert.rejects(create({ publishable: false, origins: ["https://shop.example"] }), refused("invalid_request", /publishable/));
  for (const none of ["shop.example", "https://shop.example/path", "ftp://shop.example", "https://a@shop.example", "null", "*", ""]) {
    await assert.rejects(create({ origins: [none] }), refused("invalid_request", /is not an origin/), none);
  }
  await assert.rejects(create({ origins: Array(21).fill("https://shop.example") }), refused("invalid_request", /^origins/));
  await assert.rejects(create({ origins: [`https://${"a".repeat(300)}.example`] }), refused("invalid_request", /^origins/));
  for (const name of ["", "  ", "a".repeat(101)]) await assert.rejects(create({ name }), refused("invalid_request", /^name/));
});

test("a list of keys shows how they begin, and neither the keys nor their hashes", async (t) => {
  const { admin, db, shop } = await openScene(t);
  const { key } = await shop("A");
  const { keys } = await admin["keys.list"]({ account: 1 });
  assert.equal(keys[0]?.prefix, key.slice(0, 8));
  const [row] = await db.query(sql`SELECT * FROM keys`);
  assert.ok(!JSON.stringify(row).includes(key));
  assert.ok(!JSON.stringify(keys).includes(String(row?.["hash"])));
});

test("a rotated key and its successor both work until the overlap ends, then only the successor", async (t) => {
  const { admin, verifier, time, shop } = await openScene(t);
  await shop("A");
  const old = await admin["keys.create"]({ account: 1, publishable: true, scopes: ["catalogue:read"] });
  await verifier.verify(old.key);
  const rotated = await admin["keys.rotate"]({ id: old.id });
  assert.deepEqual(rotated.previous, { id: old.id, expiresAt: "2026-01-02T00:00:00Z" });
  assert.deepEqual(rotated.scopes, ["catalogue:read"]);
  assert.match(rotated.key, /^psp_/);
  time.now = start + 24 * hourMs - 1;
  assert.ok(await verifier.verify(old.key));
  time.now = start + 24 * hourMs;
  assert.equal(await verifier.verify(old.key), undefined);
  assert.ok(await verifier.verify(rotated.key));
});

test("rotation never prolongs a key: its successor keeps the expiry, and an expired key has no successor", async (t) => {
  const { admin, verifier, time, shop } = await openScene(t);
  await shop("A");
  const old = await admin["keys.create"]({ account: 1, expires: "2026-01-03" });
  const rotated = await admin["keys.rotate"]({ id: old.id, overlapHours: 0 });
  assert.equal(await verifier.verify(old.key), undefined);
  assert.ok(await verifier.verify(rotated.key));
  time.now = Date.UTC(2026, 0, 3);
  assert.equal(await verifier.verify(rotated.key), undefined);
  await assert.rejects(admin["keys.rotate"]({ id: rotated.id }), refused("invalid_request", /expired/));
  await assert.rejects(admin["keys.rotate"]({ id: 99 }), refused("not_found"));
});

test("a revoked key does not work after the answer, and the account's other keys still work", async (t) => {
  const { admin, verifier, shop } = await openScene(t);
  const { key } = await shop("A");
  const other = await admin["keys.create"]({ account: 1 });
  await Promise.all([verifier.verify(key), verifier.verify(other.key)]);
  assert.deepEqual(await admin["keys.revoke"]({ id: other.id }), { id: other.id, account: 1, prefix: other.key.slice(0, 8) });
  assert.equal(await verifier.verify(other.key), undefined);
  assert.ok(await verifier.verify(key));
  await assert.rejects(admin["keys.revoke"]({ id: other.id }), refused("not_found"));
});

test("a key that is unbanned starts without strikes at once, and for a key without a ban or strikes the command says so", async (t) => {
  const { admin, limiter, shop } = await openScene(t);
  await shop("A");
  const { key } = await admin["keys.create"]({ account: 1 });
  for (let i = 0; i < 81; i++) limiter.account(1, 1, free);
  assert.equal(limiter.account(1, 1, free).verdict, "key_banned");
  assert.equal((await admin["keys.unban"]({ id: 1 })).unbanned, true);
  assert.equal(limiter.account(1, 1, free).verdict, "rate_limit_exceeded");
  assert.deepEqual(await admin["keys.unban"]({ id: 2 }), { id: 2, account: 1, prefix: key.slice(0, 8), unbanned: false });
  await assert.rejects(admin["keys.unban"]({ id: 99 }), refused("not_found"));
});

test("an account has at most 1,000 keys, and those of other accounts do not count", async (t) => {
  const { admin, shop } = await openScene(t);
  await shop("A");
  await shop("B");
  await Promise.all(Array.from({ length: 999 }, () => admin["keys.create"]({ account: 1 })));
  await assert.rejects(admin["keys.create"]({ account: 1 }), refused("invalid_request", /1000/));
  assert.ok(await admin["keys.create"]({ account: 2 }));
});

test("a deleted account leaves no row behind and takes none of another account", async (t) => {
  const { admin, db, verifier, shop } = await openScene(t);
  const gone = await shop("Gone");
  const stays = await shop("Stays");
  for (const account of [1, 2]) await fill(db, account);
  const before = await rowsOf(db, 2);
  assert.ok(Object.values(before).every((count) => count > 0));
  await verifier.verify(gone.key);

  assert.deepEqual(await admin["accounts.delete"]({ id: 1 }), { account: gone.account });
  assert.ok(Object.values(await rowsOf(db, 1)).every((count) => count === 0));
  assert.deepEqual(await rowsOf(db, 2), before);
  assert.equal(await verifier.verify(gone.key), undefined);
  assert.equal((await verifier.verify(stays.key))?.accountId, 2);
  await assert.rejects(admin["accounts.delete"]({ id: 1 }), refused("not_found"));
});
