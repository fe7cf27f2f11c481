import sql from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import type { PetQuery, PetStatus } from "../pets/pets.ts";
import { categoriesOfPets } from "../pets/pets.store.ts";
import { countedMax, type CatalogueCounts, type LowStock } from "./catalogue-counts.ts";

/** Counts the pets that pass the filters, in all and by category. If there are more than `countedMax`, does not count by category. */
export async function countPets(db: Database, accountId: number, query: PetQuery): Promise<CatalogueCounts> {
  const limited = sql`${await categoriesOfPets(db, accountId, query)} ${limitTo(countedMax + 1)}`;
  const rows = await db.query<{ category_id: number; pets: number }>(sql`
    SELECT category_id, COUNT(*) AS pets FROM (${limited}) AS counted GROUP BY category_id ORDER BY category_id`);
  const count = rows.reduce((sum, { pets }) => sum + pets, 0);
  if (count > countedMax) return { count: countedMax, isMore: true, categories: [] };
  return { count, isMore: false, categories: rows.map(({ category_id: id, pets }) => ({ categoryId: id, count: pets })) };
}

/** Returns the entries at or below the account's `lowStock`: their number, and the `limit` lowest. Reads only the first `countedMax` entries. */
export async function listLowStock(db: Database, accountId: number, limit: number): Promise<LowStock> {
  const firstEntries = sql`
    SELECT pet_id, quantity, status FROM inventory WHERE account_id = ${accountId} ORDER BY pet_id ${limitTo(countedMax)}`;
  const low = sql`SELECT pet_id, quantity, status FROM (${firstEntries}) AS entries WHERE quantity <= (SELECT low_stock FROM accounts WHERE id = ${accountId})`;
  const [counted] = await db.query<{ entries: number }>(sql`SELECT COUNT(*) AS entries FROM (${low}) AS low`);
  const rows = await db.query<{ pet_id: number; quantity: number; status: PetStatus; name: string }>(sql`
    SELECT low.pet_id, low.quantity, low.status, pets.name FROM (${low} ORDER BY quantity, pet_id ${limitTo(limit)}) AS low
    JOIN pets ON pets.account_id = ${accountId} AND pets.id = low.pet_id ORDER BY low.quantity, low.pet_id`);
  return {
    count: counted?.entries ?? 0,
    entries: rows.map(({ pet_id: petId, ...entry }) => ({ petId, ...entry })),
  };
}
