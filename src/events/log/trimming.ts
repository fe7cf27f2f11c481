import sql, { empty, join } from "sql-template-tag";
import { type Clock, dayMs } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { isOverLimit, type EventBytes } from "../../platform/event-storage.ts";
import type { Feed } from "./feed.ts";
import {
  deleteAudit,
  firstOf,
  lockLog,
  newestOfLargestGroup,
  oldestEvents,
  oldestOfAudit,
  passEvents,
  type Log,
  type SizedEvent,
} from "./oldest-events.store.ts";

/** The part of the limit that events of the audit may take once they are older than the log. */
const auditShare = 1 / 4;
/** For how long (ms) an event of the audit is displaced only as one of the newest of its day and type. */
const tracesKeptMs = 30 * dayMs;
/** The most accounts of one read. */
const accountsMax = 1_000;
/** The most transactions for one account in a run, so that a run ends and accounts take turns: 50,000 events. */
const stepsMax = 100;
/** The most accounts that are remembered by name. */
const waitingMax = 10_000;

/** Keeps each account's events within its limit. `check` an account after its limit was lowered; `run` once a second. */
export type Trimmer = { check(accountId: number): void; run(): Promise<void> };

/**
 * Deletes the oldest events of the accounts that are over their limit. It looks at the accounts that have new events; at all accounts at the
 * start, and after a fault. On PostgreSQL every node does: a lock lets one at a time delete the events of an account.
 */
export function openTrimming(db: Database, clock: Clock, feed: Feed): Trimmer {
  let waiting: Set<number> | "any" = "any";
  const add = (accountId: number): void => {
    if (waiting !== "any" && waiting.add(accountId).size > waitingMax) waiting = "any";
  };
  feed.onAppended((accounts) => (accounts === "any" ? void (waiting = "any") : accounts.forEach(add)));
  return {
    check: add,
    async run() {
      const checked = waiting;
      waiting = new Set();
      try {
        if (checked === "any" || checked.size > 0) await trim(db, clock, checked, add);
      } catch (error) {
        waiting = "any";
        throw error;
      }
    },
  };
}

/** @param again called with each account that still has too many events */
async function trim(db: Database, clock: Clock, checked: Set<number> | "any", again: (accountId: number) => void): Promise<void> {
  const among = checked === "any" ? empty : sql`AND account_id IN (${join([...checked])})`;
  for (let after = 0; ;) {
    const page = sql`
      SELECT account_id FROM event_storage WHERE account_id > ${after} ${among} AND ${isOverLimit} ORDER BY account_id ${limitTo(accountsMax)}`;
    const rows = await db.scan(() => db.query<{ account_id: number }>(page));
    for (const row of rows) if (await trimLog(db, row.account_id, clock())) again(row.account_id);
    if (rows.length < accountsMax) return;
    after = rows.at(-1)!.account_id;
  }
}

/** Deletes the oldest events of a log until it is within its limit, in short transactions. Returns whether more have to go than one call deletes. */
async function trimLog(db: Database, accountId: number, now: number): Promise<boolean> {
  for (let step = 0; step < stepsMax; step++) if (!(await db.write((tx) => trimOnce(tx, accountId, now)))) return false;
  return true;
}

/** Returns whether another call may be needed. */
async function trimOnce(tx: Transaction, accountId: number, now: number): Promise<boolean> {
  const log = await lockLog(tx, accountId);
  if (!log || log.log + log.audit <= log.limit) return false;
  if (log.audit > auditMax(log)) return displaceAudit(tx, log, now);
  const passed = eventsToPass(await oldestEvents(tx, log), log);
  if (passed.length > 0) await passEvents(tx, log, passed, "limit");
  return passed.length > 0;
}

/** The oldest events of a log that have to go, so that what stays is within the limit once the audit is cut to its share. */
function eventsToPass(events: readonly SizedEvent[], bytes: EventBytes): SizedEvent[] {
  let { log, audit } = bytes;
  const end = events.findIndex((event) => {
    if (log + Math.min(audit, auditMax(bytes)) <= bytes.limit) return true;
    log -= event.bytes;
    if (event.isAudit) audit += event.bytes;
    return false;
  });
  return end === -1 ? [...events] : events.slice(0, end);
}

/**
 * Deletes events of the audit that are beyond its share: the oldest that have been kept for 30 days; then, of the day and type with most bytes,
 * the newest. So a flood displaces itself, and not what came before it in the last 30 days (decision 0100).
 */
async function displaceAudit(tx: Transaction, log: Log, now: number): Promise<boolean> {
  const excess = Math.min(log.audit - auditMax(log), log.log + log.audit - log.limit);
  const old = (await oldestOfAudit(tx, log)).filter(({ at }) => at < now - tracesKeptMs);
  const displaced = firstOf(old.length > 0 ? old : await newestOfLargestGroup(tx, log), excess);
  if (displaced.length > 0) await deleteAudit(tx, log, displaced, "limit");
  return displaced.length > 0;
}

function auditMax({ limit }: EventBytes): number {
  return Math.floor(limit * auditShare);
}
