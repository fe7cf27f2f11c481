import sql, { join, raw, type Sql } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { contactFields, keysOf, type Contact } from "./contacts.ts";

/*
 * The contact of an order is personal data (specification 2.9). It is in this table alone: no event, no webhook, no stored answer and no line of the
 * log has it. It is deleted with its order, by the database itself; at the shop's request; and once its order has been complete for the shop's period.
 */

type ContactRow = { order_id: number; version: number } & { [F in (typeof contactFields)[number]]: string | null };

/** A contact with the version that its ETag shows. */
export type StoredContact = { orderId: number; contact: Contact; version: number };

const columns = raw(`order_id, ${contactFields.join(", ")}, version`);

/** Returns undefined if the order has no contact. */
export async function findContact(db: Queryable, accountId: number, orderId: number): Promise<StoredContact | undefined> {
  const [row] = await db.query<ContactRow>(sql`SELECT ${columns} FROM contacts WHERE account_id = ${accountId} AND order_id = ${orderId}`);
  return row && fromRow(row);
}

/** When an order was completed, in ms since the Unix epoch: null while it is open, or if the service did not note it. */
export type Completion = { isComplete: boolean; completedAt: number | null };

/** Locks the order, so that neither it nor its contact changes until the transaction ends. @throws Problem `not_found` */
export async function lockOrder(tx: Transaction, accountId: number, orderId: number): Promise<Completion> {
  const [row] = await tx.query<{ complete: boolean | number; completed_at: number | null }>(
    sql`SELECT complete, completed_at FROM orders WHERE account_id = ${accountId} AND id = ${orderId}${tx.forUpdate}`,
  );
  if (!row) throw new Problem("not_found", `There is no ${byId("order", orderId)}.`);
  return { isComplete: Boolean(row.complete), completedAt: row.completed_at };
}

/**
 * Writes the contact of a locked order, and returns it.
 *
 * @param completedAt when the order was completed; null for an open one, whose completion sets it
 */
export async function writeContact(
  tx: Transaction,
  accountId: number,
  orderId: number,
  contact: Contact,
  completedAt: number | null,
): Promise<StoredContact> {
  const values = contactFields.map((field) => contact[field] ?? null);
  const { email, phone } = keysOf(contact);
  const [row] = await tx.query<ContactRow>(sql`
    INSERT INTO contacts (account_id, order_id, ${raw(contactFields.join(", "))}, email_key, phone_key, completed_at, version)
    VALUES (${accountId}, ${orderId}, ${join(values)}, ${email}, ${phone}, ${completedAt}, 1)
    ON CONFLICT (account_id, order_id) DO UPDATE SET
      ${raw(contactFields.map((field) => `${field} = excluded.${field}`).join(", "))},
      email_key = excluded.email_key, phone_key = excluded.phone_key, version = contacts.version + 1
    RETURNING ${columns}`);
  return fromRow(row!);
}

/** Deletes the contacts of these orders, and returns of which. */
export async function deleteContacts(tx: Transaction, accountId: number, orderIds: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ order_id: number }>(
    sql`DELETE FROM contacts WHERE account_id = ${accountId} AND order_id IN (${join([...orderIds])}) RETURNING order_id`,
  );
  return rows.map((row) => row.order_id);
}

/** Reads up to `limit` contacts of an account, by order, of the orders after this one. */
export async function readContacts(db: Queryable, accountId: number, after: number, limit: number): Promise<StoredContact[]> {
  const rows = await db.query<ContactRow>(
    sql`SELECT ${columns} FROM contacts WHERE account_id = ${accountId} AND order_id > ${after} ORDER BY order_id ${limitTo(limit)}`,
  );
  return rows.map(fromRow);
}

/** The most accounts of one read. */
const accountsMax = 1_000;

/** Deletes the contacts whose order has been complete for as many days as their account keeps them. */
export async function expireContacts(db: Database, now: number): Promise<void> {
  const oldest = sql`SELECT MIN(completed_at) FROM contacts WHERE account_id = accounts.id AND completed_at IS NOT NULL`;
  await forExpired(db, now, oldest, (accountId, before) => deleteCompleted(db, accountId, before));
}

/**
 * Calls `expire` for each account that has rows from before the time up to which it keeps contacts.
 *
 * @param oldest selects the time of the oldest row of `accounts.id`
 */
export async function forExpired(
  db: Database,
  now: number,
  oldest: Sql,
  expire: (accountId: number, before: number) => Promise<void>,
): Promise<void> {
  for (let after = 0; ;) {
    const some = sql`SELECT id, contact_days AS days, (${oldest}) AS oldest FROM accounts WHERE id > ${after} ORDER BY id ${limitTo(accountsMax)}`;
    const accounts = await db.scan(() => db.query<{ id: number; days: number; oldest: number | null }>(some));
    for (const { id, days, oldest: time } of accounts) {
      const before = now - days * dayMs;
      if (time !== null && time <= before) await expire(id, before);
    }
    if (accounts.length < accountsMax) return;
    after = accounts.at(-1)!.id;
  }
}

async function deleteCompleted(db: Database, accountId: number, before: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM contacts WHERE account_id = ${accountId} AND order_id IN
        (SELECT order_id FROM contacts WHERE account_id = ${accountId} AND completed_at <= ${before} ${limit}) RETURNING 1`,
  );
}

function fromRow({ order_id: orderId, version, ...row }: ContactRow): StoredContact {
  const contact = Object.fromEntries(contactFields.flatMap((field) => (row[field] === null ? [] : [[field, row[field]]])));
  return { orderId, contact, version };
}
