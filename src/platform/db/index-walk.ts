import sql, { join, raw, type Sql } from "sql-template-tag";
import { limitTo } from "./batches.ts";
import type { Database } from "./database.ts";
import { statement, type Bound, type BoundValue, type Statement } from "./statement.ts";

type Value = string | number | boolean;

/**
 * Neighbouring rows of one index. Its columns are `account_id`, those of `equal`, then those of `order`. The index is the only filter, so a
 * page reads only the rows that it shows, however few rows of the table match and wherever the page begins.
 */
export type Walk = {
  table: string;
  /** Left out for the primary key. */
  index?: string;
  /** The condition of a partial index, as its migration has it. */
  condition?: string;
  columns: Sql;
  accountId: number;
  equal?: Record<string, Value>;
  /** Empty where `equal` names all columns of a unique index. */
  order: readonly string[];
  isBackwards?: boolean;
  /** The values of `order` after which a walk forwards begins. */
  after?: readonly Value[] | undefined;
  /** Bounds of the first column of `order`: from this value, up to but without that one. */
  from?: Value | undefined;
  until?: Value | undefined;
};

/**
 * Selects up to `limit` rows of a walk, in its order. The statement leaves the planner no choice, because the planner's
 * estimates are wrong if data is skewed or statistics are old. For SQLite the statement names the index. PostgreSQL has no
 * such hint, but only this index gives the order that the statement asks for (connections for reads do not sort if an
 * index gives the order).
 */
export function walkRows(engine: Database["engine"], walk: Walk, limit: number): Sql {
  const branch = engine === "sqlite" ? namedBranch(walk) : orderedBranch(walk);
  const order = engine === "sqlite" ? walk.order : [...fixedOf(walk).columns, ...walk.order];
  return order.length === 0 ? branch : sql`${branch} ORDER BY ${directed(order, walk)} ${limitTo(limit)}`;
}

/**
 * Selects the first `limit` rows of several walks that share an order. `columns` must include the columns of that order. It
 * reads at most `limit` rows of each.
 */
export function mergeRows(engine: Database["engine"], walks: readonly Walk[], limit: number): Sql {
  const [first] = walks;
  if (first === undefined) throw new Error("nothing to walk");
  if (walks.length === 1) return walkRows(engine, first, limit);
  const order = directed(first.order, first);
  if (engine === "sqlite") return sql`${join(walks.map(namedBranch), " UNION ALL ")} ORDER BY ${order} ${limitTo(limit)}`;
  const branches = walks.map((walk) => sql`(${walkRows(engine, walk, limit)})`);
  return sql`SELECT * FROM (${join(branches, " UNION ALL ")}) AS merged ORDER BY ${order} ${limitTo(limit)}`;
}

function directed(columns: readonly string[], { isBackwards }: Walk): Sql {
  return raw(columns.map((column) => (isBackwards ? `${column} DESC` : column)).join(", "));
}

/** For SQLite: the index by name, and a condition for each of its columns. */
function namedBranch({ table, index, condition, columns, ...walk }: Walk): Sql {
  const fixed = fixedOf(walk);
  const { lower, upper } = boundsOf(walk);
  const conditions = fixed.columns.map((column, i) => sql`${raw(column)} = ${fixed.values[i]}`);
  if (lower) conditions.push(comparison(lower));
  if (upper) conditions.push(comparison(upper));
  if (condition !== undefined) conditions.push(raw(condition));
  return sql`SELECT ${columns} FROM ${raw(index === undefined ? table : `${table} INDEXED BY ${index}`)} WHERE ${join(conditions, " AND ")}`;
}

/**
 * For PostgreSQL: from one place of the index to another, in the order of all its columns. If the statement compared the first columns by `=`,
 * the planner could drop them from the order, and use an index of fewer columns with a filter. Only the account, with which every
 * index begins, is compared by `=`: a database that is divided by account finds the server of the rows by that comparison.
 */
