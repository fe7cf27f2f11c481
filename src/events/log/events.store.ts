import sql, { raw } from "sql-template-tag";
import { andThen, type Awaitable, type Database, type Queryable } from "../../platform/db/database.ts";
import { stepsBack, walkStatement } from "../../platform/db/index-walk.ts";
import { statement } from "../../platform/db/statement.ts";
import type { EventType } from "../../platform/event-types.ts";
import { emptyHead, type Head } from "../../platform/events.ts";
import { attempt } from "../../platform/parse.ts";
import { Problem } from "../../platform/problem.ts";

/** An event of a log. `text` is its RFC 8785 form without the hash; `resource` is `order/17`, `actor` `key/3`. */
export type StoredEvent = {
  position: number;
  type: EventType;
  at: number;
  resource: string;
  actor: string;
  requestId: string | null;
  text: string;
  hash: string;
};

export type EventRow = [number, EventType, number, string, string, string | null, string, string];
export const eventColumns = raw("position, type, at, resource, actor, request_id, text, hash");
const positionColumn = raw("position");
const arrivalColumns = raw("position, at, resource");
const countColumns = raw("position, at");
/** The events that a count reads at once, and in all. */
const countStep = 1_000;
const countedMax = 20_000;
const findStart = statement<[position: number, previousHash: string]>(
  "SELECT position, previous_hash FROM event_starts WHERE account_id = ?",
);
const findNewest = statement<[position: number, hash: string]>(
  "SELECT position, hash FROM events WHERE account_id = ? ORDER BY account_id DESC, position DESC LIMIT 1",
);

/** Which events to read: those after a position, of these types (default: all), at most `limit`. */
export type Reading = { after: number; types?: readonly EventType[] | undefined; limit: number };

/**
 * Returns the next events of an account's log, in order. Without `types` their positions have no gaps.
 *
 * @throws Problem `events_expired` if events after `after` have been deleted
 */
export function readEvents(db: Database, accountId: number, { after, types, limit }: Reading): Awaitable<StoredEvent[]> {
  const walk = { table: "events", columns: eventColumns, accountId, order: ["position"], after: [after] };
  const walks = types ? types.map((type) => ({ ...walk, index: "events_by_type", equal: { type } })) : [walk];
  const { statement: text, values } = walkStatement<EventRow>(db.engine, walks, limit);
  // Reads the start of the log last: if it has moved, deleted events may be missing from the rows.
  return andThen(db.rows(text, values), (rows) =>
    andThen(logStart(db, accountId), ({ position }) => {
      if (after < position - 1) throw eventsExpired(position);
      return rows.map((row) => eventOfRow(db, row));
    }),
  );
}

/** Returns the position and hash of the newest event; position 0 if there is none. */
export function newestEvent(db: Queryable, accountId: number): Awaitable<Head> {
  return andThen(db.rows(findNewest, [accountId]), ([row]) => (row ? { position: row[0], hash: row[1] } : emptyHead));
}

/**
 * Returns the position of the newest event of these types. If none is kept, returns the position before the log's start: deleted events have this
 * position or a lower one, so the result never falls.
 */
export function newestOf(db: Database, accountId: number, types: readonly EventType[]): Awaitable<number> {
  const walk = { table: "events", index: "events_by_type", columns: positionColumn, accountId, order: ["position"], isBackwards: true };
  const walks = types.map((type) => ({ ...walk, equal: { type } }));
  const { statement: text, values } = walkStatement<[position: number]>(db.engine, walks, 1);
  return andThen(db.rows(text, values), ([row]) => row?.[0] ?? andThen(logStart(db, accountId), ({ position }) => position - 1));
}

/** Returns up to `limit` events of a type, the newest first. */
export function newestEvents(
  db: Database,
  accountId: number,
  type: EventType,
  limit: number,
): Awaitable<Pick<StoredEvent, "resource" | "at">[]> {
  const walk = {
    table: "events",
    index: "events_by_type",
    columns: arrivalColumns,
    accountId,
    equal: { type },
    order: ["position"],
    isBackwards: true,
  };
  const { statement: text, values } = walkStatement<[position: number, at: number, resource: string]>(db.engine, [walk], limit);
  return andThen(db.rows(text, values), (rows) => rows.map(([, at, resource]) => ({ resource, at })));
}

/** How many in the last period, in the one before, and in the last day. `isWhole` is false if there were more events than are counted. */
type EventCount = { now: number; before: number; lastDay: number; isWhole: boolean };

/** When periods begin (ms): the last one, the one before, and the last day. */
type Periods = { last: number; before: number; lastDay?: number | undefined };

/** Counts the events of a type in two periods, from the newest back, at most `countedMax`. */
export async function countEvents(
  db: Database,
  accountId: number,
  type: EventType,
  { last, before, lastDay = Infinity }: Periods,
): Promise<EventCount> {
  const count: EventCount = { now: 0, before: 0, lastDay: 0, isWhole: true };
  const walk = { table: "events", index: "events_by_type", columns: countColumns, accountId, equal: { type }, order: ["position"] };
  let read = 0;
  for await (const rows of stepsBack<[position: number, at: number]>(db, walk, countStep)) {
    for (const [, at] of rows) {
      if (at > lastDay) count.lastDay += 1;
      if (at > last) count.now += 1;
      else if (at > before) count.before += 1;
    }
    read += rows.length;
    if ((rows.at(-1)?.[1] ?? 0) <= before) return count;
    if (read >= countedMax) return { ...count, isWhole: false };
  }
  return count;
}

/** Returns the position from which every event is kept, and the hash of the event before it. */
export function logStart(db: Queryable, accountId: number): Awaitable<{ position: number; previousHash: string }> {
  return andThen(db.rows(findStart, [accountId]), ([row]) => ({
    position: row ? row[0] : 1,
    previousHash: row ? row[1] : emptyHead.hash,
  }));
}

/** Returns the event at a position; undefined if it is no longer kept. */
export async function eventAt(db: Database, accountId: number, position: number): Promise<StoredEvent | undefined> {
  try {
    const [event] = await readEvents(db, accountId, { after: position - 1, limit: 1 });
    return event?.position === position ? event : undefined;
  } catch (error) {
    if (error instanceof Problem && error.code === "events_expired") return undefined;
    throw error;
  }
}

/** Returns the hash of the event at a position; undefined if that event is not kept. */
export async function hashAt(db: Queryable, accountId: number, position: number): Promise<string | undefined> {
  const [row] = await db.query<{ hash: string }>(sql`SELECT hash FROM events WHERE account_id = ${accountId} AND position = ${position}`);
  return row?.hash;
}

/** Returns an event's JSON as the API shows it. */
export function eventJson({ text, hash }: Pick<StoredEvent, "text" | "hash">): string {
  return `{"hash":"${hash}",${text.slice(1)}`;
}

/** Returns the refusal of a position before the oldest event that is kept. */
export function eventsExpired(oldest: number): Problem {
  return new Problem("events_expired", `The oldest event that is kept has position ${oldest}: begin again with after=${oldest - 1}.`, {
    headers: { "events-oldest": String(oldest) },
  });
}

const digest = /^[0-9a-f]{64}$/;

/** @throws Problem `unavailable` if the text or the hash was damaged: both are sent as they are stored */
export function eventOfRow(db: Pick<Database, "reportDamage">, row: EventRow): StoredEvent {
  const [position, type, at, resource, actor, requestId, text, hash] = row;
  if (attempt(() => JSON.parse(text) as unknown) === undefined || !digest.test(hash)) throw db.reportDamage(`event ${position} is damaged`);
  return { position, type, at, resource, actor, requestId, text, hash };
}
