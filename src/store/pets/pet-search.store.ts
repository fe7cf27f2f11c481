import sql, { join, raw, type Sql } from "sql-template-tag";
import type { Database, Queryable } from "../../platform/db/database.ts";
import { mergeRows, type Walk } from "../../platform/db/index-walk.ts";
import { statement } from "../../platform/db/statement.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { beginsWith, keysBeginning, listPets, namePosition } from "./pet-lists.store.ts";
import { nameKeyOf, petStatuses, type Pet, type PetQuery, type PetStatus } from "./pets.ts";

/*
 * Later words of names are rows of `pet_words`, which the database keeps with the names (decision 0082). Each row says how many of its first
 * characters lead to the same pet by another word, so a search of n characters walks the rows of each such count below n, and finds each pet once
 * without looking at those that it leaves out.
 */

/** A pet of a search. It has the word that found it, unless its name begins with the text. */
export type FoundPet = { pet: Pet; word?: string };

/** Returns up to `limit` pets that a search finds after a position: those whose name begins with `q`, then those of which a later word does. */
export async function searchPets(
  db: Database,
  accountId: number,
  query: Omit<PetQuery, "id"> & { q: string },
  after: Position | undefined,
  limit: number,
): Promise<FoundPet[]> {
  const afterWord = wordIn(after);
  const named = afterWord ? [] : (await listPets(db, accountId, query, after, limit)).map((pet): FoundPet => ({ pet }));
  if (named.length === limit) return named;
  return [...named, ...(await searchWords(db, accountId, query, afterWord, limit - named.length))];
}

/** Returns the position of a pet in the order of a search. */
export function searchPosition({ pet, word }: FoundPet): Position {
  return word === undefined ? namePosition(pet) : [wordMark, word, pet.id];
}

/** Marks a position among words, which is longer than one among names. */
const wordMark = "word";
export const searchPositionLengths = [2, 3];

/** Returns the word and id of a position among words. */
export function wordIn(position: Position | undefined): [word: string, id: number] | undefined {
  return position?.length === 3 ? [String(position[1]), Number(position[2])] : undefined;
}

type Search = Pick<PetQuery, "q" | "status" | "categoryId" | "sort">;

/** Returns the characters of the longest beginnings that words of the account share, below `below`, in one step of an index each. */
async function sharedBelow(db: Queryable, accountId: number, below: number): Promise<number[]> {
  const rows = await db.rows(lengths, [accountId, accountId, below]);
  return rows.map(([length]) => length);
}

const lengths = statement<[number]>(`
  WITH RECURSIVE found (length) AS (
    SELECT MIN(shared) FROM pet_words WHERE account_id = ?
    UNION ALL
    SELECT (SELECT MIN(shared) FROM pet_words WHERE account_id = ? AND shared > found.length) FROM found WHERE length IS NOT NULL
  ) SELECT length FROM found WHERE length < ?`);

/** Returns up to `limit` pets whose later words begin with `q`, by word and id, after a position. Descending words have ascending ids, too. */
async function searchWords(
  db: Database,
  accountId: number,
  query: Search & { q: string },
  after: [word: string, id: number] | undefined,
  limit: number,
): Promise<FoundPet[]> {
  const prefix = nameKeyOf(query.q);
  const { from, until } = keysBeginning(prefix);
  if (after && !after[0].startsWith(prefix)) throw badCursor();
  const shared = await sharedBelow(db, accountId, Array.from(prefix).length);
  if (shared.length === 0) return [];
  const walks = walksOf(accountId, query, shared);
  if (query.sort !== "-name") {
    return rowsOf(
      db,
      walks.map((walk) => ({ ...walk, from, until, after })),
      limit,
    );
  }
  return descending(db, walks, { from, until: after?.[0] ?? until, after, limit });
}

const order = ["word", "pet_id"] as const;
const columns = raw("account_id, pet_id, word");

