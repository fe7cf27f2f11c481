import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock, type Clock } from "./platform/clock.ts";
import type { Database } from "./platform/db/database.ts";
import { migrate } from "./platform/db/migrate.ts";
import { AccessError } from "./platform/db/postgres-errors.ts";
import { lockFolder } from "./platform/lock.ts";
import { Problem } from "./platform/problem.ts";
import type { Settings } from "./settings.ts";

/** The pause before the next try to reach a database that does not answer: doubled each time, a random half of it. */
const pauseMs = 500;
const pauseMsMax = 15_000;

/** Where the process that holds the data folder takes an operator's commands. */
export function socketPath(settings: Pick<Settings, "dataDir">): string {
  return join(settings.dataDir, "petstore.sock");
}

export type Storage = {
  /** Every query is refused as `unavailable` until the database is up to date. */
  db: Database;
  /** The migrations that were applied now. */
  migrated: string[];
  /** Resolves when the database is up to date, at once unless it was waited for; rejects when it never will be. */
  ready: Promise<void>;
  close: () => Promise<void>;
};

export type StorageOptions = {
  clock?: Clock;
  /** Hears of connections that break. */
  onError?: (error: unknown) => void;
  /** Given, a database that does not answer is waited for after the return; this hears of each try that failed, and when the next one is. */
  onAway?: (reason: string, nextMs: number) => void;
};

/**
 * Takes the data folder for this process and opens the database, brought up to date: the folder's own, or the PostgreSQL
 * of `DATABASE_URL`, which other nodes share.
 *
 * @param who what the process is called when another one is refused the folder
 * @throws FolderHeldError after `waitMs`, during which the thread is blocked; AccessError where PostgreSQL lets nobody in
 */
export async function openStorage(
  settings: Pick<Settings, "dataDir" | "databaseUrl">,
  who: string,
  waitMs: number,
  { clock = systemClock, onError = () => undefined, onAway }: StorageOptions = {},
): Promise<Storage> {
  const lock = lockFolder(settings.dataDir, who, waitMs);
  const stop = new AbortController();
  let db: Database | undefined;
  const close = async (): Promise<void> => {
    stop.abort();
    await db?.close();
    lock.release();
  };
  try {
    const opened = await openEngine(settings, onError);
    db = opened;
    const update = () => migrate(opened, clock());
    const attempt = await tried(update);
    if ("migrated" in attempt) return { db, migrated: attempt.migrated, ready: Promise.resolve(), close };
    if (!onAway || db.engine === "sqlite") throw attempt.away;
    const ready = retry(update, attempt.away, onAway, stop.signal);
    return { db: closedUntil(db, ready), migrated: [], ready, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openEngine({ dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">, onError: (error: unknown) => void) {
  if (databaseUrl !== "") return (await import("./platform/db/postgres.ts")).openPostgres(databaseUrl, { onError });
  const { openSqlite } = await import("./platform/db/sqlite.ts");
  const file = join(dataDir, "petstore.db");
  closeSync(openSync(file, "a", 0o600)); // the database's other files take over this mode
  try {
    return openSqlite(file);
  } catch (error) {
    if (!damaged.has((error as { errcode?: number }).errcode ?? 0)) throw error;
    throw new Error(`${file} is damaged (${(error as Error).message}): restore it from a backup`, { cause: error });
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = new Set([11, 26]);

/** What came of a try: the outcome, or why the database does not answer. Any other error is thrown. */
async function tried(update: () => Promise<string[]>): Promise<{ migrated: string[] } | { away: Error }> {
  try {
    return { migrated: await update() };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "unavailable") throw error;
    if (error.cause instanceof AccessError) throw error.cause;
    return { away: error.cause instanceof Error ? error.cause : error };
  }
}

async function retry(
  update: () => Promise<string[]>,
  first: Error,
  onAway: NonNullable<StorageOptions["onAway"]>,
  signal: AbortSignal,
): Promise<void> {
  let reason = first;
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, pauseMsMax)) {
    const nextMs = Math.round(pause * (0.5 + Math.random() / 2));
    onAway(reason.message, nextMs);
    await sleep(nextMs, undefined, { signal });
    const attempt = await tried(update);
    if ("migrated" in attempt) return;
    reason = attempt.away;
  }
}

/** The database as others may use it: not before it is up to date. */
function closedUntil(db: Database, ready: Promise<void>): Database {
  let isReady = false;
  ready.then(
    () => (isReady = true),
    () => undefined, // whoever awaits `ready` is told
  );
  const refuse = () => new Problem("unavailable", "The store is not there yet. Try again.", { headers: { "retry-after": "5" } });
  return {
    engine: db.engine,
    query: async (query) => {
      if (!isReady) throw refuse();
      return db.query(query);
    },
    write: async (body, options) => {
      if (!isReady) throw refuse();
      return db.write(body, options);
    },
    load: () => db.load(),
    close: () => db.close(),
  };
}
