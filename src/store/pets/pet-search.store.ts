import sql, { raw, type Sql } from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import { mergeRows, walkStatement, type Walk } from "../../platform/db/index-walk.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { categoriesOfNamed, keysBeginning, listPets, namePosition, pageMax } from "./pet-lists.store.ts";
import { sharedBelow } from "./pet-words.store.ts";
import { nameKeyOf, petStatuses, type Pet, type PetQuery, type PetStatus } from "./pets.ts";

/*
 * `pet_words` has a row for each later word of a pet's name (decision 0082). Its column `shared` is the number of first characters that the word has in
 * common with the name itself or with an earlier word. A search for n characters walks only rows whose `shared` is below n, because in all
 * others the name or an earlier word matches too. So it finds each pet once and reads no row that it then skips.
 */

/** A pet that a search found. `word` is the later word that matched; absent if the name itself begins with the text. */
export type FoundPet = { pet: Pet; word?: string };

/** Returns up to `limit` pets after a position: first those whose name begins with `q`, then those with a later word that does. */
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

/** The first element of a position among words, which has three elements. A position among names has two. */
const wordMark = "word";
export const searchPositionLengths = [2, 3];

/** Returns the word and id of a position among words. */
export function wordIn(position: Position | undefined): [word: string, id: number] | undefined {
  return position?.length === 3 ? [String(position[1]), Number(position[2])] : undefined;
}

type Search = Pick<PetQuery, "q" | "status" | "categoryId" | "sort">;

/** Returns up to `limit` pets with a later word that begins with `q`, after a position, sorted by word. Equal words always ascend by id. */
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

/** Returns one walk for each status and each value of `shared`. */
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
  if (first === undefined) return [];
  const direction = raw(first.isBackwards ? " DESC" : "");
  const found = mergeRows(db.engine, walks, limit);
  const rows = await db.query<{ id: number; name: string; category_id: number; status: PetStatus; word: string }>(sql`
    SELECT pets.id, pets.name, pets.category_id, pets.status, found.word FROM (${found}) AS found
    ${petOfFound(db.engine, first.accountId)}
    ORDER BY found.word${direction}, found.pet_id${direction}`);
  return rows.map(({ id, name, category_id: categoryId, status, word }) => ({ pet: { id, name, categoryId, status }, word }));
}

/** Looks up the pet of each row of `found` by primary key. On PostgreSQL the SQL leaves the planner no other plan, as in `findRows`. */
export function petOfFound(engine: Database["engine"], accountId: number): Sql {
  if (engine === "sqlite") return sql`CROSS JOIN pets ON pets.account_id = found.account_id AND pets.id = found.pet_id`;
  return sql`
    CROSS JOIN LATERAL (SELECT * FROM pets WHERE account_id = ${accountId} AND id >= found.pet_id AND id <= found.pet_id
      ORDER BY account_id, id LIMIT 1) AS pets`;
}

type Bounds = { from: string; until: string | undefined; after: [word: string, id: number] | undefined; limit: number };

/** Works like `descendingByName`: walks backwards, reverses each group of equal words, and reads the last word again from its lowest id. */
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
  const complete = backwards.filter(({ word }) => word !== lastWord);
  for (const group of Map.groupBy(complete, ({ word }) => word).values()) rows.push(...group.toReversed());
  if (lastWord !== undefined) rows.push(...(await ties(lastWord, 0, left - complete.length)));
  return rows;
}

/** Returns the first text that sorts after a word, because no name contains U+0000. */
function nextKey(word: string): string {
  return `${word}\u0001`;
}

const categoryAndWord = raw("category_id, word, pet_id");

/** Reads the category of each pet that passes the filters, page by page, in no particular order. */
export async function* categoriesOfPets(db: Database, accountId: number, { q = "", ...filters }: PetQuery): AsyncGenerator<number[]> {
  yield* categoriesOfNamed(db, accountId, q === "" ? filters : { ...filters, q });
  if (q === "") return;
  const prefix = nameKeyOf(q);
  const shared = await sharedBelow(db, accountId, Array.from(prefix).length);
  if (shared.length === 0) return;
  const walks = walksOf(accountId, filters, shared).map((walk) => ({ ...walk, ...keysBeginning(prefix), columns: categoryAndWord }));
  for (let after: [word: string, id: number] | undefined; ;) {
    const page = walks.map((walk) => ({ ...walk, after }));
    const { statement: text, values } = walkStatement<[category: number, word: string, id: number]>(db.engine, page, pageMax);
    const rows = await db.scan(() => db.rows(text, values));
    yield rows.map(([category]) => category);
    if (rows.length < pageMax) return;
    const [, word, id] = rows.at(-1)!;
    after = [word, id];
  }
}
