import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import sql from "sql-template-tag";
import { unfinishedFile, unfinishedTable } from "../backup/manifest.ts";
import { settleRestore, settleRestoreUnlocked } from "../backup/restore-state.ts";
import { hourMs, systemClock } from "../platform/clock.ts";
import type { Around, Database } from "../platform/db/database.ts";
import { migrate, migrationsFor, NewerDataError, type OnStep } from "../platform/db/migrate.ts";
import type { SessionCheck } from "../platform/db/postgres-connections.ts";
import { AccessError } from "../platform/db/postgres-errors.ts";
import type { Heartbeat } from "../platform/db/postgres-heartbeat.ts";
import { copyBeforeUpgrade, copyToGoBackTo } from "../platform/db/sqlite-copies.ts";
import { damagedLogPath, recoverLog } from "../platform/db/sqlite-recovery.ts";
import { compactFile } from "../platform/db/sqlite-space.ts";
import { storageFaultOf } from "../platform/db/sqlite-statements.ts";
import type { SqliteOptions } from "../platform/db/sqlite.ts";
import { createEmpty } from "../platform/files.ts";
import { requireAccess } from "../platform/folder-access.ts";
import { lockFolder } from "../platform/lock.ts";
import type { Logger } from "../platform/log.ts";
import { attempt } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import { foldNames } from "../store/pets/folded-names.store.ts";
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
  /** The migrations that this start applied, and the copy that it made. */
  upgrade: Upgrade;
  /** Resolves when the database is up to date; rejects if it never will be. */
  ready: Promise<void>;
  /** Runs a step of the start that only reads, or may be repeated: again, with pauses, while a database that nodes share does not answer. */
  untilAnswered: <T>(step: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

export type StorageOptions = Pick<SqliteOptions, "clock" | "bounds" | "onEvents" | "onFlushFailed" | "onFault"> & {
  /** Called with the error of each connection that breaks. */
  onError?: (error: unknown) => void;
  /** Called after each failed attempt to reach the database, with the pause until the next. Default: the first failed attempt throws. */
  onAway?: (reason: string, nextMs: number) => void;
  /** Called with a line if the clock is far behind the data. Default: the clock is not compared with the data. */
  onClockBehind?: ((line: string) => void) | undefined;
  /** Called with a line before each step of an upgrade that may take long, unless the database is new, and while the upgrade waits for others. */
  onUpgradeStep?: OnStep;
  /** Called after migrations were applied to a database that was not new. */
  onUpgraded?: (upgrade: Upgrade) => void;
  /** Creates neither the data folder nor the embedded database. Default: false. */
  mustExist?: boolean;
  /** Checks the database of each new connection for writes to PostgreSQL. */
  checkWriter?: SessionCheck | undefined;
};

/**
 * Locks the data folder for this process, opens the database and migrates it: the embedded one in the folder, or the PostgreSQL of
 * `DATABASE_URL`, which the nodes share.
 *
 * @param who names this process in the error of another one that finds the folder locked
 * @throws FolderHeldError after `waitMs`, during which the thread is blocked; AccessError if PostgreSQL refuses the login
 */
export async function openStorage(
  settings: Pick<Settings, "dataDir" | "databaseUrl"> & Partial<Pick<Settings, "allowEmptyDatabase">>,
  who: string,
  waitMs: number,
  options: StorageOptions = {},
): Promise<Storage> {
  const {
    clock = systemClock,
    onError = () => undefined,
    onAway,
    onUpgradeStep = () => undefined,
    onUpgraded = () => undefined,
    onClockBehind,
    onFlushFailed,
    onFault,
    onEvents,
    bounds,
    checkWriter,
    mustExist = false,
  } = options;
  await using opened = new AsyncDisposableStack();
  requireAccess(settings.dataDir);
  await settleRestoreUnlocked(settings.dataDir);
  if (mustExist) requireStore(settings);
  let lock: string | undefined;
  if (!mustExist || existsSync(settings.dataDir)) {
    const locked = await withPath(settings.dataDir, () => lockFolder(settings.dataDir, who, waitMs));
    opened.adopt(locked, (one) => one.release());
    lock = locked.path;
    await withPath(settings.dataDir, () => settleRestore(settings.dataDir));
  }
  const db = await withPath(settings.dataDir, () =>
    openEngine(settings, { onError, onFlushFailed, onFault, onEvents, clock, bounds, lock, checkWriter }),
  );
  opened.defer(() => db.close());
  const stop = new AbortController();
  const gate = closedGate();
  const heartbeat = (await openHeartbeat(settings, { onError, onFault, around: gate.around })) ?? db;
  opened.defer(() => heartbeat.close());
  opened.defer(() => stop.abort());
  const update = async (): Promise<Upgrade> => {
    if (onClockBehind) await requireSameClock(db, clock);
    await withPath(settings.dataDir, () => requireMoved(db, settings));
    const done = await withPath(settings.dataDir, () => upgrade(db, databasePath(settings.dataDir), clock(), onUpgradeStep));
    if (done.migrated.length > 0 && !done.isNew) onUpgraded(done);
    const behind = onClockBehind && (await clockBehind(db, clock()));
    if (behind !== undefined) onClockBehind?.(behind);
    gate.open();
    return done;
  };
  const isPatient = onAway && db.engine !== "sqlite";
  const untilAnswered: Storage["untilAnswered"] = (step) => (isPatient ? retry(step, onAway, stop.signal) : step());
  const first = await attemptStep(update);
  if ("done" in first) return { db, heartbeat, upgrade: first.done, ready: Promise.resolve(), untilAnswered, close: closing(opened) };
  if (!isPatient) throw first.away;
  const ready = retry(update, onAway, stop.signal, first.away).then(() => undefined);
  const upgraded = { migrated: [], isNew: false, copy: undefined };
  return { db: db.around(gate.around), heartbeat, upgrade: upgraded, ready, untilAnswered, close: closing(opened) };
}

/**
 * Cuts off the damaged end of the embedded database's log, or goes on without a log that is gone. Only while no server runs.
 *
 * @returns the least number of acknowledged transactions that were lost, whether the whole log is gone, and the path of the copy of the log
 * @throws FolderHeldError; Problem `invalid_request` if the data is in PostgreSQL
 */
export function repairStorage({ dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">, who: string, waitMs: number) {
  if (databaseUrl !== "")
    throw new Problem("invalid_request", "DATABASE_URL is set: the data is in PostgreSQL, which repairs its own log.");
  requireStore({ dataDir, databaseUrl });
  const lock = lockFolder(dataDir, who, waitMs);
  try {
    const file = databasePath(dataDir);
    const { lost, isGone } = recoverLog(file, { cutDamaged: true });
    return { lost, isGone, kept: lost > 0 ? damagedLogPath(file) : null };
  } finally {
    lock.release();
  }
}

/** @throws Problem `not_found` if the data should be in the folder and is not */
function requireStore({ dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">): void {
  if (databaseUrl !== "") return;
  requireAccess(dataDir);
  if (existsSync(databasePath(dataDir))) return;
  const advice = "Set DATA_DIR to the data folder of the service, such as DATA_DIR=/var/lib/petstore.";
  throw new Problem("not_found", `There is no pet store in ${dataDir}. ${advice}`);
}

/**
 * Rewrites the embedded database without free space, while no server runs.
 *
 * @returns its length in bytes, before and after
 * @throws FolderHeldError; Problem `not_found` if the folder holds no database, `invalid_request` with PostgreSQL
 */
export function compactStorage({ dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">, who: string, waitMs: number) {
  if (databaseUrl !== "")
    throw new Problem("invalid_request", "DATABASE_URL is set: the data is in PostgreSQL, whose autovacuum reuses free space.");
  requireStore({ dataDir, databaseUrl });
  const lock = lockFolder(dataDir, who, waitMs);
  try {
    return compactFile(databasePath(dataDir));
  } finally {
    lock.release();
  }
}

/** Moves the opened parts out of the caller's stack, and returns a function that closes them. */
function closing(opened: AsyncDisposableStack): () => Promise<void> {
  const parts = opened.move();
  return () => parts.disposeAsync();
}

type HeartbeatOptions = Pick<StorageOptions, "onFault"> & { onError: (error: unknown) => void; around: Around };

/** Returns undefined with the embedded database: a single node needs no connection for its lease. */
async function openHeartbeat({ databaseUrl }: Pick<Settings, "databaseUrl">, options: HeartbeatOptions) {
  if (databaseUrl === "") return undefined;
  return (await import("../platform/db/postgres-heartbeat.ts")).openPostgresHeartbeat(databaseUrl, options);
}

async function openEngine(
  { dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">,
  {
    onError,
    ...hooks
  }: { onError: (error: unknown) => void } & Pick<StorageOptions, "checkWriter"> &
    Pick<SqliteOptions, "onFlushFailed" | "onFault" | "onEvents" | "clock" | "bounds" | "lock">,
): Promise<Database> {
  if (databaseUrl !== "") return (await import("../platform/db/postgres.ts")).openPostgres(databaseUrl, { onError, ...hooks });
  const { openSqlite } = await import("../platform/db/sqlite.ts");
  const file = databasePath(dataDir);
  createEmpty(file); // the database's other files get the same mode
  return openSqlite(file, hooks);
}

/** The file of the embedded database. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "petstore.db");
}

/** When (ms) the embedded database was last written, by the time of its files, which is that of the system; undefined without one. */
export function lastWrittenAt({ dataDir, databaseUrl }: Pick<Settings, "dataDir" | "databaseUrl">): number | undefined {
  if (databaseUrl !== "") return undefined;
  // a file may be absent, and `requireAccess` says what is wrong with the folder
  const times = [databasePath(dataDir), `${databasePath(dataDir)}-wal`].map((path) => attempt(() => statSync(path).mtimeMs) ?? 0);
  return Math.max(...times) || undefined;
}

/** Runs a step of opening the storage. @throws Error with one line that names the folder or file, if the disk or the file is the reason */
async function withPath<T>(dataDir: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw withPathNamed(error, { dataDir, file: databasePath(dataDir) });
  }
}

/** Returns what the step did, or why the database does not answer. Throws any other error. */
async function attemptStep<T>(step: () => Promise<T>): Promise<{ done: T } | { away: Error }> {
  try {
    return { done: await step() };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "unavailable") throw error;
    if (error.cause instanceof AccessError) throw error.cause;
    return { away: error.cause instanceof Error ? error.cause : error };
  }
}

type OnAway = NonNullable<StorageOptions["onAway"]>;

/** @param away why the database did not answer a first attempt. Default: there was none */
async function retry<T>(step: () => Promise<T>, onAway: OnAway, signal: AbortSignal, away?: Error): Promise<T> {
  let reason = away;
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, pauseMsMax)) {
    if (reason !== undefined) {
      const nextMs = Math.round(pause * (0.5 + Math.random() / 2));
      onAway(reason.message, nextMs);
      await sleep(nextMs, undefined, { signal });
    }
    const tried = await attemptStep(step);
    if ("done" in tried) return tried.done;
    reason = tried.away;
  }
}

/** Lets reads and transactions pass from `open` on, and refuses them as `unavailable` before. */
function closedGate() {
  let isOpen = false;
  const around: Around = (_operation, work) => {
    if (!isOpen) throw new Problem("unavailable", "The store is not ready yet. Try again.", { headers: { "retry-after": "5" } });
    return work();
  };
  return { around, open: () => void (isOpen = true) };
}

/**
 * Prevents a start that would create an empty store beside a full one, or serve a copy that `petstore move` has not finished.
 *
 * @throws Error with one line that says what to do
 */
export async function requireMoved(
  db: Pick<Database, "engine" | "query">,
  { dataDir, allowEmptyDatabase = false }: Pick<Settings, "dataDir"> & Partial<Pick<Settings, "allowEmptyDatabase">>,
): Promise<void> {
  if (db.engine === "sqlite") {
    if (existsSync(join(dataDir, unfinishedFile)))
      throw new Error(`DATA_DIR=${dataDir} has an unfinished copy: run \`petstore move\` again, or delete the folder`);
    return;
  }
  const [has] = await db.query<{ unfinished: boolean; accounts: boolean }>(sql`
    SELECT to_regclass(${unfinishedTable}) IS NOT NULL AS unfinished, to_regclass('accounts') IS NOT NULL AS accounts`);
  if (has?.unfinished) throw new Error("the database of DATABASE_URL has an unfinished copy: run `petstore move` again, which starts over");
  if (allowEmptyDatabase) return;
  const isEmpty = !has?.accounts || (await db.query(sql`SELECT 1 FROM accounts LIMIT 1`)).length === 0;
  const file = join(dataDir, "petstore.db");
  if (!isEmpty || !hasAccount(file)) return;
  throw new Error(
    `the database of DATABASE_URL has no account, and ${file} has one: copy it with \`petstore move --to postgres://…\` while DATABASE_URL ` +
      "is not set, or set ALLOW_EMPTY_DATABASE=on to begin with an empty store",
  );
}

function hasAccount(file: string): boolean {
  if (!existsSync(file)) return false;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'accounts'").get();
    return table !== undefined && db.prepare("SELECT 1 FROM accounts LIMIT 1").get() !== undefined;
  } finally {
    db.close();
  }
}

