import sql from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { beginsAWord } from "./pet-words.store.ts";
import { petColumns, storedPet, type PetRow } from "./pets.store.ts";
import { nameKeyOf, type Pet, type PetStatus } from "./pets.ts";

/** The most pets that one call reads, the pets of one step, and the most that one call returns. */
export const readMax = 20_000;
const stepRows = 2_000;
export const foundMax = 50;

/** What to find. `status` and `categoryId`: only pets that have these; `after`: the id after which the search begins. */
type SoughtInside = { q: string; status?: PetStatus; categoryId?: number; after?: number };
export type FoundInside = { pets: Pet[]; read: number; next: number | null };

/**
 * Finds pets that have a text within a word of their name, which no index finds: reads pets by id in steps, until `foundMax` are found, `readMax` are
 * read, or none is left. Such a search is for people at a dashboard; lists of the API find only where words begin.
 */
export async function findInside(
  db: Database,
  accountId: number,
  { q, status, categoryId, after = 0 }: SoughtInside,
): Promise<FoundInside> {
  const wanted = nameKeyOf(q);
  if (wanted === "") return { pets: [], read: 0, next: null };
  const pets: Pet[] = [];
  let [read, last] = [0, after];
  while (read < readMax) {
    const some = sql`
      SELECT ${petColumns}, name_key FROM pets WHERE account_id = ${accountId} AND id > ${last} ORDER BY account_id, id ${limitTo(stepRows)}`;
    const rows = await db.scan(() => db.query<PetRow & { name_key: string }>(some));
    for (const row of rows) {
      read += 1;
      last = row.id;
      if (row.status !== (status ?? row.status) || row.category_id !== (categoryId ?? row.category_id)) continue;
      if (row.name_key.includes(wanted) && !beginsAWord(row.name_key, wanted)) pets.push(storedPet(row).pet);
      if (pets.length === foundMax) return { pets, read, next: last };
    }
    if (rows.length < stepRows) return { pets, read, next: null };
  }
  return { pets, read, next: last };
}
