import { setTimeout as sleep } from "node:timers/promises";
import sql from "sql-template-tag";
import { hourMs } from "../clock.ts";
import type { Queryable, Transaction } from "./database.ts";
import type { StrongLock } from "./migration-effects.ts";

/**
 * How long (ms) a statement waits for a strong lock of a table. Other statements on the table wait behind it, so requests take up to this much longer.
 * Shorter than a lease, so a node whose heartbeat waits keeps its lease.
 */
export const strongLockMs = 300;
/** How long (ms) to try again before giving up. */
export const lockWaitMs = hourMs / 6;
/** The first and the longest pause (ms) between two tries: it doubles each time, and half of it is random. */
const [pauseMs, pauseMsMax] = [500, 5_000];
/** How often (ms) `onWait` is called while the holder stays the same. */
const sayEveryMs = 30_000;

/** Whether a statement did not get a lock within its `lock_timeout`. */
function isLockTimeout(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown };
  return code === "55P03" || (cause instanceof Error && isLockTimeout(cause));
}

/**
 * Runs work that takes strong locks, and runs it again if it does not get one within `strongLockMs`. The work changes nothing then: it is a transaction, or
 * one statement.
 *
 * @param holder says what holds the lock, in words that follow "because "
 * @param onWait called with a line when a wait begins, when the holder changes, and twice a minute
 * @throws the error that `giveUp` makes of the holder, after `waitMs`
 */
export async function withLockRetries<T>(
  work: () => Promise<T>,
  holder: () => Promise<string>,
  giveUp: (holder: string) => Error,
  onWait: (line: string) => void,
  waitMs: number = lockWaitMs,
): Promise<T> {
  const endsAt = performance.now() + waitMs;
  let said = { holder: "", at: -Infinity };
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, pauseMsMax)) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    const held = await holder();
    const now = performance.now();
    if (now > endsAt) throw giveUp(held);
    if (held !== said.holder || now - said.at > sayEveryMs) {
      onWait(held);
      said = { holder: held, at: now };
    }
    await sleep(pause * (0.5 + Math.random() / 2));
  }
}

/** Locks tables at the beginning of a transaction, each as soon as nothing is in the way. Skips tables that do not exist. */
export async function lockTables(tx: Transaction, locks: ReadonlyMap<string, StrongLock>): Promise<void> {
  if (locks.size === 0) return;
  const present = await tx.query<{ name: string }>(sql`
    SELECT name FROM unnest(string_to_array(${namesOf(locks)}, ',')) AS name WHERE to_regclass(name) IS NOT NULL`);
  for (const [lock, tables] of Map.groupBy(present, ({ name }) => locks.get(name))) {
    await tx.script(`LOCK TABLE ${tables.map(({ name }) => name).join(", ")} IN ${lock} MODE`);
  }
}

const namesOf = (locks: ReadonlyMap<string, StrongLock>): string => [...locks.keys()].join(",");

/** An open transaction that holds a lock of a table. What the database does not show to this user is null. */
export type Holder = { table: string; pid: number; application: string | null; since: Date | null; isVacuum: boolean };

/** Lists the transactions that hold locks with which these conflict, the oldest first. */
export async function holdersOf(db: Pick<Queryable, "query">, locks: ReadonlyMap<string, StrongLock>): Promise<Holder[]> {
  const rows = await db.query<Holder & { mode: string }>(sql`
    SELECT c.relname AS "table", a.pid, NULLIF(a.application_name, '') AS application, a.xact_start AS since, l.mode,
      COALESCE(a.backend_type = 'autovacuum worker', FALSE) AS "isVacuum"
    FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid() AND a.datname = current_database()
      AND c.relnamespace = CAST(current_schema() AS REGNAMESPACE) AND c.relname = ANY (string_to_array(${namesOf(locks)}, ','))
    ORDER BY a.xact_start, a.pid`);
  const reading = /^(AccessShare|RowShare)Lock$/;
  return rows.filter(({ table, mode }) => locks.get(table) === "ACCESS EXCLUSIVE" || !reading.test(mode));
}

/** `pid 4711 (psql) has held the table orders since 2026-11-26T13:00:00.000Z` */
export function sayHolder({ table, pid, application, since, isVacuum }: Holder): string {
  const name = isVacuum ? "an autovacuum" : application;
  const begun = since === null ? "" : ` since ${since.toISOString()}`;
  return `pid ${pid}${name === null ? "" : ` (${name})`} has held the table ${table}${begun}`;
}
