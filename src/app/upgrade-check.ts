import { existsSync, statfsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import sql, { raw, type Sql } from "sql-template-tag";
import { lastBackupAt } from "../backup/manifest.ts";
import { systemClock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { holdersOf, sayHolder, type Holder } from "../platform/db/lock-waits.ts";
import {
  columnsOfMigrations,
  HistoryError,
  labelOf,
  migrationsFor,
  pendingOf,
  type AppliedMigration,
  type Migration,
} from "../platform/db/migrate.ts";
import { effectsOf, strongLocksOf, type Effect } from "../platform/db/migration-effects.ts";
import { addressesOfNodes, listLiveNodes, tooOldLine, type LiveNode } from "../platform/nodes/node-releases.ts";
import { isAnswered } from "../platform/socket.ts";
import type { Settings } from "./settings.ts";
import { databasePath, requireMoved, requireSameClock, socketPath } from "./storage.ts";

type Engine = Database["engine"];
type Place = Pick<Settings, "dataDir" | "databaseUrl" | "allowEmptyDatabase">;
type Change = Pick<Effect, "table" | "does" | "work"> & { rows: number; bytes: number };

/** What an upgrade of the data to this release will do. */
export type UpgradeForecast = {
  engine: Engine;
  ready: boolean;
  /** What stops the upgrade, one line each. */
  problems: string[];
  /** What the operator should know before it. */
  notes: string[];
  pending: { migration: string; changes: Change[] }[];
  /** About how long it takes, without waiting for others. */
  seconds: number;
  /**
   * The space that it needs, in part only while it runs, and what is free; null if this machine cannot see it. `logBytes`: what PostgreSQL writes to its
   * log (WAL), which standbys and archives get too; null with the embedded database.
   */
  space: { neededBytes: number; freeBytes: number | null; logBytes: number | null };
  nodes: LiveNode[];
  transactions: Holder[];
  backupAt: string | null;
};

/** Reads a database. `sizeOf` gives the rows of a table and the bytes that it takes with its indexes. */
type Source = {
  engine: Engine;
  query: <R>(text: Sql) => Promise<R[]>;
  sizeOf: (table: string) => Promise<{ rows: number; bytes: number }>;
  /** The bytes of a copy that the upgrade makes first. */
  copyBytes: () => Promise<number>;
  /** The bytes a second of each kind of work, and of the copy. */
  rates: Record<Exclude<Effect["work"], "catalog"> | "copy", number>;
  freeBytes: number | null;
};

/** Says what an upgrade will do, and changes nothing. The service may run. */
export async function forecastUpgrade(place: Place): Promise<UpgradeForecast> {
  if (place.databaseUrl !== "") return withPostgres(place.databaseUrl, (source) => forecast(place, source));
  if (existsSync(databasePath(place.dataDir))) return withSqlite(place, (source) => forecast(place, source));
  const space = { neededBytes: 0, freeBytes: null, logBytes: null };
  const none = { problems: [], pending: [], seconds: 0, space, nodes: [], transactions: [], backupAt: null };
  return { engine: "sqlite", ready: true, notes: [`there is no data in ${place.dataDir} yet: the first start makes it`], ...none };
}

/** How long (s) the program takes to start and to connect, and on PostgreSQL each migration for its transactions. */
const [startSeconds, migrationSeconds] = [1.5, 0.06];
/** What each migration writes on PostgreSQL besides rows, to the catalog and to the log. */
const catalogBytes = 40 << 10;
/** The bytes of PostgreSQL's log for each byte of a table that is written: entries of indexes and whole pages come on top. */
const logShare = 1.5;

async function forecast(place: Place, source: Source): Promise<UpgradeForecast> {
  const { engine, freeBytes } = source;
  const { missing, problem } = await findMissing(source);
  const pending = await Promise.all(
    missing.map(async (migration) => ({ migration: labelOf(migration), changes: await changesOf(migration, source) })),
  );
  const changes = pending.flatMap((one) => one.changes);
  const copy = engine === "sqlite" && missing.length > 0 ? await source.copyBytes() : 0;
  const written = new Map(changes.filter(({ work }) => work !== "catalog").map(({ table, bytes }) => [table, bytes]));
  const writtenBytes = [...written.values()].reduce((sum, bytes) => sum + bytes, 0);
  const logBytes = engine === "postgres" ? Math.ceil(missing.length * catalogBytes + writtenBytes * logShare) : null;
  const neededBytes = writtenBytes + (logBytes === null ? copy : logBytes + missing.length * catalogBytes);
  const seconds = changes.reduce(
    (sum, { work, bytes }) => sum + (work === "catalog" ? 0 : bytes / source.rates[work]),
    copy / source.rates.copy + (missing.length > 0 ? startSeconds : 0) + (engine === "postgres" ? missing.length * migrationSeconds : 0),
  );
  const nodes = engine === "postgres" ? await listLiveNodes(source) : [];
  const transactions = engine === "postgres" ? await longHolders(source, missing) : [];
  const tooOld = tooOldLine(nodes, nodes.length > 0 ? await addressesOfNodes(source) : []);
  const full =
    freeBytes !== null && freeBytes < neededBytes
      ? `the upgrade needs ${bytesText(neededBytes)}, and ${place.dataDir} has ${bytesText(freeBytes)} free: make room`
      : undefined;
  const ofServer = engine === "postgres" ? await refusalsOfServer(source, { isMigrating: missing.length > 0 }) : [];
  const refused = [...ofServer, ...(await refusalsOfStart(place, source))];
  const stopNodes = tooOld && `${tooOld}: stop them all before the upgrade`;
  const problems = [problem, ...refused, stopNodes, full].filter((line) => line !== undefined);
  const backupAt = lastBackupAt(place.dataDir);
  const backup = backupAt === undefined ? null : new Date(backupAt).toISOString();
  return {
    engine,
    ready: problems.length === 0,
    problems,
    notes: missing.length === 0 ? [] : [...transactions.map(noteOf), ...(await placeNotes(place, backup))],
    pending,
    seconds: Math.ceil(seconds),
    space: { neededBytes: Math.ceil(neededBytes), freeBytes, logBytes },
    nodes,
    transactions,
    backupAt: backup,
  };
}

/** What the start would say that refuses the place of the data. */
async function refusalsOfStart(place: Place, source: Source): Promise<string[]> {
  const checks = [() => requireSameClock(source, systemClock), () => requireMoved(source, place)];
  const refused: string[] = [];
  for (const check of checks) await check().catch((error: Error) => refused.push(error.message));
  return refused;
}

/** What the server and the rights of its user do not let the start do, or the migrations. */
async function refusalsOfServer({ query }: Source, { isMigrating }: { isMigrating: boolean }): Promise<string[]> {
  const { noWrites, takesNoWrites } = await import("../platform/db/postgres-sessions.ts");
  const { toPrimary } = await import("./doctor-postgres.ts");
  const [server] = await query<{ closed: boolean; may: boolean; foreign: string | null }>(sql`
    SELECT ${raw(takesNoWrites)} AS closed, has_schema_privilege(current_schema(), 'CREATE') AS may,
      (SELECT MIN(tablename) FROM pg_tables WHERE schemaname = current_schema() AND NOT pg_has_role(tableowner, 'USAGE')) AS foreign`);
  const { closed, may, foreign } = server!;
  return [
    closed && `PostgreSQL ${noWrites}: ${toPrimary}`,
    isMigrating && !may && "the user of DATABASE_URL may not create tables: let it, or upgrade as the owner of the tables",
    isMigrating &&
      foreign !== null &&
      `the user of DATABASE_URL does not own the table ${foreign}, which only its owner changes: upgrade as that user`,
  ].filter((line) => line !== false);
}

/** The migrations that the data lacks, or why this program cannot upgrade it. An empty database on PostgreSQL lacks none: nothing is upgraded. */
async function findMissing(source: Source): Promise<{ missing: Migration[]; problem: string | undefined }> {
  const { engine, query } = source;
  const columns = await columnsOfMigrations(source, engine);
  if (columns.length === 0) return { missing: [], problem: undefined };
  const hash = raw(columns.includes("hash") ? "hash" : "NULL AS hash");
  const applied = await query<AppliedMigration>(sql`SELECT number, name, ${hash} FROM migrations ORDER BY number`);
  try {
    return { missing: pendingOf(applied, migrationsFor(engine)), problem: undefined };
  } catch (error) {
    if (!(error instanceof HistoryError)) throw error;
    return { missing: [], problem: error.message };
  }
}

/** What a migration does to the tables of the data, each thing once. */
async function changesOf({ script }: Migration, { sizeOf }: Source): Promise<Change[]> {
  const effects = effectsOf(script).filter(({ table, does }) => !table.startsWith("sqlite_") && does !== "refers to");
  const once = new Map(effects.map(({ table, does, work }) => [`${does} ${table}`, { table, does, work }]));
  return Promise.all([...once.values()].map(async (change) => ({ ...change, ...(await sizeOf(change.table)) })));
}

/** The transaction of a request ends sooner (ms). */
const shortMs = 1_000;

/** The open transactions that the migrations will wait for. */
async function longHolders(source: Source, missing: Migration[]): Promise<Holder[]> {
  const held = await holdersOf(source, strongLocksOf(...missing.map(({ script }) => script)));
  return held.filter(({ since }) => since === null || systemClock() - since.getTime() > shortMs);
}

const noteOf = (holder: Holder): string => `the upgrade will wait for an open transaction: ${sayHolder(holder)}`;

async function placeNotes(place: Place, backup: string | null): Promise<string[]> {
  if (place.databaseUrl === "") return (await isAnswered(socketPath(place))) ? ["the service runs: stop it before the upgrade"] : [];
  const advice = "only a backup brings the earlier release back: `petstore backup` or pg_dump makes one";
  return [backup === null ? `no backup is recorded in ${place.dataDir}; ${advice}` : `the last backup is of ${backup}; ${advice}`];
}

/** A size with its unit: `1.4 GiB`. */
export function bytesText(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return bytes >= 1024 ** 2 ? `${Math.ceil(bytes / 1024 ** 2)} MiB` : `${Math.ceil(bytes / 1024)} KiB`;
}

/** Bytes a second that PostgreSQL reads and writes on one slow disk. */
const postgresRates = { rewrite: 5e6, scan: 20e6, rows: 5e6, copy: 20e6 };
const askMs = 60_000;

async function withPostgres<T>(url: string, use: (source: Source) => Promise<T>): Promise<T> {
  const { openConnection, statementOf } = await import("../platform/db/postgres-connections.ts");
  const connection = openConnection(url, () => undefined, { patience: { connectMs: 5_000, statementMs: askMs } });
  try {
    const client = await connection.open();
    const query = async <R>(text: Sql): Promise<R[]> => (await client.query(statementOf(text))).rows as R[];
    const sizeOf = async (table: string) => {
      const [size] = await query<{ rows: number; bytes: number }>(sql`
        SELECT GREATEST(reltuples, 0) AS rows, pg_total_relation_size(oid) AS bytes FROM pg_class WHERE oid = to_regclass(${table})`);
      return size ? { rows: Math.round(size.rows), bytes: size.bytes } : { rows: 0, bytes: 0 };
    };
    return await use({ engine: "postgres", query, sizeOf, copyBytes: async () => 0, rates: postgresRates, freeBytes: null });
  } finally {
    await connection.close();
  }
}

async function withSqlite<T>({ dataDir }: Place, use: (source: Source) => Promise<T>): Promise<T> {
  const { DatabaseSync } = await import("node:sqlite");
  const file = pathToFileURL(databasePath(dataDir));
  // Without a log no process uses the file. SQLite would otherwise leave an empty log, which may belong to another user than the service's.
  if (!existsSync(`${databasePath(dataDir)}-wal`)) file.searchParams.set("immutable", "1");
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    const query = async <R>(text: Sql): Promise<R[]> => db.prepare(text.sql).all(...(text.values as string[])) as R[];
    const sizeOf = async (table: string) => {
      const [has] = await query(sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ${table}`);
      if (!has) return { rows: 0, bytes: 0 };
      const [count] = await query<{ rows: number }>(sql`SELECT COUNT(*) AS rows FROM ${raw(table)}`);
      const [size] = await query<{ bytes: number | null }>(sql`
        SELECT SUM(pgsize) AS bytes FROM sqlite_schema JOIN dbstat USING (name) WHERE dbstat.aggregate = TRUE AND tbl_name = ${table}`);
      return { rows: count?.rows ?? 0, bytes: size?.bytes ?? 0 };
    };
    const copyBytes = async () => {
      const [pages] = await query<{ bytes: number }>(sql`
        SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);
      return pages?.bytes ?? 0;
    };
    const { bavail, bsize } = statfsSync(dataDir);
    return await use({ engine: "sqlite", query, sizeOf, copyBytes, rates: await measureRates(), freeBytes: bavail * bsize });
  } finally {
    db.close();
  }
}

/** How fast this machine writes tables now: fills one with two indexes in memory. An upgrade also waits for the disk, and a copy does less. */
async function measureRates(): Promise<Source["rates"]> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(":memory:");
  const begunAt = performance.now();
  db.exec(`
    CREATE TABLE animals (account_id BIGINT, id BIGINT, name TEXT, status TEXT, PRIMARY KEY (account_id, id)) WITHOUT ROWID;
    INSERT INTO animals WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 20000) SELECT 1, id, 'Rex ' || id, 'sold' FROM ids;
    CREATE INDEX by_name ON animals (account_id, name, id);
    CREATE INDEX by_status ON animals (account_id, status, name, id);`);
  const seconds = (performance.now() - begunAt) / 1_000;
  const size = db.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get();
  db.close();
  const rate = Number(size?.["bytes"]) / seconds;
  return { rewrite: rate / 2, scan: rate, rows: rate / 2, copy: rate * 4 };
}
