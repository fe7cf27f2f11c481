import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import sql, { raw } from "sql-template-tag";
import { openEmpty } from "../../../test/support/databases.ts";
import type { Database } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { systemOrigin } from "../../platform/events.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { placeOrders, type OrderRequest } from "./orders.store.ts";
import type { OrderFields } from "./orders.ts";

const [accountId, neighbour] = [1, 2];
const [plenty, scarce, untracked, sold, unknown] = [1, 2, 3, 4, 99];
const scarceUnits = 5;

/** Two accounts with a plentiful, a scarce, an untracked and a sold pet each. */
async function openShops(t: TestContext, records = 10_000): Promise<Database> {
  const db = openEmpty(t);
  await migrate(db, 0);
  await db.write(async (tx) => {
    for (const account of [accountId, neighbour]) {
      await tx.script(`
        INSERT INTO accounts (id, name, plan, created_at) VALUES (${account}, 'Shop', 'pro', 0);
        INSERT INTO categories (account_id, id, name, name_key, description, version) VALUES (${account}, 1, 'Dogs', 'dogs', NULL, 1);
        INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
          VALUES (${account}, ${plenty}, 'A', 'a', 1, 'available', 1), (${account}, ${scarce}, 'B', 'b', 1, 'available', 1),
          (${account}, ${untracked}, 'C', 'c', 1, 'available', 1), (${account}, ${sold}, 'D', 'd', 1, 'sold', 1);
        INSERT INTO inventory (account_id, pet_id, quantity, held, status, version)
          VALUES (${account}, ${plenty}, 1000, 0, 'available', 1), (${account}, ${scarce}, ${scarceUnits}, 0, 'available', 1);`);
      await setStorageLimits(tx, account, { records, publishedBytes: 0 });
    }
  });
  return db;
}

const requestFor = (fields: Partial<OrderFields>, account = accountId): OrderRequest => ({
  accountId: account,
  fields: { petId: plenty, quantity: 1, shipDate: null, complete: false, ...fields },
  origin: systemOrigin,
});

/** Orders of every kind, in two accounts: open, complete and draft orders, for tracked, untracked, sold and unknown pets. */
const requests = Array.from({ length: 60 }, (_, i) => {
  const petId = [plenty, plenty, scarce, untracked, null, sold, unknown, plenty, scarce, plenty][i % 10]!;
  return requestFor({ petId, quantity: petId === scarce ? 1 : 1 + (i % 3), complete: i % 7 === 6 }, i % 4 === 3 ? neighbour : accountId);
});

/** Places all orders. Returns the outcome of each, sorted, and the contents of the tables afterwards. */
async function outcomeOf(db: Database, isTogether: boolean) {
  const outcomes: string[] = [];
  const ids = new Set<number>();
  const settle = async (request: OrderRequest): Promise<void> => {
    const { petId, quantity, complete } = request.fields;
    const result = await db.batch(placeOrders, request).then(
      (order) => {
        ids.add(order.id);
        return { fields: order.fields, held: order.held };
      },
      (error: { code: string }) => error.code,
    );
    outcomes.push(JSON.stringify([request.accountId, petId, quantity, complete, result]));
  };
  if (isTogether) await Promise.all(requests.map(settle));
  else for (const request of requests) await settle(request);
  const table = (text: string) => db.query(raw(text));
  const tables = await Promise.all(
    [
      "SELECT account_id, pet_id, quantity, held, status, version FROM inventory ORDER BY account_id, pet_id",
      "SELECT account_id, id, status, version FROM pets ORDER BY account_id, id",
      "SELECT account_id, pet_id, quantity, held, complete, version, count(*) AS n FROM orders GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5",
      "SELECT account_id, SUM(used) AS used FROM storage_quotas WHERE kind = 'records' GROUP BY 1 ORDER BY 1",
    ].map(table),
  );
  return { outcomes: outcomes.toSorted(), ids: ids.size, tables };
}

test("orders placed together give the same stock, versions, counts and refusals as orders placed one after the other", async (t) => {
  const together = await outcomeOf(await openShops(t), true);
  const alone = await outcomeOf(await openShops(t), false);
  const withoutScarce = (outcomes: string[]) => outcomes.filter((line) => !line.includes(`,${scarce},1,`));
  assert.deepEqual(withoutScarce(together.outcomes), withoutScarce(alone.outcomes));
  assert.deepEqual(together.ids, alone.ids);
  assert.deepEqual(together.tables.slice(0, 2), alone.tables.slice(0, 2));
  assert.deepEqual(together.tables[3], alone.tables[3]);
  for (const { outcomes } of [together, alone]) {
    const accepted = outcomes.filter((line) => line.startsWith(`[${accountId},${scarce},1,`) && !line.includes("insufficient_stock"));
    assert.equal(accepted.length, scarceUnits);
  }
});

test("orders placed together may fill the account's storage limit, but never exceed it", async (t) => {
  const db = await openShops(t, 0);
  await db.write((tx) => setStorageLimits(tx, accountId, { records: 7, publishedBytes: 0 }));
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => db.batch(placeOrders, requestFor({}))));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 7);
  const [stock] = await db.query<{ quantity: number; held: number }>(sql`
    SELECT quantity, held FROM inventory WHERE account_id = ${accountId} AND pet_id = ${plenty}`);
  assert.deepEqual({ ...stock }, { quantity: 993, held: 7 });
});

test("a pet becomes pending when orders placed together take all its units", async (t) => {
  const db = await openShops(t);
  await Promise.all(Array.from({ length: scarceUnits }, () => db.batch(placeOrders, requestFor({ petId: scarce }))));
  const [pet] = await db.query(sql`SELECT status, version FROM pets WHERE account_id = ${accountId} AND id = ${scarce}`);
  assert.deepEqual({ ...pet }, { status: "pending", version: 2 });
});
