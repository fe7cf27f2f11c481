import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { insertKey } from "../src/callers/keys/keys.store.ts";
import { keysMax, makeKey } from "../src/callers/keys/keys.ts";
import { Problem } from "../src/platform/problem.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase, rowsOf } from "./support/postgres.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { fillWithExamples } from "./support/shop.ts";
import { until } from "./support/until.ts";

const hourMs = 3_600_000;
let now = Date.UTC(2027, 0, 1);
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
  await fillWithExamples(shop);
});
after(() => shop.close());

type Terms = { scopes?: string[]; expires?: string; publishable?: boolean; origins?: string[]; name?: string };
const newKey = (terms: Terms = {}, account = shop.accountId) => shop.administration["keys.create"]({ account, ...terms });
const statusWith = async (key: string, path = "/pets") => (await shop.ask("GET", path, { key })).status;

test("a rotated key works alongside its successor for 24 hours by default, and no longer", async () => {
  const old = await newKey({ scopes: ["catalogue:read"] });
  assert.equal(await statusWith(old.key), 200);
  const next = await shop.administration["keys.rotate"]({ id: old.id });
  assert.deepEqual(next.scopes, ["catalogue:read"]);
  assert.deepEqual([await statusWith(old.key), await statusWith(next.key)], [200, 200]);
  now += 24 * hourMs - 1;
  assert.equal(await statusWith(old.key), 200);
  now += 1;
  assert.deepEqual([await statusWith(old.key), await statusWith(next.key)], [401, 200]);

  const last = await shop.administration["keys.rotate"]({ id: next.id, overlapHours: 0 });
  assert.deepEqual([await statusWith(next.key), await statusWith(last.key)], [401, 200]);
});

test("a revoked key is refused as soon as the revocation has returned", async () => {
  const { id, key } = await newKey();
  assert.equal(await statusWith(key), 200);
  await shop.administration["keys.revoke"]({ id });
  assert.equal(await statusWith(key), 401);
});

test("requests in progress while their account is deleted succeed or are refused, and never fail", async (t) => {
  const other = await startService();
  t.after(() => other.close());
  const { id, key } = await other.newAccount();
  const orders = Array.from({ length: 200 }, () => other.ask("POST", "/store/orders", { key, body: {} }));
  const categories = Array.from({ length: 50 }, (_, i) => other.ask("POST", "/categories", { key, body: { name: `Category ${i}` } }));
  await other.administration["accounts.delete"]({ id });
  // after the deletion, requests count on the caller's address, which has a small limit
  for (const { status } of await Promise.all([...orders, ...categories])) assert.ok([201, 401, 429].includes(status), String(status));
});

test("the keys of a deleted account are refused as soon as the deletion has returned", async () => {
  const { id, key } = await shop.newAccount();
  assert.equal(await statusWith(key), 200);
  await shop.administration["accounts.delete"]({ id });
  assert.equal(await statusWith(key), 401);
});

test("a change of plan takes effect as soon as it has returned", async () => {
  const { id, key } = await shop.newAccount("free");
  const limit = async () => (await shop.ask("GET", "/pets", { key })).headers.get("x-ratelimit-limit");
  assert.equal(await limit(), "60");
  await shop.administration["accounts.setPlan"]({ id, plan: "business" });
  assert.equal(await limit(), "1000");
});

test("lastUsedAt is kept to the minute", async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startService({ dataDir, clock: () => Date.UTC(2027, 0, 1, 12, 34, 56) });
  await service.ask("GET", "/pets");
  await service.close();
  const next = await startService({ dataDir });
  const { keys } = await next.administration["keys.list"]({ account: service.accountId });
  await next.close();
  assert.equal(keys[0]?.lastUsedAt, "2027-01-01T12:34:00Z");
});

test("only the SHA-256 and the first characters of a key are stored", async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startService({ dataDir });
  await service.ask("GET", "/pets");
  await service.close();
  const files = readdirSync(dataDir).map((file) => readFileSync(join(dataDir, file), "latin1"));
  if (engine === "postgres") files.push(await rowsOf((await newDatabase(dataDir)).url, "keys"));
  assert.ok(files.some((text) => text.includes(service.key.slice(0, 8))));
  assert.ok(!files.some((text) => text.includes(service.key.slice(4, 20))));
});

test("of keys created at the same time, only as many succeed as the account may have", async () => {
  const { id } = await shop.newAccount();
  const terms = { accountId: id, scopes: [], publishable: false, expiresAt: null };
  await shop.db.write(async (tx) => {
    for (let made = 1; made < keysMax - 9; made++) await insertKey(tx, makeKey(false), terms, now);
  });
  const made = await Promise.allSettled(Array.from({ length: 20 }, () => newKeyWhenFree(id)));
  const refusals = made.filter((one) => one.status === "rejected").map(({ reason }) => (reason as Error).message);
  assert.deepEqual(
    refusals,
    Array.from({ length: 11 }, () => `The account has ${keysMax} keys already: revoke some first.`),
  );
});

/** Creates a key, however long a busy machine lets it wait for the keys before it. */
async function newKeyWhenFree(account: number): Promise<void> {
  await until(() =>
    newKey({}, account).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Problem && error.code === "unavailable") return false;
        throw error;
      },
    ),
  );
}
