import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock, type Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { migrate } from "../platform/db/migrate.ts";
import type { Heartbeat } from "../platform/db/postgres-heartbeat.ts";
import { AccessError } from "../platform/db/postgres-errors.ts";
import { createEmpty } from "../platform/files.ts";
import { damagedLogPath, recoverLog } from "../platform/db/sqlite-recovery.ts";
import { lockFolder } from "../platform/lock.ts";
import { Problem } from "../platform/problem.ts";
import type { Settings } from "./settings.ts";

/** The pause before the next attempt to reach a database that does not answer: doubles each time; half of it is random. */
const pauseMs = 500;
const pauseMsMax = 15_000;

/** The socket on which the process that holds the data folder takes an operator's commands. */
export function socketPath(settings: Pick<Settings, "dataDir">): string {
  return join(settings.dataDir, "petstore.sock");
}

export type Storage = {
  /** Refuses every query as `unavailable` until the database is up to date. */
  db: Database;
  /** For the node's lease: on PostgreSQL a connection that nothing else uses. */
  heartbeat: Heartbeat;
  /** The migrations that this start applied. */
  migrated: string[];
  /** Resolves when the database is up to date; rejects if it never will be. */
  ready: Promise<void>;
  close: () => Promise<void>;
};

export type StorageOptions = {
  clock?: Clock;
  /** Called with the error of each connection that breaks. */
  onError?: (error: unknown) => void;
  /** Called after each failed attempt to reach the database, with the pause until the next. Default: the first failed attempt throws. */
  onAway?: (reason: string, nextMs: number) => void;
  /** Called once when the disk fails to flush the embedded database's log; every later call is refused as `unavailable`. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
};

/**
 * Locks the data folder for this process, opens the database and migrates it: the embedded one in the folder, or the PostgreSQL of
 * `DATABASE_URL`, which the nodes share.
 *
 * @param who names this process in the error of another one that finds the folder locked
 * @throws FolderHeldError after `waitMs`, during which the thread is blocked; AccessError if PostgreSQL refuses the login
 */
export async function openStorage(
  settings: Pick<Settings, "dataDir" | "databaseUrl">,
  who: string,
  waitMs: number,
  { clock = systemClock, onError = () => undefined, onAway, onFlushFailed }: StorageOptions = {},
): Promise<Storage> {
  await using opened = new AsyncDisposableStack();
  opened.adopt(lockFolder(settings.dataDir, who, waitMs), (lock) => lock.release());
  const db = await withDamageNamed(settings.dataDir, () => openEngine(settings, { onError, onFlushFailed }));
  opened.defer(() => db.close());
  const stop = new AbortController();
  const heartbeat = (await openHeartbeat(settings, onError)) ?? db;
  opened.defer(() => heartbeat.close());
  opened.defer(() => stop.abort());
  const update = () => withDamageNamed(settings.dataDir, () => migrate(db, clock()));
  const attempt = await attemptUpdate(update);
  if ("migrated" in attempt) return { db, heartbeat, migrated: attempt.migrated, ready: Promise.resolve(), close: closing(opened) };
  if (!onAway || db.engine === "sqlite") throw attempt.away;
  const ready = retry(update, attempt.away, onAway, stop.signal);
  const closed = closedUntil(ready);
  return { db: closed.database(db), heartbeat: closed.heartbeat(heartbeat), migrated: [], ready, close: closing(opened) };
}

/**
 * Cuts off the damaged end of the embedded database's log. Only while no server runs.
 *
 * @returns the least number of acknowledged transactions that were lost, and the path of the copy of the log
 * @throws FolderHeldError; Problem `invalid_request` if the data is in PostgreSQL
 */
export function repairStorage({ dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">, who: string, waitMs: number) {
  if (databaseUrl !== "")
    throw new Problem("invalid_request", "DATABASE_URL is set: the data is in PostgreSQL, which repairs its own log.");
  const lock = lockFolder(dataDir, who, waitMs);
  try {
    const file = databasePath(dataDir);
    const lost = recoverLog(file, { cutDamaged: true });
    return { lost, kept: lost > 0 ? damagedLogPath(file) : null };
  } finally {
    lock.release();
  }
}

/** Moves the opened parts out of the caller's stack, and returns a function that closes them. */
function closing(opened: AsyncDisposableStack): () => Promise<void> {
  const parts = opened.move();
  return () => parts.disposeAsync();
}

/** Returns undefined with the embedded database: a single node needs no connection for its lease. */
async function openHeartbeat({ databaseUrl }: Pick<Settings, "databaseUrl">, onError: (error: unknown) => void) {
  if (databaseUrl === "") return undefined;
  return (await import("../platform/db/postgres-heartbeat.ts")).openPostgresHeartbeat(databaseUrl, { onError });
}

async function openEngine(
  { dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">,
  { onError, onFlushFailed }: { onError: (error: unknown) => void } & Pick<StorageOptions, "onFlushFailed">,
): Promise<Database> {
  if (databaseUrl !== "") return (await import("../platform/db/postgres.ts")).openPostgres(databaseUrl, { onError });
  const { openSqlite } = await import("../platform/db/sqlite.ts");
  const file = databasePath(dataDir);
  createEmpty(file); // the database's other files get the same mode
  return openSqlite(file, { onFlushFailed });
}

function databasePath(dataDir: string): string {
  return join(dataDir, "petstore.db");
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damagedCodes = new Set([11, 26]);

/** Runs a step of opening the database. @throws Error with one line that names the database's file, if the file is damaged */
async function withDamageNamed<T>(dataDir: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    if (!damagedCodes.has(errcode & 0xff)) throw error;
    throw new Error(`${databasePath(dataDir)} is damaged (${message}): restore it from a backup`, { cause: error });
  }
}

/** Returns the applied migrations, or why the database does not answer. Throws any other error. */
async function attemptUpdate(update: () => Promise<string[]>): Promise<{ migrated: string[] } | { away: Error }> {
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
    const attempt = await attemptUpdate(update);
    if ("migrated" in attempt) return;
    reason = attempt.away;
  }
}

/** Wraps the database so that it refuses every use as `unavailable` until it is up to date. */
function closedUntil(ready: Promise<void>) {
  let isReady = false;
  ready.then(
    () => (isReady = true),
    () => undefined, // callers that await `ready` see the error
  );
  const requireReady = () => {
    if (!isReady) throw new Problem("unavailable", "The store is not there yet. Try again.", { headers: { "retry-after": "5" } });
  };

  function heartbeat(db: Heartbeat): Heartbeat {
    return {
      engine: db.engine,
      query: async (query) => {
        requireReady();
        return db.query(query);
      },
      write: async (body, options) => {
        requireReady();
        return db.write(body, options);
      },
      close: () => db.close(),
    };
  }

  function database(db: Database): Database {
    const forAccount: Database["forAccount"] = (accountId) => (isReady ? db.forAccount(accountId) : database(db.forAccount(accountId)));
    return { ...heartbeat(db), forAccount, load: () => db.load() };
  }

  return { heartbeat, database };
}
