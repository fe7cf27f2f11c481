import sql, { join, type Sql } from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import { findRows, mergeRows } from "../../platform/db/index-walk.ts";
import { limitTo } from "../../platform/db/batches.ts";
import { afterPrefix } from "../../platform/normalize.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { invalidAt } from "../../platform/problem.ts";
import { nameKeyOf, petStatuses, type PetQuery, type PetSort, type PetStatus } from "./pets.ts";
import { petColumns, storedPet, type PetRow, type StoredPet } from "./pets.store.ts";

type NamedRow = PetRow & { name_key: string };

const columns = sql`${petColumns}, name_key`;
const idOnly = ["id"] as const;
const nameAndId = ["name_key", "id"] as const;

/** What a list reads: one index walk for each entry of `equal`; `from` and `until` bound the names that begin with `q`. */
type Range = { db: Database; accountId: number; equal: Record<string, string | number>[]; from?: string; until?: string; limit: number };

/** Returns the order of a list. @throws Problem `invalid_request` for `q` with the order of ids */
export function sortOf({ q, sort }: PetQuery): PetSort {
  if (q !== undefined && (sort === "id" || sort === "-id")) {
    throw invalidAt("query.sort", "must be name or -name beside q");
  }
  return sort ?? (q === undefined ? "id" : "name");
}

/** Returns the position of a pet in the order of names. */
export function namePosition({ pet }: StoredPet): [string, number] {
  return [nameKeyOf(pet.name), pet.id];
}

/**
 * Returns up to `limit` pets that pass the filters, after a position. Each combination of filters and order has its index,
 * so a page costs the same wherever it begins and however few pets match. Several statuses are several walks, merged.
 */
export async function listPets(
  db: Database,
  accountId: number,
  query: PetQuery,
  after: Position | undefined,
  limit: number,
): Promise<StoredPet[]> {
  if (asksForOne(query) && !after) return findPet(db, accountId, query.id);
  const order = sortOf(query);
  const names = namesOf(query, after);
  if (query.id) return (await findPets(db, accountId, { ...query, id: query.id }, names, after, limit)).map(storedPet);
  const rows = await rowsInOrder({ db, accountId, equal: equalOf(query), ...names, limit }, order, after);
  return rows.map(storedPet);
}

/** Whether a request is the successor of GET /pets/{petId}: this most frequent list has its own statement, which takes half the time. */
function asksForOne(query: PetQuery): query is PetQuery & { id: [number] } {
  return query.id?.length === 1 && query.q === undefined && query.status === undefined && query.categoryId === undefined;
}

async function findPet(db: Database, accountId: number, [id]: [number]): Promise<StoredPet[]> {
  const rows = await db.query<PetRow>(sql`SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id = ${id}`);
  return rows.map(storedPet);
}

function rowsInOrder(range: Range, order: PetSort, after: Position | undefined): Promise<NamedRow[]> {
  switch (order) {
    case "id":
      return walk(range, { order: idOnly, after });
    case "-id":
      return walk(range, { order: idOnly, isBackwards: true, until: after?.[0] });
    case "name":
      return walk(range, { order: nameAndId, after, from: range.from, until: range.until });
    case "-name":
      return descendingByName(range, after);
  }
}

type Course = {
  order: typeof idOnly | typeof nameAndId;
  isBackwards?: true;
  after?: Position | undefined;
  from?: string | undefined;
  until?: string | number | undefined;
};

function walk({ db, accountId, equal, limit }: Range, course: Course): Promise<NamedRow[]> {
  const walks = equal.map((values) => {
    const parts = ["category_id" in values && "category", "status" in values && "status"];
    const isByName = "name_key" in values || course.order === nameAndId;
    const name = [...parts, isByName && "name"].filter((part) => part !== false).join("_");
    return { table: "pets", ...(name !== "" && { index: `pets_by_${name}` }), columns, accountId, equal: values, ...course };
  });
  return db.query<NamedRow>(mergeRows(db.engine, walks, limit));
}