/** One walk for each length that is shared and each status. */
function walksOf(accountId: number, { status, categoryId }: Search, shared: readonly number[]): Walk[] {
  const statuses = new Set(status).size % petStatuses.length === 0 ? [undefined] : [...new Set(status)];
  const parts = [categoryId !== undefined && "category", statuses[0] !== undefined && "status", "word"].filter((part) => part !== false);
  const index = `pet_words_by_${parts.join("_")}`;
  return statuses.flatMap((one) =>
    shared.map((length) => {
      const equal = { ...(categoryId !== undefined && { category_id: categoryId }), ...(one && { status: one }), shared: length };
      return { table: "pet_words", index, columns, accountId, equal, order };
    }),
  );
}

async function rowsOf(db: Database, walks: Walk[], limit: number): Promise<FoundPet[]> {
  const [first] = walks;
  const direction = raw(first?.isBackwards ? " DESC" : "");
  const found = mergeRows(db.engine, walks, limit);
  const rows = await db.query<{ id: number; name: string; category_id: number; status: PetStatus; word: string }>(sql`
    SELECT pets.id, pets.name, pets.category_id, pets.status, found.word FROM (${found}) AS found
    ${db.engine === "sqlite" ? petOfRow : petOfRowOnPostgres}
    ORDER BY found.word${direction}, found.pet_id${direction}`);
  return rows.map(({ id, name, category_id: categoryId, status, word }) => ({ pet: { id, name, categoryId, status }, word }));
}

/** One look-up in the primary key for each word; PostgreSQL's planner gets no choice (as in `findRows`). */
const petOfRow = sql`CROSS JOIN pets ON pets.account_id = found.account_id AND pets.id = found.pet_id`;
const petOfRowOnPostgres = sql`
  CROSS JOIN LATERAL (SELECT * FROM pets WHERE (account_id, id) >= (found.account_id, found.pet_id)
    AND (account_id, id) <= (found.account_id, found.pet_id) ORDER BY account_id, id LIMIT 1) AS pets`;

type Bounds = { from: string; until: string | undefined; after: [word: string, id: number] | undefined; limit: number };

/** As `descendingByName` of lists does it: reads backwards, reverses the ties of each word, and reads the last word again from its first id. */
async function descending(db: Database, walks: Walk[], { from, until, after, limit }: Bounds): Promise<FoundPet[]> {
  const ties = (word: string, id: number, rows: number) =>
    rowsOf(
      db,
      walks.map((walk) => ({ ...walk, after: [word, id], until: nextKey(word) })),
      rows,
    );
  const rows = after ? await ties(after[0], after[1], limit) : [];
  if (rows.length === limit) return rows;
  const left = limit - rows.length;
  const backwards = await rowsOf(
    db,
    walks.map((walk) => ({ ...walk, isBackwards: true, from, until })),
    left,
  );
  const lastWord = backwards.at(-1)?.word;
  const whole = backwards.filter(({ word }) => word !== lastWord);
  for (const group of Map.groupBy(whole, ({ word }) => word).values()) rows.push(...group.toReversed());
  if (lastWord !== undefined) rows.push(...(await ties(lastWord, 0, left - whole.length)));
  return rows;
}

/** The least text after a word: no name contains U+0000. */
function nextKey(word: string): string {
  return `${word}\u0001`;
}

/** Selects the category of each pet that passes the filters, in no particular order. */
export async function categoriesOfPets(db: Database, accountId: number, { q = "", status, categoryId }: PetQuery): Promise<Sql> {
  const passing: Sql[] = [sql`account_id = ${accountId}`];
  if (status) passing.push(sql`status IN (${join(status)})`);
  if (categoryId !== undefined) passing.push(sql`category_id = ${categoryId}`);
  const named = q === "" ? passing : [...passing, beginsWith(sql`name_key`, q)];
  const pets = sql`SELECT category_id FROM pets WHERE ${join(named, " AND ")}`;
  const shared = await sharedBelow(db, accountId, Array.from(nameKeyOf(q)).length);
  if (shared.length === 0) return pets;
  const worded = [...passing, sql`shared IN (${join(shared)})`, beginsWith(sql`word`, q)];
  return sql`${pets} UNION ALL SELECT category_id FROM pet_words WHERE ${join(worded, " AND ")}`;
}
