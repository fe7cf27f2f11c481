import sql, { join } from "sql-template-tag";
import { openStep, stepRowsMax } from "../../platform/db/batches.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import { binPet } from "../bin/bin.store.ts";
import { lockPet, lockPetWithEntry, updatePet, type StoredPet } from "../pets/pets.store.ts";
import { writeProfileValues } from "../profiles/profile-values.store.ts";
import { findProfiles, removeProfile } from "../profiles/profiles.store.ts";
import type { StoredProfile, UrlOf } from "../profiles/profiles.ts";
import { deleteItem, lockItem, lockItemWithOrders, lockPetsWithEntries, setQuantity, type StoredItem } from "./inventory.store.ts";
import {
  changesPrice,
  concernsProfile,
  priceAfter,
  type BulkChange,
  type BulkResult,
  type PetState,
  type Versions,
} from "./pet-changes.ts";

/**
 * The state before the changes: the pets and inventory entries, whose rows are locked, the profiles that changes concern, and which of the named
 * categories exist.
 */
type LockedRows = {
  pets: Map<number, StoredPet>;
  entries: Map<number, StoredItem>;
  profiles: Map<number, StoredProfile>;
  categories: Set<number>;
};

/** Where and when the changes are made. */
type Shop = { accountId: number; urlOf: UrlOf; now: number };

/**
 * @throws Problem `invalid_request` if a pet is named twice, a change has both a price and a percentage, or one removes a profile whose version it does
 * not say
 */
export function requireConsistent(changes: readonly BulkChange[]): void {
  if (new Set(changes.map(({ id }) => id)).size < changes.length)
    throw new Problem("invalid_request", "body.changes names an animal twice.");
  const both = changes.findIndex(({ price, pricePermille }) => price !== undefined && pricePermille !== undefined);
  if (both >= 0) throw invalidAt(`body.changes[${both}].pricePermille`, "must be left out beside price");
  const late = changes.findIndex((change) => change.removeProfile === true && changesPrice(change));
  if (late >= 0) throw invalidAt(`body.changes[${late}].removeProfile`, "must be left out beside a price");
  const blind = changes.findIndex(({ removeProfile: isRemoved, since }) => isRemoved === true && typeof since?.profile !== "number");
  if (blind >= 0) throw invalidAt(`body.changes[${blind}].since.profile`, "must be given beside removeProfile");
}

/**
 * Changes the first of these pets one after another, as many as one step takes, and returns the result of each change. A refused change has no
 * effect and does not stop the others.
 */
export async function changePets(tx: Transaction, shop: Shop, changes: readonly BulkChange[]): Promise<BulkResult[]> {
  const isOver = openStep();
  const some = changes.slice(0, stepRowsMax);
  const locked = await lock(tx, shop.accountId, some);
  const results: BulkResult[] = [];
  for (const change of some) {
    results.push(await changeOne(tx, shop, change, locked));
    if (isOver()) break;
    await tx.giveTurn();
  }
  await writePrices(tx, shop, results, locked);
  return results;
}

/** Writes the prices that the results say, and adds the versions of their profiles. */
async function writePrices(tx: Transaction, shop: Shop, results: readonly BulkResult[], { profiles }: LockedRows): Promise<void> {
  const prices = results.flatMap(({ id, after }) => (after?.price === undefined ? [] : [{ petId: id, values: { price: after.price } }]));
  if (prices.length === 0) return;
  const written = await writeProfileValues(tx, shop, prices);
  for (const result of results) {
    const { id, after, versions } = result;
    if (after?.price === undefined || !versions) continue;
    const one = written.get(id);
    versions.profile = one?.version ?? profiles.get(id)?.version ?? null;
    if (one && !one.before) result.madeProfile = true;
  }
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
    changes.filter(concernsProfile).map(({ id }) => id),
  );
  return { pets, entries, profiles, categories: new Set(categories.map(({ id }) => id)) };
}