/**
 * Names descend and ties ascend by id (decision 0005), which no index walk gives. So this reads the rows backwards, reverses the
 * ties of each name, and reads the last name, of which more may follow, again from its first id.
 */
async function descendingByName(range: Range, after: Position | undefined): Promise<NamedRow[]> {
  const ties = (name: string, id: number, limit: number): Promise<NamedRow[]> =>
    walk({ ...range, equal: range.equal.map((values) => ({ ...values, name_key: name })), limit }, { order: idOnly, after: [id] });

  const rows = after ? await ties(String(after[0]), Number(after[1]), range.limit) : [];
  if (rows.length === range.limit) return rows;
  const limit = range.limit - rows.length;
  const until = after ? String(after[0]) : range.until;
  const backwards = await walk({ ...range, limit }, { order: nameAndId, isBackwards: true, from: range.from, until });
  const lastName = backwards.at(-1)?.name_key;
  const whole = backwards.filter((row) => row.name_key !== lastName);
  for (const group of Map.groupBy(whole, (row) => row.name_key).values()) rows.push(...group.toReversed());
  if (lastName !== undefined) rows.push(...(await ties(lastName, 0, limit - whole.length)));
  return rows;
}

/** Returns the values that each walk looks for: one set for each status of the request, or one without status if it names all or none. */
function equalOf({ status, categoryId }: PetQuery): Range["equal"] {
  const category: Record<string, number> = categoryId === undefined ? {} : { category_id: categoryId };
  const statuses = new Set<PetStatus>(status);
  if (statuses.size === 0 || statuses.size === petStatuses.length) return [category];
  return [...statuses].map((value) => ({ ...category, status: value }));
}

/** Returns the bounds of names that begin with `q`. @throws Problem `invalid_request` for a position outside them */
function namesOf({ q }: PetQuery, after: Position | undefined): { from?: string; until?: string } {
  if (q === undefined) return {};
  const prefix = nameKeyOf(q);
  if (after && !String(after[0]).startsWith(prefix)) throw badCursor();
  const until = afterPrefix(prefix);
  return { from: prefix, ...(until !== undefined && { until }) };
}

const orders = {
  id: { by: sql`id`, after: ([id]: Position) => sql`id > ${id}` },
  "-id": { by: sql`id DESC`, after: ([id]: Position) => sql`id < ${id}` },
  name: { by: sql`name_key, id`, after: ([name, id]: Position) => sql`(name_key, id) > (${name}, ${id})` },
  "-name": {
    by: sql`name_key DESC, id`,
    after: ([name, id]: Position) => sql`(name_key < ${name} OR name_key = ${name} AND id > ${id})`,
  },
};

/** Returns the pets with these ids, a hundred at most, that pass the other filters. */
function findPets(
  db: Database,
  accountId: number,
  query: PetQuery & { id: number[] },
  { from, until }: { from?: string; until?: string },
  after: Position | undefined,
  limit: number,
): Promise<NamedRow[]> {
  const order = orders[sortOf(query)];
  const passing: Sql[] = [];
  if (query.categoryId !== undefined) passing.push(sql`category_id = ${query.categoryId}`);
  if (query.status) passing.push(sql`status IN (${join(query.status)})`);
  if (from !== undefined) passing.push(sql`name_key >= ${from}`);
  if (until !== undefined) passing.push(sql`name_key < ${until}`);
  if (after) passing.push(order.after(after));
  const found = findRows(db.engine, { table: "pets", columns, accountId, key: "id" }, query.id);
  const where = passing.length > 0 ? sql`WHERE ${join(passing, " AND ")}` : sql``;
  return db.query<NamedRow>(sql`SELECT * FROM (${found}) AS wanted ${where} ORDER BY ${order.by} ${limitTo(limit)}`);
}
