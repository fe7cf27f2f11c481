import sql, { join } from "sql-template-tag";
import { breaks, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { byId } from "../../platform/ids.ts";
import { detailsMax, Problem, unknownReference } from "../../platform/problem.ts";
import { addRecords, removeRecords } from "../../platform/storage-quotas.ts";
import { nameKeyOf, statusDefault, type NewPet, type Pet, type PetChange, type PetStatus } from "./pets.ts";

export type PetRow = { id: number; name: string; category_id: number; status: PetStatus; version: number };

/** A pet with the version that its ETag shows. */
export type StoredPet = { pet: Pet; version: number };

export const petColumns = sql`id, name, category_id, status, version`;

/** @throws Problem `not_found` */
export async function findPet(db: Queryable, accountId: number, id: number): Promise<StoredPet> {
  return requireRow(await db.query<PetRow>(sql`SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** Locks the pet until the transaction ends. Returns undefined if there is no such pet. */
export async function lockPet(tx: Transaction, accountId: number, id: number): Promise<StoredPet | undefined> {
  const [row] = await tx.query<PetRow>(sql`
    SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return row && storedPet(row);
}

/** Returns whether the account has the pet, without locking it. */
export async function petExists(db: Queryable, accountId: number, id: number): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM pets WHERE account_id = ${accountId} AND id = ${id}`)).length > 0;
}

/** @throws Problem `unknown_reference` for an unknown category, `storage_limit_reached` */
export async function insertPet(tx: Transaction, accountId: number, pet: NewPet): Promise<StoredPet> {
  const [stored] = await insertRows(tx, accountId, [pet]);
  await addRecords(tx, accountId, 1);
  return stored!;
}

/** The most rows of one INSERT, because each binds six values. */
const insertRowsMax = 200;

/**
 * Inserts all of the pets, in order, or none.
 *
 * @throws Problem `unknown_reference` that names the first pet of an unknown category, `storage_limit_reached`
 */
export async function insertPets(tx: Transaction, accountId: number, pets: NewPet[]): Promise<Pet[]> {
  await requireCategories(tx, accountId, pets);
  const inserted: Pet[] = [];
  for (let from = 0; from < pets.length; from += insertRowsMax) {
    const rows = await insertRows(tx, accountId, pets.slice(from, from + insertRowsMax));
    inserted.push(...rows.map(({ pet }) => pet));
  }
  await addRecords(tx, accountId, inserted.length);
  return inserted;
}

/**
 * Updates a locked pet if the change makes a difference. The status of a tracked pet goes on following its stock.
 *
 * @throws Problem `unknown_reference`, `status_follows_stock` for a status that the stock contradicts
 */
export async function updatePet(tx: Transaction, accountId: number, current: StoredPet, change: PetChange): Promise<StoredPet> {
  const { pet } = current;
  // Tracking cannot begin while the pet is locked.
  const stock = change.status === pet.status ? undefined : await findStock(tx, accountId, pet.id);
  const status = stock ? pet.status : (change.status ?? statusDefault);
  const isSame = change.name === pet.name && change.categoryId === pet.categoryId && status === pet.status;
  const updated = isSame ? current : await writePet(tx, accountId, { ...change, id: pet.id, status });
  if (stock && change.status !== null) throw statusFollowsStock(pet, change.status, stock);
  return updated;
}

async function writePet(tx: Transaction, accountId: number, { id, name, categoryId, status }: Pet): Promise<StoredPet> {
  try {
    const rows = await tx.query<PetRow>(sql`
      UPDATE pets SET name = ${name}, name_key = ${nameKeyOf(name)}, category_id = ${categoryId}, status = ${status}, version = version + 1
      WHERE account_id = ${accountId} AND id = ${id} RETURNING ${petColumns}`);
    return requireRow(rows, id);
  } catch (error) {
    throw breaks("foreign_key", error) ? unknownCategory(categoryId) : error;
  }
}

type Stock = { quantity: number; held: number };

/** Returns the stock of a pet, or undefined if the pet is untracked. */
async function findStock(tx: Transaction, accountId: number, petId: number): Promise<Stock | undefined> {
  const [stock] = await tx.query<Stock>(sql`SELECT quantity, held FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  return stock;
}

function statusFollowsStock({ id, status }: Pet, wanted: PetStatus, { quantity, held }: Stock): Problem {
  const entry = addressOf(`/store/inventory/${id}`);
  const says = `Pet ${id} is ${status}, as its stock says: ${quantity} free, ${held} held by open orders. It cannot be set to ${wanted}.`;
  return new Problem("status_follows_stock", `${says} Change the count with PUT ${entry}, or stop tracking with DELETE ${entry}.`);
}

/** Writes the status that follows from the stock, if it differs. */
export async function deriveStatus(tx: Transaction, accountId: number, id: number, status: PetStatus): Promise<void> {
  await tx.query(sql`
    UPDATE pets SET status = ${status}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} AND status <> ${status}`);
}

/** A pet, and whether the inventory has an entry for it. */
export type PetWithEntry = StoredPet & { isTracked: boolean };

/** Locks the inventory entry, then the pet, so that no order can take units. Returns undefined if there is no such pet. */
export async function lockPetWithEntry(tx: Transaction, accountId: number, id: number): Promise<PetWithEntry | undefined> {
  const entry = sql`SELECT 1 FROM inventory WHERE account_id = ${accountId} AND pet_id = ${id}`;
  const isTracked = (await tx.query(sql`${entry}${tx.forUpdate}`)).length > 0;
  const pet = await lockPet(tx, accountId, id);
  // An entry may have been added before the pet was locked. Its lock comes before the pet's, so the transaction starts over.
  if (!isTracked && (await tx.query(entry)).length > 0) tx.startOver();
  return pet && { ...pet, isTracked };
}

/**
 * Deletes a pet that `lockPetWithEntry` has locked, and its inventory entry.
 *
 * @throws Problem `pet_in_use` while an unfulfilled order is for this pet
 */
export async function deletePet(tx: Transaction, accountId: number, { pet: { id }, isTracked }: PetWithEntry): Promise<void> {
  const gone = await tx.query(sql`
    DELETE FROM pets WHERE account_id = ${accountId} AND id = ${id} AND NOT EXISTS
      (SELECT 1 FROM orders WHERE account_id = ${accountId} AND pet_id = ${id} AND complete = FALSE)
    RETURNING id`);
  if (gone.length === 0) throw new Problem("pet_in_use", `Pet ${id} has an unfulfilled order: fulfil or delete the order first.`);
  await removeRecords(tx, accountId, isTracked ? 2 : 1);
}

async function insertRows(tx: Transaction, accountId: number, pets: NewPet[]): Promise<StoredPet[]> {
  const rows = pets.map(
    ({ name, categoryId, status = statusDefault }) =>
      sql`(${accountId}, nextval('pet_ids'), ${name}, ${nameKeyOf(name)}, ${categoryId}, ${status}, 1)`,
  );
  try {
    const inserted = await tx.query<PetRow>(sql`
      INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) VALUES ${join(rows)} RETURNING ${petColumns}`);
    return inserted.toSorted((a, b) => a.id - b.id).map(storedPet);
  } catch (error) {
    throw breaks("foreign_key", error) ? unknownCategory(pets[0]!.categoryId) : error;
  }
}

async function requireCategories(tx: Transaction, accountId: number, pets: NewPet[]): Promise<void> {
  const wanted = [...new Set(pets.map(({ categoryId }) => categoryId))];
  const rows = await tx.query<{ id: number }>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND id IN (${join(wanted)})`);
  const known = new Set(rows.map(({ id }) => id));
  const details = pets.flatMap(({ categoryId }, index) =>
    known.has(categoryId) ? [] : [{ path: `body[${index}].categoryId`, message: `there is no ${byId("category", categoryId)}` }],
  );
  const [first] = details;
  if (first) throw new Problem("unknown_reference", `${first.path}: ${first.message}.`, { details: details.slice(0, detailsMax) });
}

function requireRow(rows: PetRow[], id: number): StoredPet {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("pet", id)}.`);
  return storedPet(row);
}

export function storedPet({ id, name, category_id: categoryId, status, version }: PetRow): StoredPet {
  return { pet: { id, name, categoryId, status }, version };
}

function unknownCategory(id: number): Problem {
  return unknownReference("body.categoryId", byId("category", id));
}