async function changeOne(tx: Transaction, shop: Shop, change: BulkChange, locked: LockedRows): Promise<BulkResult> {
  const { id, since, ...fields } = change;
  const current = locked.pets.get(id);
  if (current === undefined) return refused(id, new Problem("not_found", `There is no ${byId("pet", id)}.`));
  const { name, categoryId, status } = current.pet;
  const price = changesPrice(change) ? { price: locked.profiles.get(id)?.price ?? null } : {};
  const entry = locked.entries.get(id);
  const before: PetState = { name, categoryId, status, stock: entry?.item.quantity ?? null, ...price };
  const versionsBefore = { pet: current.version, stock: entry?.version ?? null };
  try {
    requireVersions(since, { ...versionsBefore, profile: locked.profiles.get(id)?.version ?? null });
    if (fields.delete) {
      await binPet(tx, shop.accountId, (await lockPetWithEntry(tx, shop.accountId, id)) ?? gone(id), shop.now);
      return { id, outcome: "binned", before };
    }
    const isRemoved = fields.removeProfile === true;
    const hasFields = Object.keys(fields).length > 0;
    const applied = hasFields ? await applyChange(tx, shop.accountId, change, before, locked) : { after: before, versions: versionsBefore };
    if (isRemoved) await removeProfile(tx, shop.accountId, shop.urlOf, locked.profiles.get(id)!);
    const isSame = !isRemoved && JSON.stringify(applied.after) === JSON.stringify(before);
    return { id, outcome: isSame ? "unchanged" : "changed", before, ...applied };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // PostgreSQL ends a transaction whose statement failed: the category that was found was deleted meanwhile.
    if (error.code === "unknown_reference" && locked.categories.has(change.categoryId!)) tx.startOver();
    return { ...refused(id, error), before };
  }
}

/** @throws Problem `precondition_failed` if a named part has another version: somebody has changed it */
function requireVersions(since: BulkChange["since"], versions: Required<Versions>): void {
  const parts = ["pet", "stock", "profile"] as const;
  if (parts.some((part) => since?.[part] !== undefined && since[part] !== versions[part]))
    throw new Problem("precondition_failed", "Somebody has changed it since.");
}

/** Applies one change except that of the price, after all checks that may refuse it. Returns the pet's new state, and its versions. */
async function applyChange(
  tx: Transaction,
  accountId: number,
  { id, stock, price: wanted, pricePermille, ...fields }: BulkChange,
  before: PetState,
  { pets, entries, categories }: LockedRows,
): Promise<{ after: PetState; versions: Versions }> {
  if (fields.categoryId !== undefined && !categories.has(fields.categoryId))
    throw new Problem("unknown_reference", `There is no ${byId("category", fields.categoryId)}.`);
  const isStatusNew = fields.status !== undefined && fields.status !== before.status;
  if (isStatusNew && stock === undefined && before.stock !== null)
    throw new Problem("status_follows_stock", "Its stock is counted, so its status follows the count.");
  const price = before.price === undefined ? {} : { price: priceAfter(before.price, { price: wanted, pricePermille }) };
  if (stock === null && before.stock !== null) await deleteItem(tx, accountId, await lockItemWithOrders(tx, accountId, id));
  const entry =
    typeof stock === "number" && stock !== before.stock
      ? await setQuantity(tx, accountId, id, stock, before.stock === null ? undefined : await lockItem(tx, accountId, id))
      : entries.get(id);
  const after = stock === undefined ? before.stock : stock;
  const current = after === before.stock ? pets.get(id)! : ((await lockPet(tx, accountId, id)) ?? gone(id)); // another stock may have changed its status
  // A tracked pet keeps the status that follows from its stock.
  const status = after === null ? (fields.status ?? current.pet.status) : current.pet.status;
  const { name = before.name, categoryId = before.categoryId } = fields;
  const { pet, version } = await updatePet(tx, accountId, current, { name, categoryId, status });
  return {
    after: { name: pet.name, categoryId: pet.categoryId, status: pet.status, stock: after, ...price },
    versions: { pet: version, stock: after === null ? null : (entry?.version ?? null) },
  };
}

function gone(id: number): never {
  throw new Problem("not_found", `There is no ${byId("pet", id)}.`);
}
