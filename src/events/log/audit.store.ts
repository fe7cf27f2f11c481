import sql, { join, raw } from "sql-template-tag";
import { hourMs } from "../../platform/clock.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { walkStatement } from "../../platform/db/index-walk.ts";
import type { AuditFilter } from "./audit.ts";
import type { StoredEvent } from "./events.store.ts";

/** The most events that one step scans if it has to look for those that pass, and that one page scans. A page ends after them, even if none passed the filter. */
const stepMax = 500;
const scannedMax = 5_000;
/** The most characters of the events of one page, which are parsed and written in one turn. A single event may have more. */
const pageCharactersMax = 1_048_576;
/** An event has the time of its request, so positions and times may be out of order by up to this (ms). */
const timesApartMs = hourMs;

type ScannedRow = [position: number, at: number, resource: string, actor: string, requestId: string | null];
const scannedColumns = raw("position, at, resource, actor, request_id");

type AuditedEvent = Pick<StoredEvent, "position" | "actor" | "text">;

/** Events that pass a filter, newest first. `next` is `before` of the next page; null at the end. */
export type AuditPage = { events: AuditedEvent[]; next: number | null };

/**
 * Returns up to `limit` events before a position that pass the filter. An index finds the types. The other filters apply here, to a
 * bounded number of events, so that no filter makes a request read a whole log.
 */
export async function readAudit(
  db: Database,
  accountId: number,
  filter: AuditFilter,
  before: number | undefined,
  limit: number,
): Promise<AuditPage> {
  const { types: _types, ...others } = filter;
  const step = Object.values(others).some((value) => value !== undefined) ? stepMax : limit;
  const found: number[] = [];
  const pageUntil = async (next: number | null): Promise<AuditPage> =>
    within(pageCharactersMax, { events: await db.scan(() => eventsAt(db, accountId, found)), next });
  let until = before;
  for (let scanned = 0; scanned < scannedMax; scanned += step) {
    const rows = await db.scan(() => scanBackwards(db, accountId, filter, until, step));
    for (const row of rows) {
      until = row[0];
      if (passes(filter, row) && found.push(row[0]) === limit) return pageUntil(until);
    }
    const isOver = rows.length < step || (filter.from !== undefined && rows.at(-1)![1] < filter.from - timesApartMs);
    if (isOver) return pageUntil(null);
  }
  return pageUntil(until ?? null);
}

/** The first events of a page, up to this many characters. */
function within(charactersMax: number, page: AuditPage): AuditPage {
  let characters = 0;
  const end = page.events.findIndex(({ text }, i) => (characters += text.length) > charactersMax && i > 0);
  if (end === -1) return page;
  const events = page.events.slice(0, end);
  return { events, next: events.at(-1)!.position };
}

/** Records that a member exports the audit. */
export function recordExport(tx: Transaction, accountId: number, memberId: number): void {
  tx.record({ accountId, type: "member.exported", resource: { type: "member", id: memberId }, data: { id: memberId } });
}

async function scanBackwards(
  db: Database,
  accountId: number,
  { types }: AuditFilter,
  until: number | undefined,
  limit: number,
): Promise<ScannedRow[]> {
  const walk = {
    table: "events",
    index: "events_by_type",
    columns: scannedColumns,
    accountId,
    order: ["position"],
    isBackwards: true,
    until,
  };
  const walks = types.map((type) => ({ ...walk, equal: { type } }));
  const { statement, values } = walkStatement<ScannedRow>(db.engine, walks, limit);
  return db.rows(statement, values);
}

function passes({ actor, resource, requestId, from, to }: AuditFilter, [, at, itsResource, itsActor, itsRequestId]: ScannedRow): boolean {
  if (actor !== undefined && itsActor !== actor) return false;
  if (resource !== undefined && itsResource !== resource) return false;
  if (requestId !== undefined && itsRequestId !== requestId) return false;
  return (from === undefined || at >= from) && (to === undefined || at < to);
}

/** Returns the events at these positions, newest first. */
async function eventsAt(db: Database, accountId: number, positions: readonly number[]): Promise<AuditedEvent[]> {
  if (positions.length === 0) return [];
  return db.query<AuditedEvent>(sql`
    SELECT position, actor, text FROM events WHERE account_id = ${accountId} AND position IN (${join(positions)}) ORDER BY position DESC`);
}
