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
 * @param lengths how many values a position of this order may have
 * @throws Problem `invalid_request` if the cursor is not one of this list with these filters and this sort
 */
export function positionOf(query: Query, ...lengths: number[]): Position | undefined {
  if (query.cursor === undefined) return undefined;
  const [fingerprint, ...position] = decode(query.cursor);
  if (fingerprint !== fingerprintOf(query)) throw badCursor();
  const id = position.at(-1);
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 0) throw badCursor();
  if (!position.slice(0, -1).every((value) => typeof value === "string" && value.isWellFormed() && !value.includes("\0")))
    throw badCursor();
  if (!lengths.includes(position.length)) throw badCursor();
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
  return { rows: rows.slice(0, limit), headers: linkAfter(path, query, positionAfter(last)) };
}

/** The `Link` to the page of this list that begins after a position. */
export function linkAfter(path: string, query: Query, position: Position): { link: string } {
  return linkToNext(path, query, "cursor", cursorAfter(query, position));
}

/** The cursor of the page of a list that begins after a position. */
export function cursorAfter(query: Query, position: Position): string {
  return Buffer.from(JSON.stringify([fingerprintOf(query), ...position])).toString("base64url");
}

/** The `Link` to a page of a list with the same query, except for the parameter `place`, which says where the page begins. */
export function linkToNext(
  path: string,
  query: Record<string, unknown>,
  place: "cursor" | "after",
  begin: string | number,
): { link: string } {
  let parameters = "";
  for (const name in query) {
    if (name === place) continue;
    const value = query[name];
    if (Array.isArray(value)) for (const item of value) parameters += parameterOf(name, item);
    else parameters += parameterOf(name, value);
  }
  return { link: `<${addressOf(path)}?${parameters}${place}=${begin}>; rel="next"` };
}

/** A parameter as `URLSearchParams` writes it, which takes five times as long for a value that needs no escapes. */
function parameterOf(name: string, value: unknown): string {
  const text = String(value);
  return /^[\w*.-]*$/.test(text) ? `${name}=${text}&` : `${new URLSearchParams([[name, text]]).toString()}&`;
}

/** The query of the last fingerprint: a request needs its fingerprint for the cursor that it sent, and again for the next one. */
let last: { query: Query; fingerprint: string } | undefined;

/** Identifies the list that a cursor belongs to, by all parameters except `limit` and `cursor`. */
function fingerprintOf(query: Query): string {
  if (last?.query !== query) last = { query, fingerprint: newFingerprint(query) };
  return last.fingerprint;
}

function newFingerprint(query: Query): string {
  const names = Object.keys(query).filter((name) => name !== "cursor" && name !== "limit" && query[name] !== undefined);
  if (names.length === 1 && names[0] === "sort") return (ofSorts[String(query["sort"])] ??= checksumOf(query, names));
  return checksumOf(query, names);
}

/** The fingerprints of lists without filters, which are the most frequent: one for each sort order, because validation refuses all others. */
const ofSorts: Record<string, string> = {};

function checksumOf(query: Query, names: string[]): string {
  return crc32(JSON.stringify(names.toSorted().map((name) => [name, query[name]]))).toString(36);
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