/** Clocks of machines with a time server differ by seconds. */
const offMsMax = 60 * 60_000;

/**
 * Compares this machine's clock with that of PostgreSQL, before anything is written. A wrong clock would end sessions of all nodes, and
 * forget their answers under Idempotency-Keys, too early.
 *
 * @throws Error with one line if they differ by more than an hour
 */
export async function requireSameClock(db: Pick<Database, "engine" | "query">, clock: () => number): Promise<void> {
  if (db.engine === "sqlite") return;
  const [row] = await db.query<{ now: number }>(sql`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now`);
  const aheadMs = clock() - Number(row?.now);
  if (Math.abs(aheadMs) <= offMsMax) return;
  const side = aheadMs > 0 ? "ahead of" : "behind";
  throw new Error(`the clock of this machine is ${hours(aheadMs)} hours ${side} that of PostgreSQL: set the wrong one before the start`);
}

/** Returns a line that says by how much the clock is behind the newest data; undefined if it is not. The database must be up to date. */
async function clockBehind(db: Pick<Database, "query">, now: number): Promise<string | undefined> {
  const [row] = await db.query<{ newest: number | null }>(sql`
    SELECT MAX(at) AS newest FROM (SELECT MAX(created_at) AS at FROM idempotency UNION ALL SELECT MAX(created_at) FROM sessions
      UNION ALL SELECT MAX(applied_at) FROM migrations) AS times`);
  const newest = row?.newest ?? 0;
  if (newest - now <= offMsMax) return undefined;
  return `the clock is ${hours(newest - now)} hours behind the newest data, of ${new Date(newest).toISOString()}: set it, or new rows are dated before old ones`;
}