function orderedBranch({ table, condition, columns, ...walk }: Walk): Sql {
  const { accountId, equal = {} } = walk;
  const { lower, upper } = boundsOf(walk);
  const fixed = { columns: Object.keys(equal), values: Object.values(equal) };
  const bounds = [joined({ ...fixed, sign: ">=" }, lower), joined({ ...fixed, sign: "<=" }, upper)];
  const conditions = bounds.filter((one) => one.columns.length > 0).map(comparison);
  if (condition !== undefined) conditions.push(raw(condition));
  return sql`SELECT ${columns} FROM ${raw(table)} WHERE ${join([sql`account_id = ${accountId}`, ...conditions], " AND ")}`;
}

type Comparison = { columns: readonly string[]; sign: string; values: readonly Value[] };

function joined(fixed: Comparison, more: Comparison | undefined): Comparison {
  if (!more) return fixed;
  return { columns: [...fixed.columns, ...more.columns], sign: more.sign, values: [...fixed.values, ...more.values] };
}

function comparison({ columns, sign, values }: Comparison): Sql {
  if (columns.length === 1) return sql`${raw(columns.join(""))} ${raw(sign)} ${values[0]}`;
  return sql`(${raw(columns.join(", "))}) ${raw(sign)} (${join(values)})`;
}

function fixedOf({ accountId, equal = {} }: Pick<Walk, "accountId" | "equal">): { columns: string[]; values: Value[] } {
  return { columns: ["account_id", ...Object.keys(equal)], values: [accountId, ...Object.values(equal)] };
}

/** A position replaces the lower bound, which it lies beyond: given both, an engine may seek to the wrong one. */
function boundsOf({ order, after, from, until }: Pick<Walk, "order" | "after" | "from" | "until">): {
  lower?: Comparison;
  upper?: Comparison;
} {
  const first = order.slice(0, 1);
  const bounds: { lower?: Comparison; upper?: Comparison } = {};
  if (after) bounds.lower = { columns: order, sign: ">", values: after };
  else if (from !== undefined) bounds.lower = { columns: first, sign: ">=", values: [from] };
  if (until !== undefined) bounds.upper = { columns: first, sign: "<", values: [until] };
  return bounds;
}

/** A look-up by ids or texts. The columns of an index are `account_id`, those of `equal`, then `key`. */
export type KeyLookup = { table: string; columns: Sql; accountId: number; equal?: Record<string, Value>; key: string };

/** Selects the rows with these keys, in no particular order: one look-up in the index for each, whatever filters surround it. */
export function findRows(
  engine: Database["engine"],
  { table, columns, accountId, key, equal = {} }: KeyLookup,
  keys: readonly Value[],
): Sql {
  const wanted = JSON.stringify([...new Set(keys)].filter((one) => typeof one === "string" || Number.isSafeInteger(one)));
  const fixed = fixedOf({ accountId, equal });
  if (engine === "sqlite") {
    const conditions = fixed.columns.map((column, i) => sql`${raw(column)} = ${fixed.values[i]}`);
    return sql`
      SELECT ${columns} FROM (SELECT value AS wanted FROM json_each(${wanted}))
      CROSS JOIN ${raw(table)} ON ${join(conditions, " AND ")} AND ${raw(key)} = wanted ${limitTo(keys.length)}`;
  }
  const wantedKey = sql`CAST(wanted AS ${raw(typeof keys[0] === "string" ? "TEXT" : "BIGINT")})`;
  const place = raw(`(${[...Object.keys(equal), key].join(", ")})`);
  const values = join([...Object.values(equal), wantedKey]);
  return sql`
    SELECT ${columns} FROM jsonb_array_elements_text(CAST(${wanted} AS JSONB)) AS ids (wanted) CROSS JOIN LATERAL (
      SELECT * FROM ${raw(table)} WHERE account_id = ${accountId} AND ${place} >= (${values}) AND ${place} <= (${values})
      ORDER BY ${raw([...fixed.columns, key].join(", "))} LIMIT 1) AS found`;
}

/** The statement of one shape, and the place of each of its values among the values of the walks. */
type PreparedSql = { statement: Statement<never>; places: number[] };

