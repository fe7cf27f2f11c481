import sql, { join, raw } from "sql-template-tag";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { walkStatement } from "../../platform/db/walk-statements.ts";
import type { AuditFilter } from "./audit.ts";
import type { StoredEvent } from "./events.store.ts";

/** Events that one step looks at, and those of one page. A page ends after them, whether or not any passed the filter. */
const stepMax = 500;
const lookedAtMax = 5_000;
/** The time of an event is that of its request, so events may be this much (ms) out of the order of their times. */
const timesApartMs = 3_600_000;

type Seen = [position: number, at: number, resource: string, actor: string, requestId: string | null];
const seenColumns = raw("position, at, resource, actor, request_id");

type AuditedEvent = Pick<StoredEvent, "position" | "actor" | "text">;

/** Events that pass a filter, the newest first, and the position before which the next page begins; null at the end. */
export type AuditPage = { events: AuditedEvent[]; next: number | null };

/**
 * Returns up to `limit` events before a position that pass the filter. Only the types have an index: all else is filtered here, in bounded steps,
 * so that no filter makes a request read a whole log.
 */
export async function readAudit(
  db: Database,
  accountId: number,
  filter: AuditFilter,
  before: number | undefined,
  limit: number,
): Promise<AuditPage> {
  const found: number[] = [];
  let until = before;
  for (let lookedAt = 0; lookedAt < lookedAtMax; lookedAt += stepMax) {
    const seen = await lookBack(db, accountId, filter, until);
    for (const row of seen) {
      until = row[0];
      if (passes(filter, row) && found.push(row[0]) === limit) return { events: await eventsAt(db, accountId, found), next: until };
    }
    const isOver = seen.length < stepMax || (filter.from !== undefined && seen.at(-1)![1] < filter.from - timesApartMs);
    if (isOver) return { events: await eventsAt(db, accountId, found), next: null };
  }
  return { events: await eventsAt(db, accountId, found), next: until ?? null };
}

/** Records that a member exports the audit. */
export function recordExport(tx: Transaction, accountId: number, memberId: number): void {
  tx.record({ accountId, type: "member.exported", resource: { type: "member", id: memberId }, data: { id: memberId } });
}

async function lookBack(db: Database, accountId: number, { types }: AuditFilter, until: number | undefined): Promise<Seen[]> {
  const walk = { table: "events", index: "events_by_type", columns: seenColumns, accountId, order: ["position"], isBackwards: true, until };
  const walks = types.map((type) => ({ ...walk, equal: { type } }));
  const { statement, values } = walkStatement<Seen>(db.engine, walks, stepMax);
  return db.rows(statement, values);
}

function passes({ actor, resource, requestId, from, to }: AuditFilter, [, at, itsResource, itsActor, itsRequestId]: Seen): boolean {
  if (actor !== undefined && itsActor !== actor) return false;
  if (resource !== undefined && itsResource !== resource) return false;
  if (requestId !== undefined && itsRequestId !== requestId) return false;
  return (from === undefined || at >= from) && (to === undefined || at < to);
}

/** The events at these positions, which descend. */
async function eventsAt(db: Database, accountId: number, positions: readonly number[]): Promise<AuditedEvent[]> {
  if (positions.length === 0) return [];
  return db.query<AuditedEvent>(sql`
    SELECT position, actor, text FROM events WHERE account_id = ${accountId} AND position IN (${join(positions)}) ORDER BY position DESC`);
}
