import sql, { join } from "sql-template-tag";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { findRows, mergeRows } from "../../platform/db/index-walk.ts";
import { limitTo } from "../../platform/db/batches.ts";
import { int32Max } from "../../platform/http/schemas.ts";
import { byId } from "../../platform/ids.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import { addRecords, removeRecords } from "../../platform/storage-quotas.ts";
import { petStatuses, type PetStatus } from "../pets/pets.ts";
import { deriveStatus } from "../pets/pets.store.ts";
import { statusOfStock, type InventoryItem, type InventoryQuery } from "./inventory.ts";

/*
 * Stock changes only by single conditional statements, which lock the entry. Transactions that lock more rows do so in one
 * order, so that they cannot deadlock: orders by id, then entries by pet, then pets. A transaction that finds, after it has
 * locked a row, that it needs a lock of an earlier kind starts over instead of waiting for that lock. If the status changes
 * with the counts, a second statement writes it to the entry and to the pet: most changes leave it, and its indexes, alone.
 */

type ItemRow = { pet_id: number; quantity: number; held: number; status: PetStatus; version: number };

/** An entry with the version that its ETag shows. */
export type StoredItem = { item: InventoryItem; held: number; version: number };

const columns = sql`pet_id, quantity, held, status, version`;

/** Returns up to `limit` entries that pass the filters, by pet id, from above `afterPetId` on. */
export async function listItems(
  db: Database,
  accountId: number,
  { status, petId }: InventoryQuery,
  afterPetId: number,
  limit: number,
): Promise<StoredItem[]> {
  if (petId) return (await findItems(db, accountId, petId, status, afterPetId, limit)).map(fromRow);
  const walk = { table: "inventory", columns, accountId, order: ["pet_id"], after: [afterPetId] };
  const statuses = [...new Set(status)];
  const isFiltered = statuses.length > 0 && statuses.length < petStatuses.length;
  const walks = isFiltered ? statuses.map((value) => ({ ...walk, index: "inventory_by_status", equal: { status: value } })) : [walk];
  return (await db.query<ItemRow>(mergeRows(db.engine, walks, limit))).map(fromRow);
}

/** Returns the entries of these pets, a hundred at most. */
function findItems(
  db: Database,
  accountId: number,
  petIds: number[],
  status: PetStatus[] | undefined,
  afterPetId: number,
  limit: number,
): Promise<ItemRow[]> {
  const found = findRows(db.engine, { table: "inventory", columns, accountId, key: "pet_id" }, petIds);
  const withStatus = status ? sql`AND status IN (${join(status)})` : sql``;
  return db.query<ItemRow>(sql`
    SELECT * FROM (${found}) AS wanted WHERE pet_id > ${afterPetId} ${withStatus} ORDER BY pet_id ${limitTo(limit)}`);
}

/** @throws Problem `not_found` */
export async function findItem(db: Queryable, accountId: number, petId: number): Promise<StoredItem> {
  const rows = await db.query<ItemRow>(sql`SELECT ${columns} FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  return fromRow(rows[0] ?? absent(petId));
}

/** Locks the entry until the transaction ends. Returns undefined if the pet is untracked. */
export async function lockItem(tx: Transaction, accountId: number, petId: number): Promise<StoredItem | undefined> {
  const [row] = await tx.query<ItemRow>(sql`
    SELECT ${columns} FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}${tx.forUpdate}`);
  return row && fromRow(row);
}

/**
 * Returns if the pet, which is locked, has no entry; nobody can add one until the transaction ends. If one was added
 * before the pet was locked, starts over: the entry must be locked before the pet.
 */
export async function requireUntracked(tx: Transaction, accountId: number, petId: number): Promise<void> {
  const entries = await tx.query(sql`SELECT 1 FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  if (entries.length > 0) tx.startOver();
}

/** Locks the entries of several pets, in the common order. */
export async function lockItems(tx: Transaction, accountId: number, petIds: number[]): Promise<void> {
  await tx.query(sql`
    SELECT pet_id FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${join(petIds)}) ORDER BY pet_id${tx.forUpdate}`);
}

/**
 * Sets the number of free units of a pet that is locked, or begins tracking it.
 *
 * @throws Problem `storage_limit_reached` for a new entry
 */
export async function setQuantity(tx: Transaction, accountId: number, petId: number, quantity: number): Promise<StoredItem> {
  const rows = await tx.query<ItemRow>(sql`
    INSERT INTO inventory (account_id, pet_id, quantity, held, status, version)
    VALUES (${accountId}, ${petId}, ${quantity}, 0, ${statusOfStock({ quantity, held: 0 })}, 1)
    ON CONFLICT (account_id, pet_id) DO UPDATE SET quantity = excluded.quantity, version = inventory.version + 1
      WHERE excluded.quantity + inventory.held <= ${int32Max}
    RETURNING ${columns}`);
  const entry = await settle(tx, accountId, rows[0] ?? tooMany());
  if (entry.version > 1) return entry;
  await deriveStatus(tx, accountId, petId, entry.item.status); // An untracked pet may have any status.
  await addRecords(tx, accountId, 1);
  return entry;
}