/** The statements by shape. There are few, because a list has few filters and orders, and a filter is a column. */
const kept = new Map<string, PreparedSql>();

/**
 * The statement of `mergeRows`, written only once for all walks of one shape: the same tables, indexes and columns, and the same bounds,
 * whatever their values.
 */
export function walkStatement<R extends unknown[]>(engine: Database["engine"], walks: readonly Walk[], limit: number): Bound<R> {
  return bindWalks(engine, "", walks, limit);
}

/**
 * Reads a walk backwards, up to `step` rows at a time as a long read, which takes turns with others. Its first column is the first of `order`.
 */
export async function* stepsBack<R extends [place: number, ...unknown[]]>(db: Database, walk: Walk, step: number): AsyncGenerator<R[]> {
  let { until } = walk;
  for (;;) {
    const { statement: text, values } = walkStatement<R>(db.engine, [{ ...walk, isBackwards: true, until }], step);
    const rows = await db.scan(() => db.rows(text, values));
    yield rows;
    if (rows.length < step) return;
    until = rows.at(-1)![0];
  }
}

/** The JSON texts of a list's rows, joined by commas in the list's order, and how many they are; null if there are none. */
export type JoinedRows = [texts: string | null, count: number];

/**
 * Like `walkStatement`, but joins the rows, which have a column `json`, into one. For an engine, that takes a third of the time of
 * returning them one by one.
 */
export function joinedStatement(engine: Database["engine"], walks: readonly Walk[], limit: number): Bound<JoinedRows> {
  return bindWalks(engine, "string_agg(json, ','), COUNT(*)", walks, limit);
}

/** @param aggregates what to select from the rows; empty for the rows themselves */
function bindWalks(engine: Database["engine"], aggregates: string, walks: readonly Walk[], limit: number): Bound<never> {
  let shape = `${engine} ${aggregates}`;
  const given: BoundValue[] = [];
  for (const walk of walks) {
    shape += shapeOf(walk);
    addValues(given, walk);
  }
  given.push(limit);
  let prepared = kept.get(shape);
  if (!prepared) kept.set(shape, (prepared = prepare(engine, aggregates, walks)));
  return { statement: prepared.statement, values: prepared.places.map((place) => given[place]!) };
}

function shapeOf({ table, index, condition, columns, equal, order, isBackwards, after, from, until }: Walk): string {
  let shape = ` ${table} ${index} ${condition} ${columns.sql}`;
  for (const column in equal) shape += ` ${column}`;
  return `${shape} by ${order.join()}${isBackwards ? " back" : ""}${after ? " after" : ""}${from === undefined ? "" : " from"}${until === undefined ? "" : " until"}`;
}

/** Adds the values of a walk, in the order in which `placed` counts them. */
function addValues(values: BoundValue[], { accountId, equal, after, from, until }: Walk): void {
  values.push(accountId);
  for (const column in equal) values.push(bound(equal[column]!));
  if (after) for (const value of after) values.push(bound(value));
  if (from !== undefined) values.push(bound(from));
  if (until !== undefined) values.push(bound(until));
}

function bound(value: string | number | boolean): BoundValue {
  return typeof value === "boolean" ? Number(value) : value;
}

/** Writes the statement with the place of each value instead of the value. */
function prepare(engine: Database["engine"], aggregates: string, walks: readonly Walk[]): PreparedSql {
  let count = 0;
  const next = () => count++;
  const placed = walks.map((walk): Walk => {
    const { equal, after, from, until } = walk;
    return {
      ...walk,
      accountId: next(),
      ...(equal && { equal: Object.fromEntries(Object.keys(equal).map((column) => [column, next()])) }),
      ...(after && { after: after.map(next) }),
      ...(from !== undefined && { from: next() }),
      ...(until !== undefined && { until: next() }),
    };
  });
  const rows = mergeRows(engine, placed, next());
  const written = aggregates === "" ? rows : sql`SELECT ${raw(aggregates)} FROM (${rows}) AS listed`;
  return { statement: statement<never>(written.sql, written.text), places: written.values as number[] };
}
