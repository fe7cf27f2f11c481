import { raw } from "sql-template-tag";
import type { Awaitable, Database } from "../../platform/db/database.ts";
import { keyStatement, type Listing, type Shown } from "../../platform/db/statement.ts";
import type { Pet, PetStatus } from "./pets.ts";

/** A pet with the version that its ETag shows. */
export type StoredPet = { pet: Pet; version: number };

/** A pet as JSON text, with the version that its ETag shows. */
export type ShownPet = Shown & { readonly id: number; readonly version: number };

/** The columns of a pet, in the order of `PetValues`. */
const columnNames = "id, name, category_id, status, version";
export type PetValues = [id: number, name: string, categoryId: number, status: PetStatus, version: number];

export const petColumns = raw(columnNames);
export const petById = `SELECT ${columnNames} FROM pets WHERE account_id = ? AND id = ?`;
const showById = keyStatement("pets", petById, shownPet);

/** Returns undefined if there is no such pet. Faster than `findPet`, because the engine may have the JSON in memory (decision 0093). */
export function showPet(db: Database, accountId: number, id: number): Awaitable<ShownPet | undefined> {
  return db.find(showById, [accountId, id]);
}

/** Returns the pets of a list whose rows have the columns `petColumns`. */
export function showPets(db: Database, accountId: number, listing: Listing): Awaitable<ShownPet[]> {
  return db.findAll(showById, accountId, listing);
}

export function storedOf([id, name, categoryId, status, version]: PetValues): StoredPet {
  return { pet: { id, name, categoryId, status }, version };
}

function shownPet(values: PetValues): ShownPet {
  const { pet, version } = storedOf(values);
  return { text: JSON.stringify(pet), id: pet.id, version };
}
