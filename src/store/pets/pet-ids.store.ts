import sql, { join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { findRows } from "../../platform/db/index-walk.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { beginsWith, sortOf } from "./pet-lists.store.ts";
import { wordIn, type FoundPet } from "./pet-search.store.ts";
import { nameKeyOf, type PetQuery } from "./pets.ts";
import { petColumns, storedPet, type PetRow, type StoredPet } from "./pets.store.ts";

type IdQuery = PetQuery & { id: number[] };

/** Whether a request is the successor of GET /pets/{petId}: this most frequent list takes the way of `showPet`. */
export function asksForOne(query: PetQuery): query is PetQuery & { id: [number] } {
  return query.id?.length === 1 && query.q === undefined && query.status === undefined && query.categoryId === undefined;
}

const orders = {
  id: { by: sql`id`, after: ([id]: Position) => sql`id > ${id}` },
  "-id": { by: sql`id DESC`, after: ([id]: Position) => sql`id < ${id}` },
  name: { by: sql`place, id`, after: ([place, id]: Position) => sql`(place, id) > (${place}, ${id})` },
  "-name": { by: sql`place DESC, id`, after: ([place, id]: Position) => sql`(place < ${place} OR place = ${place} AND id > ${id})` },
};

/** Returns the pets with the ids of the query, a hundred at most, that pass the other filters. */
export async function findPets(
  db: Database,
  accountId: number,
  query: IdQuery,
  after: Position | undefined,
  limit: number,
): Promise<(StoredPet & FoundPet)[]> {
  const order = orders[sortOf(query)];
  const passing: Sql[] = [sql`place IS NOT NULL`];
  if (query.categoryId !== undefined) passing.push(sql`category_id = ${query.categoryId}`);
  if (query.status) passing.push(sql`status IN (${join(query.status)})`);
  if (after) passing.push(afterIn(query, order.after, after));
  const found = findRows(db.engine, { table: "pets", columns: sql`${petColumns}, name_key`, accountId, key: "id" }, query.id);
  const matching =
    query.q === undefined ? sql`SELECT *, name_key AS place, NULL AS word FROM (${found}) AS wanted` : matched(accountId, query.q, found);
  const rows = await db.query<PetRow & { word: string | null }>(sql`
    SELECT * FROM (${matching}) AS matching WHERE ${join(passing, " AND ")}
    ORDER BY ${query.q === undefined ? sql`` : sql`word IS NOT NULL, `}${order.by} ${limitTo(limit)}`);
  return rows.map((row) => ({ ...storedPet(row), ...(row.word !== null && { word: row.word }) }));
}

/** Adds to each pet the word that the search finds it by, unless its name begins with `q`, and the place in the order; null if it is not found. */
function matched(accountId: number, q: string, found: Sql): Sql {
  const word = sql`
    SELECT MIN(word) FROM pet_words WHERE pet_words.account_id = ${accountId} AND pet_words.pet_id = wanted.id AND ${beginsWith(sql`word`, q)}`;
  const named = sql`SELECT *, CASE WHEN ${beginsWith(sql`name_key`, q)} THEN name_key END AS named FROM (${found}) AS wanted`;
  return sql`
    SELECT *, COALESCE(named, word) AS place FROM (
      SELECT *, CASE WHEN named IS NULL THEN (${word}) END AS word FROM (${named}) AS wanted) AS worded`;
}

/** The pets after a position: those that a name found come before those that a word found. */
function afterIn(query: IdQuery, beyond: (position: Position) => Sql, after: Position): Sql {
  if (query.q === undefined) return beyond(after);
  const word = wordIn(after);
  if (!String(word?.[0] ?? after[0]).startsWith(nameKeyOf(query.q))) throw badCursor();
  return word ? sql`word IS NOT NULL AND ${beyond(word)}` : sql`(word IS NOT NULL OR ${beyond(after)})`;
}
