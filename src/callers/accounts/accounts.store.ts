import sql, { raw, type Sql } from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Row, Transaction } from "../../platform/db/database.ts";
import { setEventBytesMax } from "../../platform/event-storage.ts";
import { fieldsBefore } from "../../platform/events.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { storageLimits, type Account, type AccountSettings, type Plan, type PlanStorage, type PlanTerms } from "./accounts.ts";

const columns = raw("id, name, plan, per_minute, per_day, low_stock, contact_days, currency, created_at");

/** Adds an account. `now` is in ms since the Unix epoch. Default of `storage`: the plan's limits. */
export async function insertAccount(
  tx: Transaction,
  name: string,
  terms: PlanTerms,
  now: number,
  storage: PlanStorage = storageLimits(terms),
): Promise<Account> {
  const rows = await tx.query(sql`
    INSERT INTO accounts (id, name, plan, per_minute, per_day, created_at)
    VALUES (nextval('account_ids'), ${name}, ${terms.plan}, ${terms.perMinute}, ${terms.perDay}, ${now})
    RETURNING ${columns}`);
  const account = accountOf(rows[0]!);
  await setStorageLimits(tx, account.id, storage);
  await setEventBytesMax(tx, account.id, storage.eventBytes);
  return account;
}

/** Lists up to `limit` accounts with an id above `after`, by id. */
export async function listAccounts(db: Queryable, after: number, limit: number): Promise<Account[]> {
  const rows = await db.query(sql`SELECT ${columns} FROM accounts WHERE id > ${after} ORDER BY id ${limitTo(limit)}`);
  return rows.map(accountOf);
}

/** Finds an account; undefined if there is none. */
export async function findAccount(db: Queryable, id: number): Promise<Account | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM accounts WHERE id = ${id}`);
  return rows[0] && accountOf(rows[0]);
}

/**
 * Changes an account's plan, and returns the account; undefined if there is none.
 *
 * @param storage default: the plan's limits
 * @param keepsEvents whether the account keeps the events that it holds, even above the limit, until they grow old
 */
export async function updatePlan(
  tx: Transaction,
  id: number,
  terms: PlanTerms,
  storage: PlanStorage = storageLimits(terms),
  keepsEvents = true,
): Promise<Account | undefined> {
  const [before] = await tx.query(sql`SELECT ${columns} FROM accounts WHERE id = ${id}${tx.forUpdate}`);
  const rows = await tx.query(sql`
    UPDATE accounts SET plan = ${terms.plan}, per_minute = ${terms.perMinute}, per_day = ${terms.perDay}
    WHERE id = ${id} RETURNING ${columns}`);
  if (!before || !rows[0]) return undefined;
  await setStorageLimits(tx, id, storage);
  await setEventBytesMax(tx, id, storage.eventBytes, { keeps: keepsEvents });
  const updated = accountOf(rows[0]);
  recordPlan(tx, accountOf(before), updated);
  return updated;
}

/** Changes an account's name and settings. Its event does not hold the name: events of accounts, keys and members hold no names. */
export async function updateAccount(tx: Transaction, id: number, asked: Partial<AccountSettings>): Promise<void> {
  const [row] = await tx.query(sql`SELECT ${columns} FROM accounts WHERE id = ${id}${tx.forUpdate}`);
  if (!row) return;
  const before = accountOf(row);
  const after = { ...before, ...asked };
  const settingsOf = ({ lowStock, contactDays, currency }: AccountSettings) => ({ lowStock, contactDays, currency });
  const previous = fieldsBefore(settingsOf(before), settingsOf(after));
  if (after.name === before.name && Object.keys(previous).length === 0) return;
  const { name, lowStock, contactDays, currency } = after;
  await tx.query(
    sql`UPDATE accounts SET name = ${name}, low_stock = ${lowStock}, contact_days = ${contactDays}, currency = ${currency} WHERE id = ${id}`,
  );
  const data = { id, ...settingsOf(after) };
  tx.record({ accountId: id, type: "account.updated", resource: { type: "account", id }, data, previous });
}

function recordPlan(tx: Transaction, before: Account, after: Account): void {
  const termsOf = ({ plan, perMinute, perDay }: Account) => ({ plan, perMinute, perDay });
  const previous = fieldsBefore(termsOf(before), termsOf(after));
  if (Object.keys(previous).length === 0) return;
  const { id } = after;
  tx.record({ accountId: id, type: "account.plan_changed", resource: { type: "account", id }, data: { id, ...termsOf(after) }, previous });
}

/** The tables with rows of accounts, and each table's key within an account. A table comes before the tables that it references. */
const ownedTables = [
  { table: "members", key: "id" },
  { table: "keys", key: "id" },
  { table: "usage", key: "step, kind, start, name" },
  { table: "request_log", key: "position" },
  { table: "saved_views", key: "id" },
  { table: "page_views", key: "day" },
  { table: "idempotency", key: "target, key" },
  { table: "reservations", key: "id" },
  { table: "contacts", key: "order_id" },
  { table: "orders", key: "id" },
  { table: "bin", key: "pet_id" },
  { table: "inventory", key: "pet_id" },
  { table: "pets", key: "id" },
  { table: "categories", key: "id" },
  { table: "webhook_deliveries", key: "webhook_id, id" },
  { table: "webhooks", key: "id" },
  { table: "event_outbox", key: "id" },
  { table: "events", key: "position" },
  { table: "event_starts", key: "position" },
  { table: "audit_storage", key: "day, type" },
];

/**
 * Deletes an account with everything that it owns. Members and keys go first, so nobody can add anything during the deletion. Each
 * transaction deletes a thousand rows, so other accounts' writes do not wait for a large shop. If a call is interrupted, the next
 * one finishes the deletion.
 *
 * @param onKeysDeleted called when the account has no keys left
 * @returns whether there was such an account
 */
export async function deleteAccount(db: Database, id: number, onKeysDeleted: () => void): Promise<boolean> {
  for (const { table, key } of ownedTables) {
    const some = (limit: Sql): Sql => sql`
      DELETE FROM ${raw(table)} WHERE account_id = ${id} AND (${raw(key)}) IN
        (SELECT ${raw(key)} FROM ${raw(table)} WHERE account_id = ${id} ${limit}) RETURNING 1`;
    await writeInBatches(db, some);
    if (table === "keys") onKeysDeleted();
  }

  return db.write(async (tx) => {
    // Requests that began before the keys were deleted may have added a few rows since.
    for (const { table } of ownedTables) await tx.query(sql`DELETE FROM ${raw(table)} WHERE account_id = ${id}`);
    return (await tx.query(sql`DELETE FROM accounts WHERE id = ${id} RETURNING id`)).length > 0;
  });
}

function accountOf(row: Row): Account {
  return {
    id: Number(row["id"]),
    name: String(row["name"]),
    plan: row["plan"] as Plan,
    perMinute: row["per_minute"] === null ? null : Number(row["per_minute"]),
    perDay: row["per_day"] === null ? null : Number(row["per_day"]),
    lowStock: Number(row["low_stock"]),
    contactDays: Number(row["contact_days"]),
    currency: row["currency"] as string | null,
    createdAt: Number(row["created_at"]),
  };
}
