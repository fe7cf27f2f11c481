import sql, { join, raw } from "sql-template-tag";
import type { Transaction } from "../../platform/db/database.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import { fieldsBefore, type EventDraft, type Origin } from "../../platform/events.ts";
import type { PetStatus } from "../pets/pets.ts";
import { lockPets } from "../pets/pets.store.ts";
import type { StoredPet } from "../pets/shown-pets.store.ts";
import { statusOfStock, type InventoryItem } from "./inventory.ts";

export type ItemRow = [petId: number, quantity: number, held: number, status: PetStatus, version: number];

/** An entry with the version that its ETag shows. */
export type StoredItem = { item: InventoryItem; held: number; version: number };

/** The columns of an entry, in the order of `ItemRow`. */
export const columnNames = "pet_id, quantity, held, status, version";
export const columns = raw(columnNames);

/** Records the events of a changed count. @param before the entry before the change; `{}` if it is new */
export function recordCount(
  tx: Transaction,
  accountId: number,
  before: Partial<InventoryItem>,
  after: StoredItem,
  lowStock: number,
  origin?: Origin,
): void {
  const { quantity, status } = after.item;
  const freeBefore = before.quantity ?? 0;
  if (quantity === before.quantity && status === before.status) return;
  const known = { petId: after.item.petId, ...before };
  const previous = fieldsBefore(known, after.item);
  tx.record({ ...eventOf(accountId, "inventory.updated", after), previous }, origin);
  if (freeBefore > lowStock && quantity <= lowStock) tx.record({ ...eventOf(accountId, "inventory.low", after), previous }, origin);
  if (freeBefore > 0 && quantity === 0) tx.record({ ...eventOf(accountId, "inventory.out", after), previous }, origin);
}

export function eventOf(accountId: number, type: EventDraft["type"], { item, version }: StoredItem): EventDraft {
  return { accountId, type, resource: { type: "inventory", id: item.petId }, data: item, version };
}

export function fromRow([petId, quantity, held, status, version]: ItemRow): StoredItem {
  return { item: { petId, quantity, status }, held, version };
}

/* Changes of the stock of many pets at once, in few statements. The caller sees to the status of each pet. */

/** The most rows of one statement. */
const rowsAtOnceMax = 250;

const insertRows = statementOfRows(`
  INSERT INTO inventory (account_id, pet_id, quantity, held, status, version)
  SELECT CAST(added.value ->> 3 AS BIGINT), CAST(added.value ->> 0 AS BIGINT), CAST(added.value ->> 1 AS BIGINT), 0, added.value ->> 2, 1 FROM ROWS AS added`);
const updateRows = statementOfRows(`
  UPDATE inventory SET quantity = CAST(changed.value ->> 1 AS BIGINT), status = changed.value ->> 2, version = version + 1
  FROM ROWS AS changed WHERE account_id = CAST(changed.value ->> 3 AS BIGINT) AND pet_id = CAST(changed.value ->> 0 AS BIGINT)`);

/** Pets and inventory entries, by pet. */
export type PetsWithEntries = { pets: Map<number, StoredPet>; entries: Map<number, StoredItem> };

/** Locks the entries of these pets, then the pets, in the common order. Returns those that exist. */
export async function lockPetsWithEntries(tx: Transaction, accountId: number, ids: readonly number[]): Promise<PetsWithEntries> {
  if (ids.length === 0) return { pets: new Map(), entries: new Map() };
  const find = sql`SELECT ${columns} FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${join([...ids])}) ORDER BY pet_id`;
  const rows = await tx.query<EntryRow>(sql`${find}${tx.forUpdate}`);
  const pets = await lockPets(tx, accountId, ids);
  // Entries may have been added before the pets were locked. They must be locked before the pets, so the transaction starts over.
  if ((await tx.query(find)).length > rows.length) tx.startOver();
  const entries = rows.map(({ pet_id: id, quantity, held, status, version }) => fromRow([id, quantity, held, status, version]));
  return { pets, entries: new Map(entries.map((entry) => [entry.item.petId, entry])) };
}

type EntryRow = { pet_id: number; quantity: number; held: number; status: PetStatus; version: number };

/** Begins to track locked or new pets. */
export async function addEntries(
  tx: Transaction,
  accountId: number,
  counts: readonly { petId: number; quantity: number }[],
): Promise<void> {
  await writeRows(tx, accountId, insertRows, counts);
  for (const { petId, quantity } of counts) {
    recordCount(tx, accountId, {}, fromRow([petId, quantity, 0, statusOfStock({ quantity, held: 0 }), 1]), 0);
  }
}

/** Sets the number of free units of locked entries. */
export async function setCounts(
  tx: Transaction,
  accountId: number,
  changes: readonly { current: StoredItem; quantity: number }[],
): Promise<void> {
  if (changes.length === 0) return;
  const [account] = await tx.query<{ low_stock: number }>(sql`SELECT low_stock FROM accounts WHERE id = ${accountId}`);
  await writeRows(
    tx,
    accountId,
    updateRows,
    changes.map(({ current: { item, held }, quantity }) => ({ petId: item.petId, quantity, held })),
  );
  for (const { current, quantity } of changes) {
    const { item, held, version } = current;
    const after = fromRow([item.petId, quantity, held, statusOfStock({ quantity, held }), version + 1]);
    recordCount(tx, accountId, item, after, account?.low_stock ?? 0);
  }
}

/** Ends the tracking of locked pets whose entries no open order holds units of. */
export async function deleteEntries(tx: Transaction, accountId: number, entries: readonly StoredItem[]): Promise<void> {
  if (entries.length === 0) return;
  const ids = join(entries.map(({ item }) => item.petId));
  await tx.change(sql`DELETE FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${ids})`);
  for (const entry of entries) tx.record(eventOf(accountId, "inventory.deleted", entry));
}

async function writeRows(
  tx: Transaction,
  accountId: number,
  writing: typeof insertRows,
  counts: readonly { petId: number; quantity: number; held?: number }[],
): Promise<void> {
  for (let from = 0; from < counts.length; from += rowsAtOnceMax) {
    const some = counts.slice(from, from + rowsAtOnceMax);
    const rows = some.map(({ petId, quantity, held = 0 }) => [petId, quantity, statusOfStock({ quantity, held }), accountId]);
    await tx.run(writing, [JSON.stringify(rows)]);
  }
}
