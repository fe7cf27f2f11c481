import sql, { empty, join } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { findRows } from "../../platform/db/index-walk.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { categoriesOfPets } from "../pets/pet-search.store.ts";
import { findsNothing, type PetQuery, type PetStatus } from "../pets/pets.ts";
import { countedMax, isLow, type CatalogueCounts, type LowStock } from "./catalogue-counts.ts";

/** The most inventory entries of one read. */
const pageMax = 2_000;

/** Counts the pets that pass the filters, in all and by category. If there are more than `countedMax`, does not count by category. */
export async function countPets(db: Database, accountId: number, query: PetQuery): Promise<CatalogueCounts> {
  if (findsNothing(query.q)) return { count: 0, isMore: false, categories: [] };
  const byCategory = createTally<number>();
  let count = 0;
  for await (const page of categoriesOfPets(db, accountId, query)) {
    for (const category of page) byCategory.add(category);
    count += page.length;
    if (count > countedMax) return { count: countedMax, isMore: true, categories: [] };
  }
  const categories = Array.from(byCategory.counts, ([categoryId, pets]) => ({ categoryId, count: pets }));
  return { count, isMore: false, categories: categories.toSorted((a, b) => a.categoryId - b.categoryId) };
}

type Entry = { pet_id: number; quantity: number; status: PetStatus; version: number; highest: number | null };

/**
 * Returns the entries whose stock is low, of some pets or of all: their number, and the `limit` lowest. Reads only the first `countedMax` entries.
 */
export async function listLowStock(db: Database, accountId: number, limit: number, petIds?: readonly number[]): Promise<LowStock> {
  const [account] = await db.query<{ low_stock: number }>(sql`SELECT low_stock FROM accounts WHERE id = ${accountId}`);
  const lowStock = account?.low_stock ?? -1;
  const isWanted = petIds ? sql`AND pet_id IN (${join([...petIds])})` : empty;
  let lowest: Entry[] = [];
  let count = 0;
  for (let [after, read] = [0, 0]; read < countedMax; read += pageMax) {
    const some = sql`
      SELECT pet_id, quantity, status, version, highest FROM inventory
      WHERE account_id = ${accountId} AND pet_id > ${after} ${isWanted} ORDER BY pet_id ${limitTo(pageMax)}`;
    const page = await db.scan(() => db.query<Entry>(some));
    const low = page.filter((entry) => isLow(entry, lowStock));
    count += low.length;
    lowest = [...lowest, ...low].toSorted((a, b) => a.quantity - b.quantity || a.pet_id - b.pet_id).slice(0, limit);
    if (page.length < pageMax) break;
    after = page.at(-1)!.pet_id;
  }
  const ids = lowest.map(({ pet_id: id }) => id);
  const lookUp = { table: "pets", columns: sql`id, name`, accountId, key: "id" };
  const names = new Map((await db.query<{ id: number; name: string }>(findRows(db.engine, lookUp, ids))).map(({ id, name }) => [id, name]));
  // An animal that was deleted in the meantime has no name, and is left out.
  const entries = lowest.flatMap(({ pet_id: petId, quantity, status }) =>
    names.has(petId) ? [{ petId, quantity, status, name: names.get(petId)! }] : [],
  );
  return { count, entries };
}
