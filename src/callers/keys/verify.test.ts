import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Database } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { insertAccount, updatePlan } from "../accounts/accounts.store.ts";
import { deleteKey, insertKey, listKeys } from "./keys.store.ts";
import { makeKey } from "./keys.ts";
import { openKeyVerifier } from "./verify.ts";

const start = Date.UTC(2026, 0, 1, 12, 0, 30);

/** A store with one account and one key, a clock that tests move, and a count of the reads. */
async function openScene(t: TestContext, expiresAt: number | null = null) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const store = openSqlite(join(folder, "test.db"));
  await migrate(store, start);
  const scene = { now: start, isLive: true, reads: 0, writes: 0, afterRead: async (): Promise<void> => {} };
  const db: Database = {
    ...store,
    query: async (query) => {
      scene.reads++;
      const rows = await store.query(query);
      await scene.afterRead();
      return rows as never;
    },
    write: (body) => {
      scene.writes++;
      return store.write(body);
    },
  };
  const verifier = openKeyVerifier(
    db,
    () => scene.now,
    () => scene.isLive,
  );
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const key = makeKey(false);
  const { account, stored } = await store.write(async (tx) => {
    const made = await insertAccount(tx, "Shop", { plan: "pro", perMinute: null, perDay: null }, start);
    const terms = { accountId: made.id, publishable: false, scopes: ["orders:read"] as const, expiresAt };
    return { account: made, stored: await insertKey(tx, key, terms, start) };
  });
  return { scene, store, verifier, key, account, stored };
}

test("a key is read once, and from then on returned from memory with its account", async (t) => {
  const { scene, verifier, key, account, stored } = await openScene(t);
  const verified = await verifier.verify(key);
  assert.equal(verified?.accountId, account.id);
  assert.equal(verified.keyId, stored.id);
  assert.deepEqual(verified.quota, { perMinute: 300, perDay: 10_000 });
  assert.deepEqual([...verified.scopes], ["orders:read"]);
  assert.equal(verifier.verify(key), verified);
  assert.equal(scene.reads, 1);
});

test("simultaneous requests with one key share one read", async (t) => {
  const { scene, verifier, key } = await openScene(t);
  const answers = await Promise.all(Array.from({ length: 100 }, async () => verifier.verify(key)));
  assert.equal(scene.reads, 1);
  assert.equal(new Set(answers).size, 1);
  assert.ok(answers[0]);
});

test("a mistyped key is refused at once and without a read", async (t) => {
  const { scene, verifier, key } = await openScene(t);
  const mistyped = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11);
  assert.equal(verifier.verify(mistyped), undefined);
  assert.equal(verifier.verify(""), undefined);
  assert.equal(scene.reads, 0);
});

test("a well-formed unknown key costs one read each time", async (t) => {
  const { scene, verifier } = await openScene(t);
  const madeUp = makeKey(false);
  assert.equal(await verifier.verify(madeUp), undefined);
  assert.equal(await verifier.verify(madeUp), undefined);
  assert.equal(scene.reads, 2);
});

test("a key stops working at its expiry, cached or not", async (t) => {
  const { scene, verifier, key } = await openScene(t, start + 1_000);
  assert.ok(await verifier.verify(key));
  scene.now = start + 999;
  assert.ok(await verifier.verify(key));
  scene.now = start + 1_000;
  assert.equal(await verifier.verify(key), undefined);
  assert.equal(await verifier.verify(key), undefined);
});

test("a revoked key is refused as soon as the verifier drops it", async (t) => {
  const { store, verifier, key, stored } = await openScene(t);
  assert.ok(await verifier.verify(key));
  await store.write((tx) => deleteKey(tx, stored));
  verifier.forgetKey(stored.id);
  assert.equal(await verifier.verify(key), undefined);
});

test("a read that began before the key was revoked is neither cached nor shared with later requests", async (t) => {
  const { scene, store, verifier, key, stored } = await openScene(t);
  const delayed = Promise.withResolvers<void>();
  scene.afterRead = () => delayed.promise;
  const early = verifier.verify(key);
  await store.write((tx) => deleteKey(tx, stored));
  verifier.forgetKey(stored.id);
  const late = verifier.verify(key);
  delayed.resolve();
  await early;
  assert.equal(await late, undefined);
  assert.equal(await verifier.verify(key), undefined);
});

test("a change of plan reaches the account's keys at once", async (t) => {
  const { store, verifier, key, account } = await openScene(t);
  assert.equal((await verifier.verify(key))?.plan, "pro");
  await store.write((tx) => updatePlan(tx, account.id, { plan: "enterprise", perMinute: 7, perDay: null }));
  verifier.forgetAccount(account.id);
  const verified = await verifier.verify(key);
  assert.equal(verified?.plan, "enterprise");
  assert.deepEqual(verified.quota, { perMinute: 7, perDay: 100_000 });
});

test("with more keys than the cache holds, every key works, and the oldest is read again", async (t) => {
  const { scene, store, verifier, key, account } = await openScene(t);
  assert.ok(await verifier.verify(key));
  const others = Array.from({ length: 10_000 }, () => makeKey(false));
  const terms = { accountId: account.id, publishable: false, scopes: ["orders:read"] as const, expiresAt: null };
  await store.write(async (tx) => {
    for (const other of others) await insertKey(tx, other, terms, start);
  });
  for (const other of others) await verifier.verify(other);
  const before = scene.reads;
  assert.ok(await verifier.verify(key));
  assert.equal(scene.reads, before + 1);
});

test("the last use is recorded to the minute and saved once a minute", async (t) => {
  const { scene, store, verifier, key, account } = await openScene(t);
  const lastUsed = async () => (await listKeys(store, account.id))[0]?.lastUsedAt;
  await verifier.verify(key);
  await verifier.saveUses();
  assert.equal(await lastUsed(), start - 30_000);
  scene.now = start + 29_999;
  await verifier.verify(key);
  await verifier.saveUses();
  assert.equal(scene.writes, 1);
  scene.now = start + 30_000;
  await verifier.verify(key);
  await verifier.saveUses();
  assert.equal(await lastUsed(), start + 30_000);
  assert.equal(scene.writes, 2);
});

test("a node without a lease reads every key from the database and caches none", async (t) => {
  const { scene, store, verifier, key, stored } = await openScene(t);
  await verifier.verify(key);
  scene.isLive = false;
  scene.reads = 0;
  assert.equal((await verifier.verify(key))?.keyId, stored.id);
  await Promise.all([verifier.verify(key), verifier.verify(key)]);
  assert.equal(scene.reads, 3);
  await store.write((tx) => deleteKey(tx, stored));
  assert.equal(await verifier.verify(key), undefined);
  assert.equal(verifier.verify("no key"), undefined);
});

test("a key read without a lease is not cached, and forgetAll drops every key", async (t) => {
  const { scene, verifier, key } = await openScene(t);
  scene.isLive = false;
  await verifier.verify(key);
  scene.isLive = true;
  assert.ok(verifier.verify(key) instanceof Promise);
  await verifier.verify(key);
  assert.ok(!(verifier.verify(key) instanceof Promise));
  verifier.forgetAll();
  assert.ok(verifier.verify(key) instanceof Promise);
});

test("a read that began with a lease and ended without one is not cached", async (t) => {
  const { scene, verifier, key } = await openScene(t);
  scene.afterRead = async () => void (scene.isLive = false);
  await verifier.verify(key);
  scene.afterRead = async () => undefined;
  scene.isLive = true;
  assert.ok(verifier.verify(key) instanceof Promise);
});
