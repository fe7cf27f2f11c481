import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { andThen, type Awaitable, type Database } from "../../platform/db/database.ts";
import { type JoinedRows, joinedStatement, type Walk, walkStatement } from "../../platform/db/index-walk.ts";
import type { Bound } from "../../platform/db/statement.ts";
import { afterPrefix } from "../../platform/folding.ts";
import { badCursor, type Position } from "../../platform/http/paging.ts";
import { invalidAt } from "../../platform/problem.ts";
import { shownColumns } from "./pets.store.ts";
import { nameKeyOf, petStatuses, type Pet, type PetQuery, type PetSort, type PetStatus } from "./pets.ts";

/** A row of a walk by name. */
type NamedRow = [id: number, name: string, categoryId: number, status: PetStatus, nameKey: string];

const idColumn = raw("id");
const nameColumns = raw("id, name, category_id, status, name_key");
const idOnly = ["id"] as const;
const nameAndId = ["name_key", "id"] as const;

/** What a list reads: one index walk for each entry of `equal`; `from` and `until` bound the names that begin with `q`. */
type Range = { db: Database; accountId: number; equal: Record<string, string | number>[]; from?: string; until?: string; limit: number };

/** Returns the sort of a list. Default: `id`, or `name` with `q`. @throws Problem `invalid_request` for `q` with a sort by id */
export function sortOf({ q, sort }: PetQuery): PetSort {
  if (q !== undefined && (sort === "id" || sort === "-id")) {
    throw invalidAt("query.sort", "must be name or -name beside q");
  }
  return sort ?? (q === undefined ? "id" : "name");
}

/** Returns the position of a pet in the order of names. */
export function namePosition({ name, id }: Pick<Pet, "id" | "name">): [string, number] {
  return [nameKeyOf(name), id];
}

/**
 * Returns up to `limit` pets that pass the filters, after a position. Each combination of filters and order has its index,
 * so a page costs the same wherever it begins and however few pets match. Several statuses take one walk each, and the walks are merged.
 */
export function listPets(
  db: Database,
  accountId: number,
  query: Omit<PetQuery, "id">,
  after: Position | undefined,
  limit: number,
): Awaitable<Pet[]> {
  const range = { db, accountId, equal: equalOf(query), ...namesOf(query, after), limit };
  const { from, until } = range;
  switch (sortOf(query)) {
    case "name":
      return andThen(walk(range, { columns: nameColumns, order: nameAndId, after, from, until }), petsOf);
    case "-name":
      return andThen(descendingByName(range, after), petsOf);
    default:
      return andThen(walk(range, { columns: nameColumns, ...byId(query, after) }), petsOf);
  }
}

/** Like `listPets`, but sorted by id, and with the pets as JSON text. */
export function showListedPets(
  db: Database,
  accountId: number,
  query: Omit<PetQuery, "id" | "q">,
  after: Position | undefined,
  limit: number,
): Awaitable<JoinedRows> {
  const walks = walksOf({ db, accountId, equal: equalOf(query), limit }, { columns: shownColumns[db.engine], ...byId(query, after) });
  const { statement, values } = joinedStatement(db.engine, walks, limit);
  return andThen(db.rows(statement, values), ([row]) => row!);
}

function byId({ sort }: PetQuery, after: Position | undefined): Omit<Course, "columns"> {
  return sort === "-id" ? { order: idOnly, isBackwards: true, until: after?.[0] } : { order: idOnly, after };
}

/** The most rows of a page of a count. */
export const pageMax = 2_000;
const categoryAndId = raw("category_id, id");
const categoryAndName = raw("category_id, name_key, id");

/** Reads the category of each pet that passes the filters, page by page. */
export async function* categoriesOfNamed(db: Database, accountId: number, query: PetQuery): AsyncGenerator<number[]> {
  const { from, until } = namesOf(query, undefined);
  const [columns, order] = query.q === undefined ? [categoryAndId, idOnly] : [categoryAndName, nameAndId];
  const range = { db, accountId, equal: equalOf(query), limit: pageMax };
  for (let after: Position | undefined; ;) {
    const { statement, values } = boundWalk<[number, ...Position]>(range, { columns, order, after, from, until });
    const rows = await db.scan(() => db.rows(statement, values));
    yield rows.map(([category]) => category);
    if (rows.length < pageMax) return;
    after = rows.at(-1)!.slice(1);
  }
}

/** Returns the ids of up to `limit` pets with one of these statuses and an id below `before`, the newest first. */
export function newestPetIds(
  db: Database,
  accountId: number,
  status: PetStatus[],
  before: number | undefined,
  limit: number,
): Awaitable<number[]> {
  const range = { db, accountId, equal: equalOf({ status }), limit };
  const { statement, values } = boundWalk<[id: number]>(range, { columns: idColumn, order: idOnly, isBackwards: true, until: before });
  return andThen(db.rows(statement, values), (rows) => rows.map(([id]) => id));
}