/** Adds `delta` units; a negative number takes units away. @throws Problem `not_found`, `insufficient_stock` */
export async function adjustQuantity(tx: Transaction, accountId: number, petId: number, delta: number): Promise<StoredItem> {
  if (delta === 0) return (await lockItem(tx, accountId, petId)) ?? absent(petId);
  const entry = await change(tx, accountId, petId, delta, 0);
  if (entry) return entry;
  const { item } = (await lockItem(tx, accountId, petId)) ?? absent(petId);
  // Retry once: the entry may have come or changed after the first attempt.
  const late = await change(tx, accountId, petId, delta, 0);
  if (late) return late;
  if (delta > 0) return tooMany();
  throw insufficient(petId, item.quantity);
}

/** Locks the open orders that hold units of the pet, then its entry, and returns the entry. @throws Problem `not_found` */
export async function lockItemWithOrders(tx: Transaction, accountId: number, petId: number): Promise<StoredItem> {
  const holding = sql`account_id = ${accountId} AND pet_id = ${petId} AND complete = FALSE AND held > 0`;
  await tx.query(sql`SELECT id FROM orders WHERE ${holding} ORDER BY id${tx.forUpdate}`);
  const item = (await lockItem(tx, accountId, petId)) ?? absent(petId);
  // Orders may have been placed before the entry was locked. Waiting for one of them could deadlock: its lock comes first.
  const [counted] = await tx.query<{ locked: number; holding: number }>(sql`
    WITH locked AS (SELECT id FROM orders WHERE ${holding}${tx.skipLocked("orders")})
    SELECT (SELECT COUNT(*) FROM locked) AS locked, (SELECT COUNT(*) FROM orders WHERE ${holding}) AS holding`);
  if (counted!.locked < counted!.holding) tx.startOver();
  return item;
}

/** Ends tracking: deletes the entry that `lockItemWithOrders` has locked, and its orders hold nothing. The pet keeps its status. */
export async function deleteItem(tx: Transaction, accountId: number, petId: number): Promise<void> {
  await tx.query(sql`DELETE FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  await tx.query(sql`UPDATE orders SET held = 0 WHERE account_id = ${accountId} AND pet_id = ${petId} AND complete = FALSE AND held > 0`);
  await removeRecords(tx, accountId, 1);
}

/** Takes free units for an open order. Returns false, and changes nothing, if no entry has that many. */
export async function takeUnits(tx: Transaction, accountId: number, petId: number, units: number): Promise<boolean> {
  return (await change(tx, accountId, petId, -units, units)) !== undefined;
}

/** Gives back units that an open order held. */
export async function giveBackUnits(tx: Transaction, accountId: number, petId: number, units: number): Promise<void> {
  if (!(await change(tx, accountId, petId, units, -units))) lost(petId);
}

/** Sells units that an open order held. */
export async function sellUnits(tx: Transaction, accountId: number, petId: number, units: number): Promise<void> {
  if (!(await change(tx, accountId, petId, 0, -units))) lost(petId);
}

/** Returns the refusal of more units than are free. */
export function insufficient(petId: number, free: number): Problem {
  return new Problem("insufficient_stock", `Pet ${petId} has ${free} free ${free === 1 ? "unit" : "units"}, which is too few.`);
}

async function change(tx: Transaction, accountId: number, petId: number, free: number, held: number): Promise<StoredItem | undefined> {
  const [row] = await tx.query<ItemRow>(sql`
    UPDATE inventory SET quantity = quantity + ${free}, held = held + ${held}, version = version + 1
    WHERE account_id = ${accountId} AND pet_id = ${petId}
      AND quantity + ${free} >= 0 AND held + ${held} >= 0 AND quantity + ${free} + held + ${held} <= ${int32Max}
    RETURNING ${columns}`);
  return row && settle(tx, accountId, row);
}

/** Writes the status that follows from changed counts, if it differs. */
async function settle(tx: Transaction, accountId: number, row: ItemRow): Promise<StoredItem> {
  const status = statusOfStock(row);
  if (status !== row.status) {
    await tx.query(sql`UPDATE inventory SET status = ${status} WHERE account_id = ${accountId} AND pet_id = ${row.pet_id}`);
    await deriveStatus(tx, accountId, row.pet_id, status);
  }
  return fromRow({ ...row, status });
}

function fromRow({ pet_id: petId, quantity, held, status, version }: ItemRow): StoredItem {
  return { item: { petId, quantity, status }, held, version };
}

function absent(petId: number): never {
  throw new Problem("not_found", `${byId("Pet", petId)} has no inventory entry.`);
}

function tooMany(): never {
  const message = `must not exceed ${int32Max} together with the units that open orders hold`;
  throw invalidAt("body", message, `The count ${message}.`);
}

function lost(petId: number): never {
  throw new Error(`the entry of pet ${petId} no longer has the units that an order holds`);
}