function hours(ms: number): string {
  return (Math.abs(ms) / hourMs).toFixed(1);
}

/** Errors of the system that concern the disk, and whose messages do not always name a path. */
const diskCodes = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EISDIR", "EEXIST"]);

/** Returns an error whose message names the folder or file in one line, if the error concerns the disk or the database's file; otherwise the error. */
export function withPathNamed(error: unknown, { dataDir, file }: { dataDir: string; file: string }): unknown {
  const { message, cause } = error as Error;
  if (typeof message !== "string" || message.includes(dataDir)) return error;
  const reason = cause instanceof Error ? cause.message : message;
  const fault = storageFaultOf(error);
  if (fault === "damaged") return new Error(`${file} is damaged (${reason}): restore it from a backup`, { cause: error });
  if (fault === "unwritable") return new Error(`${file} cannot be opened or written (${reason})`, { cause: error });
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return diskCodes.has(code) ? new Error(`DATA_DIR=${dataDir} cannot be used (${message})`, { cause: error }) : error;
}

/** `copy` is the path of the embedded database as it was before; undefined if the database was new, or is on PostgreSQL. */
export type Upgrade = { migrated: string[]; isNew: boolean; copy: string | undefined };

/**
 * Brings the database up to date. Copies the embedded one first if a migration is missing.
 *
 * @param file path of the embedded database
 * @throws HistoryError, CopyError; for data of a newer version an Error that says how to go back
 */
