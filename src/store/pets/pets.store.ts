import sql, { join } from "sql-template-tag";
import { breaks, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { fold } from "../../platform/folding.ts";
import { byId } from "../../platform/ids.ts";
import { Problem } from "../../platform/problem.ts";
import type { NewPet, Pet, PetStatus } from "./pets.ts";

export type PetRow = { id: number; name: string; category_id: number; status: PetStatus; version: number };

/** An animal with the version that its ETag shows. */
export type StoredPet = { pet: Pet; version: number };

export const petColumns = sql`id, name, category_id, status, version`;

/** @throws Problem `not_found` */
export async function findPet(db: Queryable, accountId: number, id: number): Promise<StoredPet> {
  return one(await db.query<PetRow>(sql`SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** The animal, locked until the transaction ends; undefined where there is none. */
export async function lockPet(tx: Transaction, accountId: number, id: number): Promise<StoredPet | undefined> {
  const [row] = await tx.query<PetRow>(sql`
    SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return row && storedPet(row);
}

/** Whether the account has the animal at this moment; locks nothing. */
export async function petExists(db: Queryable, accountId: number, id: number): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM pets WHERE account_id = ${accountId} AND id = ${id}`)).length > 0;
}

/** @throws Problem `unknown_reference` when the category is unknown */
export async function insertPet(tx: Transaction, accountId: number, pet: NewPet): Promise<StoredPet> {
  const [stored] = await insertRows(tx, accountId, [pet]);
  return stored!;
}

/** Rows of one INSERT: bounded, since each binds six values. */
const insertRowsMax = 200;

/** Inserts all or none, in order. @throws Problem `unknown_reference` that names the first animal of an unknown category */
export async function insertPets(tx: Transaction, accountId: number, pets: NewPet[]): Promise<Pet[]> {
  await requireCategories(tx, accountId, pets);
  const inserted: Pet[] = [];
  for (let from = 0; from < pets.length; from += insertRowsMax) {
    const rows = await insertRows(tx, accountId, pets.slice(from, from + insertRowsMax));
    inserted.push(...rows.map(({ pet }) => pet));
  }
  return inserted;
}

/** Replaces what a client sets; the status of a tracked animal stays as its stock has it. @throws Problem `unknown_reference` */
export async function updatePet(tx: Transaction, accountId: number, id: number, next: NewPet): Promise<StoredPet> {
  const tracked = sql`EXISTS (SELECT 1 FROM inventory WHERE account_id = ${accountId} AND pet_id = ${id})`;
  try {
    const rows = await tx.query<PetRow>(sql`
      UPDATE pets SET name = ${next.name}, name_key = ${fold(next.name)}, category_id = ${next.categoryId},
        status = CASE WHEN ${tracked} THEN status ELSE ${next.status ?? "available"} END, version = version + 1
      WHERE account_id = ${accountId} AND id = ${id} RETURNING ${petColumns}`);
    return one(rows, id);
  } catch (error) {
    throw breaks("foreign_key", error) ? unknownCategory(next.categoryId) : error;
  }
}

/** Writes the status that follows from the stock, where it is another. */
export async function deriveStatus(tx: Transaction, accountId: number, id: number, status: PetStatus): Promise<void> {
  await tx.query(sql`
    UPDATE pets SET status = ${status}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} AND status <> ${status}`);
}

/** The animal, locked together with its inventory entry, so that no order takes from that; undefined where there is none. */
export async function lockPetWithEntry(tx: Transaction, accountId: number, id: number): Promise<StoredPet | undefined> {
  const entry = sql`SELECT 1 FROM inventory WHERE account_id = ${accountId} AND pet_id = ${id}${tx.forUpdate}`;
  await tx.query(entry);
  const pet = await lockPet(tx, accountId, id);
  await tx.query(entry); // one may have come before the animal was locked
  return pet;
}

/**
 * Deletes an animal that is locked with its inventory entry, which goes with it.
 *
 * @throws Problem `pet_in_use` while an unfulfilled order has it
 */
export async function deletePet(tx: Transaction, accountId: number, id: number): Promise<void> {
  const gone = await tx.query(sql`
    DELETE FROM pets WHERE account_id = ${accountId} AND id = ${id} AND NOT EXISTS
      (SELECT 1 FROM orders WHERE account_id = ${accountId} AND pet_id = ${id} AND complete = FALSE)
    RETURNING id`);
  if (gone.length === 0) throw new Problem("pet_in_use", `Animal ${id} has an unfulfilled order: fulfil or delete that first.`);
}

async function insertRows(tx: Transaction, accountId: number, pets: NewPet[]): Promise<StoredPet[]> {
  const rows = pets.map(
    ({ name, categoryId, status = "available" }) =>
      sql`(${accountId}, nextval('pet_ids'), ${name}, ${fold(name)}, ${categoryId}, ${status}, 1)`,
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
  if (first) throw new Problem("unknown_reference", `${first.path}: ${first.message}.`);
}

function one(rows: PetRow[], id: number): StoredPet {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("animal", id)}.`);
  return storedPet(row);
}

/** A row as the rules see it. */
export function storedPet({ id, name, category_id: categoryId, status, version }: PetRow): StoredPet {
  return { pet: { id, name, categoryId, status }, version };
}

function unknownCategory(id: number): Problem {
  return new Problem("unknown_reference", `categoryId: there is no ${byId("category", id)}.`);
}
