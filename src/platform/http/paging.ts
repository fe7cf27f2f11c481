import { crc32 } from "node:zlib";
import { invalidAt, type Problem } from "../problem.ts";
import { addressOf } from "./api-surfaces.ts";

export const limitDefault = 20;

/** The values of a row that a list is ordered by, with the id last. */
export type Position = (string | number)[];

type Query = Record<string, unknown> & { limit?: number; cursor?: string };

/**
 * The position after which a page begins; undefined for the first page.
 *
 * @param length how many values a position of this order has
 * @throws Problem `invalid_request` if the cursor is not one of this list with these filters and this sort
 */
export function positionOf(query: Query, length: number): Position | undefined {
  if (query.cursor === undefined) return undefined;
  const [fingerprint, ...position] = decode(query.cursor);
  if (fingerprint !== fingerprintOf(query)) throw badCursor();
  const id = position.at(-1);
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 0) throw badCursor();
  if (!position.slice(0, -1).every((value) => typeof value === "string" && value.isWellFormed() && !value.includes("\0")))
    throw badCursor();
  if (position.length !== length) throw badCursor();
  return position as Position;
}

/**
 * Cuts rows to a page, and returns the `Link` to the next page if there is one (RFC 8288). `rows` has one more row than the limit if
 * there are more.
 *
 * @param path the list's path in the description
 */
export function pageOf<R>(
  path: string,
  query: Query,
  rows: R[],
  positionAfter: (row: R) => Position,
): { rows: R[]; headers: Record<string, string> } {
  const limit = query.limit ?? limitDefault;
  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) return { rows, headers: {} };
  const cursor = Buffer.from(JSON.stringify([fingerprintOf(query), ...positionAfter(last)])).toString("base64url");
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name !== "cursor") for (const item of [value].flat()) parameters.append(name, String(item));
  }
  parameters.append("cursor", cursor);
  return { rows: rows.slice(0, limit), headers: { link: `<${addressOf(path)}?${parameters.toString()}>; rel="next"` } };
}

/** Identifies the list that a cursor belongs to, by all parameters except `limit` and `cursor`. */
function fingerprintOf(query: Query): string {
  const filters = Object.entries(query).filter(([name, value]) => name !== "cursor" && name !== "limit" && value !== undefined);
  return crc32(JSON.stringify(filters.toSorted(([a], [b]) => (a < b ? -1 : 1)))).toString(36);
}

function decode(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(value)) return value;
  } catch {
    // refused below
  }
  throw badCursor();
}

/** The refusal of a cursor that does not belong to the requested list. */
export function badCursor(): Problem {
  return invalidAt("query.cursor", "is not a cursor of this list with these filters and this sort");
}
