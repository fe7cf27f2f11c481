import type { Database } from "./database.ts";
import { mergeRows, type Walk } from "./index-walk.ts";
import { statement, type Bound, type BoundValue, type Statement } from "./statement.ts";

/** The statement of one shape, and the place of each of its values among the values of the walks. */
type Prepared = { statement: Statement<never>; places: number[] };

/** The statements by shape. There are few, because a list has few filters and orders, and a filter is a column. */
const kept = new Map<string, Prepared>();

/**
 * The statement of `mergeRows`, written only once for all walks of one shape: the same tables, indexes and columns, and the same bounds,
 * whatever their values.
 */
export function walkStatement<R extends unknown[]>(engine: Database["engine"], walks: readonly Walk[], limit: number): Bound<R> {
  let shape: string = engine;
  const given: BoundValue[] = [];
  for (const walk of walks) {
    shape += shapeOf(walk);
    addValues(given, walk);
  }
  given.push(limit);
  let prepared = kept.get(shape);
  if (!prepared) kept.set(shape, (prepared = prepare(engine, walks)));
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
function prepare(engine: Database["engine"], walks: readonly Walk[]): Prepared {
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
  const written = mergeRows(engine, placed, next());
  return { statement: statement<never>(written.sql, written.text), places: written.values as number[] };
}
