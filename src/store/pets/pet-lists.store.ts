import sql, { join, type Sql } from "sql-template-tag";
import type { Queryable } from "../../platform/db/database.ts";
import { limitTo } from "../../platform/db/limit.ts";
import { afterPrefix, fold } from "../../platform/folding.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { Problem } from "../../platform/problem.ts";
import type { PetQuery, PetSort } from "./pets.ts";
import { petColumns, storedPet, type PetRow, type StoredPet } from "./pets.store.ts";

/** What a list reads: `from` and `end` bound the names that begin with `q`. */
type Range = { db: Queryable; filters: Sql[]; from: Sql[]; end: Sql[]; limit: number };

/** By what a list is ordered. @throws Problem `invalid_request` when a prefix is asked for in the order of ids */
export function orderOf({ q, sort }: PetQuery): PetSort {
  if (q !== undefined && (sort === "id" || sort === "-id")) {
    const message = "must be name or -name beside q";
    throw new Problem("invalid_request", `query.sort ${message}.`, { details: [{ path: "query.sort", message }] });
  }
  return sort ?? (q === undefined ? "id" : "name");
}

/** The position of an animal in the order of names. */
export function namePosition({ pet }: StoredPet): [string, number] {
  return [fold(pet.name), pet.id];
}

/**
 * Up to `limit` animals that pass the filters, from after a position on. Each filter and order has its index, so that a
 * page costs the same wherever it begins: a position takes the place of the bound that it lies beyond, since an engine
 * may seek by either.
 */
export async function listPets(
  db: Queryable,
  accountId: number,
  query: PetQuery,
  after: Position | undefined,
  limit: number,
): Promise<StoredPet[]> {
  const range = { db, filters: filtersOf(accountId, query), ...namesFrom(query, after), limit };
  const rows = await rowsInOrder(range, orderOf(query), after);
  return rows.map(storedPet);
}

function rowsInOrder(range: Range, order: PetSort, after: Position | undefined): Promise<NamedRow[]> {
  const id = after?.at(-1);
  switch (order) {
    case "id":
      return select(range, id === undefined ? [] : [sql`id > ${id}`], sql`id`);
    case "-id":
      return select(range, id === undefined ? [] : [sql`id < ${id}`], sql`id DESC`);
    case "name":
      return select(range, [...(after ? [sql`(name_key, id) > (${after[0]}, ${id})`] : range.from), ...range.end], sql`name_key, id`);
    case "-name":
      return descendingByName(range, after);
  }
}

type NamedRow = PetRow & { name_key: string };

function select({ db, filters, limit }: Range, bounds: Sql[], order: Sql): Promise<NamedRow[]> {
  return db.query<NamedRow>(sql`
    SELECT ${petColumns}, name_key FROM pets WHERE ${join([...filters, ...bounds], " AND ")} ORDER BY ${order} ${limitTo(limit)}`);
}

/**
 * Names descend while ties ascend by id, which no index walk gives: the rows are read backwards, the ties of each name
 * turned round, and the last name, of which more may follow, is read again from its first id.
 */
async function descendingByName(range: Range, after: Position | undefined): Promise<NamedRow[]> {
  const ties = (name: string | number | undefined, id: number, limit: number): Promise<NamedRow[]> =>
    select({ ...range, limit }, [sql`name_key = ${name}`, sql`id > ${id}`], sql`id`);

  const rows = after ? await ties(after[0], Number(after[1]), range.limit) : [];
  if (rows.length === range.limit) return rows;
  const limit = range.limit - rows.length;
  const below = [...range.from, ...(after ? [sql`name_key < ${after[0]}`] : range.end)];
  const backwards = await select({ ...range, limit }, below, sql`name_key DESC, id DESC`);
  const lastName = backwards.at(-1)?.name_key;
  const whole = backwards.filter((row) => row.name_key !== lastName);
  for (const group of Map.groupBy(whole, (row) => row.name_key).values()) rows.push(...group.toReversed());
  if (lastName !== undefined) rows.push(...(await ties(lastName, 0, limit - whole.length)));
  return rows;
}

function filtersOf(accountId: number, { status, categoryId, id }: PetQuery): Sql[] {
  const filters = [sql`account_id = ${accountId}`];
  if (categoryId !== undefined) filters.push(sql`category_id = ${categoryId}`);
  if (status !== undefined) filters.push(sql`status = ${status}`);
  if (id !== undefined) filters.push(id.length === 1 ? sql`id = ${id[0]}` : sql`id IN (${join(id)})`);
  return filters;
}

/** The bounds of names that begin with `q`. @throws Problem `invalid_request` for a position outside of them */
function namesFrom({ q }: PetQuery, after: Position | undefined): { from: Sql[]; end: Sql[] } {
  if (q === undefined) return { from: [], end: [] };
  const prefix = fold(q);
  if (after && !String(after[0]).startsWith(prefix)) throw badCursor();
  const end = afterPrefix(prefix);
  return { from: [sql`name_key >= ${prefix}`], end: end === undefined ? [] : [sql`name_key < ${end}`] };
}
