import sql, { join } from "sql-template-tag";
import type { Transaction } from "../../platform/db/database.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { deletePet, lockPet, lockPetWithEntry, petColumns, storedPet, updatePet, type PetRow, type StoredPet } from "../pets/pets.store.ts";
import { deleteItem, lockItem, lockItemWithOrders, setQuantity } from "./inventory.store.ts";
import type { BulkChange, BulkResult, PetState } from "./pet-changes.ts";

/** What the rows that the changes may touch hold, all of them locked. */
type Locked = { pets: Map<number, StoredPet>; stock: Map<number, number>; categories: Set<number> };

/**
 * Changes pets one after the other, in one transaction, and returns what became of each. A change that is refused changes nothing, and the
 * others go on. A pet may be named once.
 *
 * @throws Problem `invalid_request` for a pet that is named twice, `storage_limit_reached`; then nothing changes
 */
export async function changePets(tx: Transaction, accountId: number, changes: BulkChange[]): Promise<BulkResult[]> {
  const ids = [...new Set(changes.map(({ id }) => id))];
  if (ids.length < changes.length) throw new Problem("invalid_request", "body.changes names an animal twice.");
  const locked = await lock(tx, accountId, changes, ids);
  const results: BulkResult[] = [];
  for (const change of changes) {
    results.push(await changeOne(tx, accountId, change, locked));
    await tx.giveTurn();
  }
  return results;
}

/** Locks in the common order: orders, then entries by pet, then pets. */
async function lock(tx: Transaction, accountId: number, changes: BulkChange[], ids: number[]): Promise<Locked> {
  const untracking = changes.filter(({ stock }) => stock === null).map(({ id }) => id);
  if (untracking.length > 0)
    await tx.query(sql`
      SELECT id FROM orders WHERE account_id = ${accountId} AND pet_id IN (${join(untracking)}) AND complete = FALSE AND held > 0
      ORDER BY id${tx.forUpdate}`);
  const entries = sql`SELECT pet_id, quantity FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${join(ids)}) ORDER BY pet_id`;
  const stock = await tx.query<{ pet_id: number; quantity: number }>(sql`${entries}${tx.forUpdate}`);
  const pets = await tx.query<PetRow>(sql`
    SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id IN (${join(ids)}) ORDER BY id${tx.forUpdate}`);
  // Entries may have been added before the pets were locked. Their locks come before those of pets, so the transaction starts over.
  if ((await tx.query(entries)).length > stock.length) tx.startOver();
  const wanted = new Set(changes.flatMap(({ categoryId }) => (categoryId === undefined ? [] : [categoryId])));
  const categories =
    wanted.size === 0
      ? []
      : await tx.query<{ id: number }>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND id IN (${join([...wanted])})`);
  return {
    pets: new Map(pets.map((row) => [row.id, storedPet(row)])),
    stock: new Map(stock.map((row) => [row.pet_id, row.quantity])),
    categories: new Set(categories.map(({ id }) => id)),
  };
}

async function changeOne(tx: Transaction, accountId: number, change: BulkChange, locked: Locked): Promise<BulkResult> {
  const { id } = change;
  const current = locked.pets.get(id);
  if (current === undefined) return refused(id, new Problem("not_found", `There is no ${byId("pet", id)}.`));
  const { name, categoryId, status } = current.pet;
  const before: PetState = { name, categoryId, status, stock: locked.stock.get(id) ?? null };
  try {
    const isAsked = Object.keys(change).length > 1;
    const after = isAsked ? await applied(tx, accountId, change, { before, categories: locked.categories }) : before;
    if (after === undefined) return { id, outcome: "deleted", before };
    return { id, outcome: JSON.stringify(after) === JSON.stringify(before) ? "unchanged" : "changed", before, after };
  } catch (error) {
    // The room for records is decided after the entry was written, so only the whole transaction can be rolled back.
    if (error instanceof Problem && error.code !== "storage_limit_reached") return { ...refused(id, error), before };
    throw error;
  }
}

type Standing = { before: PetState; categories: ReadonlySet<number> };

/** Applies one change: refuses it before it writes anything. Returns undefined for a pet that is deleted. */
async function applied(
  tx: Transaction,
  accountId: number,
  { id, delete: isDeleted, stock, ...fields }: BulkChange,
  { before, categories }: Standing,
): Promise<PetState | undefined> {
  if (isDeleted) {
    await deletePet(tx, accountId, (await lockPetWithEntry(tx, accountId, id)) ?? gone(id));
    return undefined;
  }
  if (fields.categoryId !== undefined && !categories.has(fields.categoryId))
    throw new Problem("unknown_reference", `There is no ${byId("category", fields.categoryId)}.`);
  const isStatusNew = fields.status !== undefined && fields.status !== before.status;
  if (isStatusNew && stock === undefined && before.stock !== null)
    throw new Problem("status_follows_stock", "Its stock is counted, so its status follows the count.");
  if (stock === null && before.stock !== null) await deleteItem(tx, accountId, await lockItemWithOrders(tx, accountId, id));
  if (typeof stock === "number" && stock !== before.stock)
    await setQuantity(tx, accountId, id, stock, before.stock === null ? undefined : await lockItem(tx, accountId, id));
  const after = stock === undefined ? before.stock : stock;
  const current = (await lockPet(tx, accountId, id)) ?? gone(id);
  // the status of a tracked pet stays what its stock says
  const status = after === null ? (fields.status ?? current.pet.status) : current.pet.status;
  const saved = await updatePet(tx, accountId, current, { name: before.name, categoryId: before.categoryId, ...fields, status });
  return { name: saved.pet.name, categoryId: saved.pet.categoryId, status: saved.pet.status, stock: after };
}

function gone(id: number): never {
  throw new Problem("not_found", `There is no ${byId("pet", id)}.`);
}

function refused(id: number, { code, message }: Problem): BulkResult {
  return { id, outcome: "refused", code, message };
}
