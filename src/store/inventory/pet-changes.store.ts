import sql, { join } from "sql-template-tag";
import { openStep, stepRowsMax } from "../../platform/db/batches.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import { deletePet, lockPet, lockPetWithEntry, updatePet, type StoredPet } from "../pets/pets.store.ts";
import { writeProfileValues } from "../profiles/profile-values.store.ts";
import { findProfiles } from "../profiles/profiles.store.ts";
import type { Price, UrlOf } from "../profiles/profiles.ts";
import { deleteItem, lockItem, lockItemWithOrders, lockPetsWithEntries, setQuantity } from "./inventory.store.ts";
import { changesPrice, priceAfter, type BulkChange, type BulkResult, type PetState } from "./pet-changes.ts";

/**
 * The state before the changes: the pets and stock counts, whose rows are locked, the prices of those whose price changes, and which of the named
 * categories exist.
 */
type LockedRows = { pets: Map<number, StoredPet>; stock: Map<number, number>; prices: Map<number, Price | null>; categories: Set<number> };

/** @throws Problem `invalid_request` if a pet is named twice, or a change has both a price and a percentage */
export function requireConsistent(changes: readonly BulkChange[]): void {
  if (new Set(changes.map(({ id }) => id)).size < changes.length)
    throw new Problem("invalid_request", "body.changes names an animal twice.");
  const both = changes.findIndex(({ price, pricePermille }) => price !== undefined && pricePermille !== undefined);
  if (both >= 0) throw invalidAt(`body.changes[${both}].pricePermille`, "must be left out beside price");
}

/**
 * Changes the first of these pets one after another, as many as one step takes, and returns the result of each change. A refused change has no
 * effect and does not stop the others.
 */
export async function changePets(
  tx: Transaction,
  { accountId, urlOf }: { accountId: number; urlOf: UrlOf },
  changes: readonly BulkChange[],
): Promise<BulkResult[]> {
  const isOver = openStep();
  const some = changes.slice(0, stepRowsMax);
  const locked = await lock(tx, accountId, some);
  const results: BulkResult[] = [];
  for (const change of some) {
    results.push(await changeOne(tx, accountId, change, locked));
    if (isOver()) break;
    await tx.giveTurn();
  }
  const prices = results.flatMap(({ id, after }) => (after?.price === undefined ? [] : [{ petId: id, values: { price: after.price } }]));
  if (prices.length > 0) await writeProfileValues(tx, { accountId, urlOf }, prices);
  return results;
}

export function refused(id: number, { code, message }: Problem): BulkResult {
  return { id, outcome: "refused", code, message };
}

/** Locks rows in the order that prevents deadlocks: orders, then entries by pet, then pets (see inventory.store.ts). */
async function lock(tx: Transaction, accountId: number, changes: readonly BulkChange[]): Promise<LockedRows> {
  const ids = changes.map(({ id }) => id);
  const untracking = changes.filter(({ stock }) => stock === null).map(({ id }) => id);
  if (untracking.length > 0)
    await tx.query(sql`
      SELECT id FROM orders WHERE account_id = ${accountId} AND pet_id IN (${join(untracking)}) AND complete = FALSE AND held > 0
      ORDER BY id${tx.forUpdate}`);
  const { pets, entries } = await lockPetsWithEntries(tx, accountId, ids);
  const wanted = new Set(changes.flatMap(({ categoryId }) => (categoryId === undefined ? [] : [categoryId])));
  const categories =
    wanted.size === 0
      ? []
      : await tx.query<{ id: number }>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND id IN (${join([...wanted])})`);
  const profiles = await findProfiles(
    tx,
    accountId,
    changes.filter(changesPrice).map(({ id }) => id),
  );
  return {
    pets,
    prices: new Map(Array.from(profiles, ([id, { price }]) => [id, price])),
    stock: new Map(Array.from(entries.values(), ({ item }) => [item.petId, item.quantity])),
    categories: new Set(categories.map(({ id }) => id)),
  };
}

async function changeOne(tx: Transaction, accountId: number, change: BulkChange, locked: LockedRows): Promise<BulkResult> {
  const { id } = change;
  const current = locked.pets.get(id);
  if (current === undefined) return refused(id, new Problem("not_found", `There is no ${byId("pet", id)}.`));
  const { name, categoryId, status } = current.pet;
  const price = changesPrice(change) ? { price: locked.prices.get(id) ?? null } : {};
  const before: PetState = { name, categoryId, status, stock: locked.stock.get(id) ?? null, ...price };
  try {
    const hasFields = Object.keys(change).length > 1;
    const after = hasFields ? await applyChange(tx, accountId, change, before, locked) : before;
    if (after === undefined) return { id, outcome: "deleted", before };
    return { id, outcome: JSON.stringify(after) === JSON.stringify(before) ? "unchanged" : "changed", before, after };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // PostgreSQL ends a transaction whose statement failed: the category that was found was deleted meanwhile.
    if (error.code === "unknown_reference" && locked.categories.has(change.categoryId!)) tx.startOver();
    return { ...refused(id, error), before };
  }
}

/**
 * Applies one change except that of the price, after all checks that may refuse it. Returns the pet's new state, or undefined if it deleted the pet.
 */
async function applyChange(
  tx: Transaction,
  accountId: number,
  { id, delete: isDeleted, stock, price: wanted, pricePermille, ...fields }: BulkChange,
  before: PetState,
  { pets, categories }: LockedRows,
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
  const price = before.price === undefined ? {} : { price: priceAfter(before.price, { price: wanted, pricePermille }) };
  if (stock === null && before.stock !== null) await deleteItem(tx, accountId, await lockItemWithOrders(tx, accountId, id));
  if (typeof stock === "number" && stock !== before.stock)
    await setQuantity(tx, accountId, id, stock, before.stock === null ? undefined : await lockItem(tx, accountId, id));
  const after = stock === undefined ? before.stock : stock;
  const current = after === before.stock ? pets.get(id)! : ((await lockPet(tx, accountId, id)) ?? gone(id)); // another stock may have changed its status
  // A tracked pet keeps the status that follows from its stock.
  const status = after === null ? (fields.status ?? current.pet.status) : current.pet.status;
  const saved = await updatePet(tx, accountId, current, { name: before.name, categoryId: before.categoryId, ...fields, status });
  return { name: saved.pet.name, categoryId: saved.pet.categoryId, status: saved.pet.status, stock: after, ...price };
}

function gone(id: number): never {
  throw new Problem("not_found", `There is no ${byId("pet", id)}.`);
}