/** Returns the ids of the categories that have a pet with one of these statuses. Looks into the index once for each category and status. */
export async function categoriesWithPets(db: Database, accountId: number, status: PetStatus[]): Promise<number[]> {
  const hint = db.engine === "sqlite" ? raw("INDEXED BY pets_by_category_status") : empty;
  const first = status.map(
    (value) => sql`(SELECT id FROM pets ${hint}
      WHERE account_id = categories.account_id AND category_id = categories.id AND status = ${value}
      ORDER BY account_id, category_id, status, id LIMIT 1)`,
  );
  const rows = await db.query<{ id: number }>(
    sql`SELECT id FROM categories WHERE account_id = ${accountId} AND COALESCE(${join(first)}, NULL) IS NOT NULL`,
  );
  return rows.map(({ id }) => id);
}

function petsOf(rows: NamedRow[]): Pet[] {
  return rows.map(([id, name, categoryId, status]) => ({ id, name, categoryId, status }));
}

type Course = Pick<Walk, "columns" | "order" | "isBackwards" | "after" | "from" | "until">;

function walk(range: Range, course: Course): Awaitable<NamedRow[]> {
  const { statement, values } = boundWalk<NamedRow>(range, course);
  return range.db.rows(statement, values);
}

function boundWalk<R extends unknown[]>(range: Range, course: Course): Bound<R> {
  return walkStatement<R>(range.db.engine, walksOf(range, course), range.limit);
}

function walksOf({ accountId, equal }: Range, course: Course): Walk[] {
  return equal.map((values) => {
    const parts = ["category_id" in values && "category", "status" in values && "status"];
    const isByName = "name_key" in values || course.order === nameAndId;
    const name = [...parts, isByName && "name"].filter((part) => part !== false).join("_");
    return { table: "pets", ...(name !== "" && { index: `pets_by_${name}` }), accountId, equal: values, ...course };
  });
}

/**
 * Names descend, but pets with the same name ascend by id (decision 0005), and no index has this order. So this walks an index backwards and
 * reverses each group of equal names. It reads the last name again from its lowest id, because the walk may have ended within the group.
 */
async function descendingByName(range: Range, after: Position | undefined): Promise<NamedRow[]> {
  const ties = (name: string, id: number, limit: number): Awaitable<NamedRow[]> => {
    const equal = range.equal.map((values) => ({ ...values, name_key: name }));
    return walk({ ...range, equal, limit }, { columns: nameColumns, order: idOnly, after: [id] });
  };

  const rows = after ? await ties(String(after[0]), Number(after[1]), range.limit) : [];
  if (rows.length === range.limit) return rows;
  const limit = range.limit - rows.length;
  const until = after ? String(after[0]) : range.until;
  const backwards = await walk({ ...range, limit }, { columns: nameColumns, order: nameAndId, isBackwards: true, from: range.from, until });
  const lastName = backwards.at(-1)?.[4];
  const complete = backwards.filter(([, , , , name]) => name !== lastName);
  for (const group of Map.groupBy(complete, ([, , , , name]) => name).values()) rows.push(...group.toReversed());
  if (lastName !== undefined) rows.push(...(await ties(lastName, 0, limit - complete.length)));
  return rows;
}

/** Returns the column values that each walk looks for: one set for each status of the query, or one set without a status if it names all or none. */
function equalOf({ status, categoryId }: PetQuery): Range["equal"] {
  const category: Record<string, number> = categoryId === undefined ? {} : { category_id: categoryId };
  const statuses = new Set<PetStatus>(status);
  if (statuses.size === 0 || statuses.size === petStatuses.length) return [category];
  return [...statuses].map((value) => ({ ...category, status: value }));
}

/** Returns the bounds of keys that begin with a prefix. */
export function keysBeginning(prefix: string): { from: string; until?: string } {
  const until = afterPrefix(prefix);
  return { from: prefix, ...(until !== undefined && { until }) };
}

/** Returns the condition that a key column begins with `q`. */
export function beginsWith(key: Sql, q: string): Sql {
  const { from, until } = keysBeginning(nameKeyOf(q));
  return until === undefined ? sql`${key} >= ${from}` : sql`${key} >= ${from} AND ${key} < ${until}`;
}

/** Returns the bounds of names that begin with `q`. @throws Problem `invalid_request` for a position outside them */
function namesOf({ q }: PetQuery, after: Position | undefined): { from?: string; until?: string } {
  if (q === undefined) return {};
  const prefix = nameKeyOf(q);
  if (after && !String(after[0]).startsWith(prefix)) throw badCursor();
  return keysBeginning(prefix);
}
