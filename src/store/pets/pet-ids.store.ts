import sql, { join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { findRows } from "../../platform/db/index-walk.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { beginsWith, sortOf } from "./pet-lists.store.ts";
import { wordIn, type FoundPet } from "./pet-search.store.ts";
import { completeWords } from "./pet-words.store.ts";
import { petColumns, storedPet, type PetRow, type StoredPet } from "./pets.store.ts";
import { nameKeyOf, type PetQuery } from "./pets.ts";

type IdQuery = PetQuery & { id: number[] };

/** Whether a request lists one pet by id and nothing else. This successor of GET /pets/{petId} is the most frequent list, so `showPet` answers it. */
export function asksForOne(query: PetQuery): query is PetQuery & { id: [number] } {
  return query.id?.length === 1 && query.q === undefined && query.status === undefined && query.categoryId === undefined;
}

const orders = {
  id: { by: sql`id`, after: ([id]: Position) => sql`id > ${id}` },
  "-id": { by: sql`id DESC`, after: ([id]: Position) => sql`id < ${id}` },
  name: { by: sql`place, id`, after: ([place, id]: Position) => sql`(place, id) > (${place}, ${id})` },
  "-name": { by: sql`place DESC, id`, after: ([place, id]: Position) => sql`(place < ${place} OR place = ${place} AND id > ${id})` },
};

/** Returns the pets with the query's ids, at most 100, that pass the other filters. */
export async function findPets(
  db: Database,
  accountId: number,
  query: IdQuery,
  after: Position | undefined,
  limit: number,
): Promise<(StoredPet & FoundPet)[]> {
  if (query.q !== undefined) await completeWords(db, accountId);
  const order = orders[sortOf(query)];
  const conditions: Sql[] = [sql`place IS NOT NULL`];
  if (query.categoryId !== undefined) conditions.push(sql`category_id = ${query.categoryId}`);
  if (query.status) conditions.push(sql`status IN (${join(query.status)})`);
  if (after) conditions.push(afterIn(query, order.after, after));
  const found = findRows(db.engine, { table: "pets", columns: sql`${petColumns}, name_key`, accountId, key: "id" }, query.id);
  const matching =
    query.q === undefined ? sql`SELECT *, name_key AS place, NULL AS word FROM (${found}) AS wanted` : matched(accountId, query.q, found);
  const rows = await db.query<PetRow & { word: string | null }>(sql`
    SELECT * FROM (${matching}) AS matching WHERE ${join(conditions, " AND ")}
    ORDER BY ${query.q === undefined ? sql`` : sql`word IS NOT NULL, `}${order.by} ${limitTo(limit)}`);
  return rows.map((row) => ({ ...storedPet(row), ...(row.word !== null && { word: row.word }) }));
}

/**
 * Adds two columns to each pet. `word` is the later word of its name that begins with `q`, and null if the name itself does. `place` is the text by
 * which the search sorts the pet, and null if nothing in its name begins with `q`.
 */
function matched(accountId: number, q: string, found: Sql): Sql {
  const word = sql`
    SELECT MIN(word) FROM pet_words WHERE pet_words.account_id = ${accountId} AND pet_words.pet_id = wanted.id AND ${beginsWith(sql`word`, q)}`;
  const named = sql`SELECT *, CASE WHEN ${beginsWith(sql`name_key`, q)} THEN name_key END AS named FROM (${found}) AS wanted`;
  return sql`
    SELECT *, COALESCE(named, word) AS place FROM (
      SELECT *, CASE WHEN named IS NULL THEN (${word}) END AS word FROM (${named}) AS wanted) AS worded`;
}

/** Returns the condition for pets after a position. Pets whose name begins with `q` come before pets that a later word found. */
function afterIn(query: IdQuery, beyond: (position: Position) => Sql, after: Position): Sql {
  if (query.q === undefined) return beyond(after);
  const word = wordIn(after);
  if (!String(word?.[0] ?? after[0]).startsWith(nameKeyOf(query.q))) throw badCursor();
  return word ? sql`word IS NOT NULL AND ${beyond(word)}` : sql`(word IS NOT NULL OR ${beyond(after)})`;
}
