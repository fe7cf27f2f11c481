import assert from "node:assert/strict";
import { test } from "node:test";
import sql, { type Sql } from "sql-template-tag";
import { checkFolder, checkPostgres } from "../src/backup/check.ts";
import { allNumbered } from "./support/event-log.ts";
import { newDatabase } from "./support/postgres.ts";
import { engine, startService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

test("the check of the events finds a changed row, a changed, a missing and a removed event, and nothing in data that is whole", async (t) => {
  const shared = engine === "postgres" ? await newDatabase(undefined, { migrated: true }) : undefined;
  t.after(() => shared?.drop());
  const service = await startService(shared && { env: { DATABASE_URL: shared.url } });
  t.after(() => service.close());
  const { db, accountId, dataDir } = service;
  const category = await newCategory(service, "Dogs");
  const pet = await newPet(service, category.id);
  const gone = await newPet(service, category.id);
  await made(service, "PUT", `/store/inventory/${pet.id}`, { quantity: 5 });
  const order = await made<{ id: number }>(service, "POST", "/store/orders", { petId: pet.id, shipDate: "2026-12-24T10:00:00Z" });
  await made(service, "POST", "/store/orders", { petId: pet.id, quantity: 2, complete: true });
  await made(service, "DELETE", `/pets/${gone.id}`);
  await allNumbered(db);
  const check = () => (shared ? checkPostgres(shared.url, undefined, true) : checkFolder(dataDir, undefined, true));
  const whole = await check();
  assert.deepEqual(whole.faults, []);
  assert.deepEqual([whole.events?.resources, whole.events?.unchecked], [6, 0]);

  /** The faults while a change is in place that no event tells of. */
  const faultsAfter = async (change: Sql, undo: Sql) => {
    await db.write((tx) => tx.query(change));
    const { faults } = await check();
    await db.write((tx) => tx.query(undo));
    assert.deepEqual((await check()).faults, []);
    return faults.filter((fault) => !fault.includes("Idempotency"));
  };
  const own = sql`account_id = ${accountId}`;
  const [lowered] = await faultsAfter(
    sql`UPDATE inventory SET quantity = quantity - 1 WHERE ${own}`,
    sql`UPDATE inventory SET quantity = quantity + 1 WHERE ${own}`,
  );
  assert.match(lowered ?? "", new RegExp(`inventory/${pet.id} of account ${accountId} is not as its newest event`));
  const [renamed] = await faultsAfter(
    sql`UPDATE events SET text = replace(text, 'Rex', 'Max') WHERE ${own} AND type = 'pet.created' AND resource = ${`pet/${pet.id}`}`,
    sql`UPDATE events SET text = replace(text, 'Max', 'Rex') WHERE ${own} AND type = 'pet.created' AND resource = ${`pet/${pet.id}`}`,
  );
  assert.match(renamed ?? "", /broken at event \d+: its hash does not follow/);
  const [shifted] = await faultsAfter(
    sql`UPDATE events SET position = position + 100 WHERE ${own} AND type = 'order.created' AND resource = ${`order/${order.id}`}`,
    sql`UPDATE events SET position = position - 100 WHERE ${own} AND type = 'order.created' AND resource = ${`order/${order.id}`}`,
  );
  assert.match(shifted ?? "", /has no event \d+/);
  const [vanished] = await faultsAfter(
    sql`UPDATE orders SET id = -id WHERE ${own} AND id = ${order.id}`,
    sql`UPDATE orders SET id = -id WHERE ${own} AND id < 0`,
  );
  assert.match(vanished ?? "", new RegExp(`order/${order.id} of account ${accountId} is gone`));

  const [newest] = await db.query<{ position: number; bytes: number }>(sql`
    SELECT position, octet_length(text) + 256 AS bytes FROM events WHERE ${own} ORDER BY position DESC LIMIT 1`);
  await db.write((tx) => tx.query(sql`DELETE FROM events WHERE ${own} AND position = ${newest!.position}`));
  assert.match(
    (await check()).faults.join("\n"),
    new RegExp(`the event log of account ${accountId} has \\d+ bytes and 0 of the audit, and its storage`),
  );
  await db.write((tx) => tx.query(sql`UPDATE event_storage SET log_bytes = log_bytes - ${newest!.bytes} WHERE ${own}`));
  assert.match((await check()).faults[0] ?? "", new RegExp(`pet/${gone.id} of account ${accountId} is gone`));
  if (engine !== "postgres") return;
  await db.write((tx) => tx.query(sql`INSERT INTO older_nodes (id, seen_at) VALUES (1, 0)`));
  const beside = await check();
  assert.deepEqual([beside.faults, beside.events?.unchecked], [[], 1]);
});