async function upgrade(db: Database, file: string, now: number, onStep: OnStep): Promise<Upgrade> {
  const migrations = migrationsFor(db.engine);
  try {
    const isShared = db.engine === "postgres";
    const copy = isShared ? undefined : copyBeforeUpgrade(file, migrations, now, onStep);
    const run = isShared ? (await import("../platform/nodes/node-releases.ts")).migrateShared : migrate;
    const migrated = await run(db, now, migrations, isShared || copy !== undefined ? onStep : undefined);
    await foldNames(db);
    return { migrated, isNew: migrated.length === migrations.length, copy };
  } catch (error) {
    if (!(error instanceof NewerDataError)) throw error;
    const wayBack = db.engine === "sqlite" ? wayBackOf(file, copyToGoBackTo(file, error.last)) : wayBackOnPostgres;
    throw new Error(`${error.message}: start that version, or ${wayBack}`, { cause: error });
  }
}

const wayBackOnPostgres =
  "restore a backup from before the upgrade (`petstore backup`, pg_dump) into an empty database, which then lacks later writes";

/** What to do to use an earlier version again. */
function wayBackOf(file: string, copy: string | undefined): string {
  if (copy === undefined) return "restore a backup from before the upgrade, which lacks later writes";
  const folder = dirname(file);
  return (
    `go back to the copy from before the upgrade, which lacks later writes: in ${folder}, ` +
    `mkdir set-aside && mv petstore.db* set-aside/ && cp ${basename(copy)} petstore.db`
  );
}

/** Logs an upgrade of existing data, and the way back. */
export function logUpgrade(log: Logger, { migrated, copy }: Upgrade): void {
  if (copy === undefined) log.info({ migrated }, "the database was upgraded: to go back, restore a backup from before the upgrade");
  else
    log.info({ migrated, copy }, "the database was upgraded: to go back, start the earlier version on the copy, which lacks later writes");
}
