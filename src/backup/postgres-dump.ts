import { createHash, randomUUID } from "node:crypto";
import pg from "pg";
import sql, { raw, type Sql } from "sql-template-tag";
import { hourMs, minuteMs, systemClock } from "../platform/clock.ts";
import type { Transaction } from "../platform/db/database.ts";
import { holdersOf, lockTables, sayHolder, strongLockMs, withLockRetries } from "../platform/db/lock-waits.ts";
import { migrate } from "../platform/db/migrate.ts";
import { statementOf } from "../platform/db/postgres-connections.ts";
import { openSession } from "../platform/db/postgres-sessions.ts";
import { transact } from "../platform/db/postgres-transactions.ts";
import { acceptance } from "../platform/nodes/rewinds.ts";
import {
  DumpError,
  inOrderOfReferences,
  leftOut,
  pageLength,
  pageRows,
  requireTables,
  schemaOf,
  sumTable,
  type Ask,
  type Column,
  type Dump,
  type DumpedRows,
  type MigrationName,
  type Progress,
  type Row,
  type Table,
  type TableSum,
  type Value,
} from "./dump.ts";

const timeouts = { connectMs: 5_000, statementMs: 600_000 };

/** A named blob: `<hash>`, `<hash>.br` or `<hash>.gz` for published files, `upload/<name>` for archives that wait to be unpacked. */
type StoredBlob = { id: string; name: string; bytes: number; sha256: string };
export type PostgresDump = Dump & {
  client: pg.Client;
  /** Lists the complete blobs by name. */
  blobs(): AsyncIterable<StoredBlob>;
  /** Reads the bytes of a blob, a piece at a time. */
  bytesOf(blob: StoredBlob): AsyncIterable<Uint8Array>;
};

/** Connects for work that takes longer than a request. @throws Problem `unavailable`, whose message does not repeat the password */
async function connectForLong(url: string): Promise<pg.Client> {
  const { statementMs: longMs } = timeouts;
  const settings = `SET statement_timeout = ${longMs}; SET idle_in_transaction_session_timeout = ${longMs}; SET client_min_messages = warning`;
  return (await openSession(url, settings, { patience: timeouts, name: "petstore backup" })).client;
}

/** Opens a snapshot of a PostgreSQL database that services may be using: one transaction that reads and locks nothing. */
export async function openPostgresDump(url: string): Promise<PostgresDump> {
  const client = await connectForLong(url);
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const found = await client.query<{ table: string | null }>(`SELECT to_regclass('migrations') AS "table"`);
    if (!found.rows[0]?.table) throw new DumpError("the database of DATABASE_URL has no data of a pet store");
    const { rows: migrations } = await client.query<MigrationName>("SELECT number, name FROM migrations ORDER BY number");
    return {
      engine: "postgres",
      client,
      migrations,
      tables: await tablesOf(client),
      // read after the snapshot began, so no row of it has a higher identifier
      sequences: await sequencesOf(client),
      rows: (table) => rowsOf(client, table),
      ask: async (text) => (await client.query<Row>(text)).rows,
      blobs: () =>
        pagesOf<StoredBlob>(client, `SELECT id, name, bytes, sha256 FROM blobs WHERE name IS NOT NULL ORDER BY name COLLATE "C"`),
      bytesOf: (blob) => bytesOf(client, blob),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** The tables of a database, except those that are not copied. */
async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<{ table: string; name: string; type: string; place: number | null }>(`
    SELECT class.relname AS "table", attribute.attname AS name, type.typname AS type,
      array_position(CAST(key.indkey AS SMALLINT[]), attribute.attnum) AS place
    FROM pg_class class
    JOIN pg_attribute attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
    JOIN pg_type type ON type.oid = attribute.atttypid
    LEFT JOIN pg_index key ON key.indrelid = class.oid AND key.indisprimary
    WHERE class.relkind = 'r' AND class.relnamespace = CAST(current_schema() AS REGNAMESPACE)
    ORDER BY class.relname COLLATE "C", attribute.attname COLLATE "C"`);
  const byTable = Map.groupBy(rows, ({ table }) => table);
  const tables = [...byTable].filter(([name]) => !leftOut.has(name)).map(([name, columns]) => tableOf(name, columns));
  const { rows: references } = await client.query<{ from: string; to: string }>(`
    SELECT source.relname AS "from", target.relname AS "to" FROM pg_constraint
    JOIN pg_class source ON source.oid = conrelid JOIN pg_class target ON target.oid = confrelid
    WHERE contype = 'f' AND source.relnamespace = CAST(current_schema() AS REGNAMESPACE)`);
  return inOrderOfReferences(tables, references);
}

function tableOf(name: string, rows: { name: string; type: string; place: number | null }[]): Table {
  const key = rows.filter(({ place }) => place !== null).toSorted((a, b) => a.place! - b.place!);
  return { name, columns: rows.map((row) => ({ name: row.name, type: typeOf(row.type) })), key: key.map((row) => row.name) };
}

function typeOf(type: string): Column["type"] {
  if (/^int[248]$/.test(type)) return "integer";
  if (type === "bool") return "boolean";
  return type === "bytea" ? "bytes" : "text";
}

async function sequencesOf(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; value: number | null }>(
    `SELECT sequencename AS name, last_value AS value FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL
      ORDER BY sequencename COLLATE "C"`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

async function* rowsOf(client: pg.Client, { name, columns, key }: Table): AsyncGenerator<Value[][]> {
  const quoted = (one: string): string => pg.escapeIdentifier(one);
  const chosen = columns.map((column) => (column.type === "bytes" ? `encode(${quoted(column.name)}, 'hex')` : quoted(column.name)));
  // by bytes, as the other engine orders text
  const typed = new Map(columns.map((column) => [column.name, column.type]));
  const order = key.map((one) => (typed.get(one) === "text" ? `${quoted(one)} COLLATE "C"` : quoted(one)));
  const rows = await rowsAtOnce(client, name, columns);
  yield* fetched<Value[]>(client, `SELECT ${chosen.join(", ")} FROM ${quoted(name)} ORDER BY ${order.join(", ")}`, rows, "array");
}

/** How many rows to read at once. Even the longest must be at most some MiB of text together, because a page is in memory as a whole. */
async function rowsAtOnce(client: pg.Client, table: string, columns: Column[]): Promise<number> {
  const texts = columns.filter(({ type }) => type === "text" || type === "bytes");
  if (texts.length === 0) return pageRows;
  const length = texts.map(({ name }) => `COALESCE(octet_length(${pg.escapeIdentifier(name)}), 0)`).join(" + ");
  const { rows } = await client.query<{ longest: number | null }>(`SELECT MAX(${length}) AS longest FROM ${pg.escapeIdentifier(table)}`);
  return Math.max(1, Math.min(pageRows, Math.floor((pageLength * pagesOfLongest) / ((rows[0]?.longest ?? 0) + 1))));
}

async function* pagesOf<R>(client: pg.Client, text: string): AsyncGenerator<R> {
  for await (const page of fetched<R>(client, text, pageRows)) yield* page;
}

async function* bytesOf(client: pg.Client, { id }: StoredBlob): AsyncGenerator<Uint8Array> {
  for (let piece = 0; ; piece++) {
    const { rows } = await client.query<{ content: Buffer }>({
      name: "piece",
      text: "SELECT content FROM blob_pieces WHERE blob_id = $1 AND piece = $2",
      values: [id, piece],
    });
    if (rows[0] === undefined) return;
    yield rows[0].content;
  }
}

/** A page whose rows were all as long as the longest would have this many times the usual length. */
const pagesOfLongest = 8;
let cursors = 0;

/** Reads the rows of a query through a cursor, so that the server sends no more than one page. */
async function* fetched<R>(client: pg.Client, text: string, rows: number, rowMode?: "array"): AsyncGenerator<R[]> {
  const cursor = `dump_${++cursors}`;
  await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`);
  for (;;) {
    const fetch = { text: `FETCH ${rows} FROM ${cursor}`, ...(rowMode && { rowMode }) };
    const page = (await client.query(fetch as { text: string })).rows as R[];
    if (page.length > 0) yield page;
    if (page.length < rows) break;
  }
  await client.query(`CLOSE ${cursor}`);
}

export type PostgresLoad = {
  progress?: Progress;
  /** Runs first: decides whether the database may be filled, and makes room. Default: refuses a database that has tables. */
  prepare?: (tx: Transaction) => Promise<void>;
  /** Runs last in the same transaction, for example to store content. */
  finish?: (tx: Transaction, sums: Map<string, TableSum>) => Promise<void>;
};

/** Time for one statement, such as making an index of a large table. */
const statementMs = hourMs;

/**
 * Fills an empty PostgreSQL database with the schema and the rows of a dump, in one transaction: until it has committed, the database is as
 * it was, and after an error or a kill it stays so. Nodes that start meanwhile wait before they migrate.
 *
 * @returns the count and checksum of the rows of each table
 * @throws DumpError if the database is not empty, or if the rows do not fit the schema
 */
export async function loadIntoPostgres(url: string, dump: DumpedRows, options: PostgresLoad = {}): Promise<Map<string, TableSum>> {
  const { prepare = requireEmpty, finish, progress = () => undefined } = options;
  return locking(url, async (client) => {
    const outcome = await transact(
      client,
      async (tx) => {
        await tx.lock("migrations");
        await lockTables(tx, new Map((await tablesIn(tx)).map((name) => [name, "ACCESS EXCLUSIVE"])));
        await prepare(tx);
        const marks = await tablesIn(tx); // of a move
        await migrate({ engine: "postgres", write: async (body) => body(tx) }, systemClock(), schemaOf(dump.migrations, "postgres"));
        const made = (await tablesOf(client)).filter(({ name }) => !marks.includes(name));
        requireTables(made, dump.tables);
        const sums = await loadAll(tx, dump, progress);
        const [has] = await tx.query<{ table: boolean }>(sql`SELECT to_regclass('accepted_states') IS NOT NULL AS "table"`);
        if (has?.table) await tx.script(acceptance); // nodes that knew an earlier state go on
        await finish?.(tx, sums);
        return sums;
      },
      { statementMs, lockMs: strongLockMs },
    );
    if (!outcome.isCommitted) throw outcome.error;
    return outcome.value;
  });
}

/** How long (ms) to try to lock tables that others read. */
const lockWaitMs = minuteMs;

/**
 * Runs work that locks tables at its beginning, each try on a connection that waits only briefly for a lock, so that no statement waits long behind it.
 *
 * @throws DumpError that names the transaction in the way, after a minute
 */
export async function locking<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectForLong(url);
  const query = async <R>(text: Sql): Promise<R[]> => (await client.query(statementOf(text))).rows as R[];
  const holder = async (): Promise<string> => {
    const tables = await query<{ name: string }>(allTables);
    const [first] = await holdersOf({ query }, new Map(tables.map(({ name }) => [name, "ACCESS EXCLUSIVE"])));
    return first ? sayHolder(first) : "another process migrates or restores the database";
  };
  try {
    await client.query(`SET lock_timeout = ${strongLockMs}`);
    return await withLockRetries(
      () => work(client),
      holder,
      (held) => new DumpError(`${held}: end it, and try again`),
      () => undefined,
      lockWaitMs,
    );
  } finally {
    await client.end();
  }
}

/** The tables of the schema that a connection works in. */
export async function tablesIn(tx: Transaction): Promise<string[]> {
  return (await tx.query<{ name: string }>(allTables)).map(({ name }) => name);
}

const allTables = sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`;

/** The sequences of the schema. */
export async function sequencesIn(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(sql`SELECT sequencename AS name FROM pg_sequences WHERE schemaname = current_schema()`);
  return rows.map(({ name }) => name);
}

/** The functions that the migrations made, each with its arguments: those that triggers of the schema's tables run, or that take rows of them. */
export async function functionsIn(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(sql`
    SELECT CAST(CAST(p.oid AS REGPROCEDURE) AS TEXT) AS name FROM pg_proc p WHERE p.pronamespace = CAST(current_schema() AS REGNAMESPACE) AND EXISTS (
      SELECT 1 FROM pg_class c WHERE c.relnamespace = p.pronamespace AND c.relkind = 'r'
        AND (c.reltype = ANY (p.proargtypes) OR EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = c.oid AND tgfoid = p.oid)))`);
  return rows.map(({ name }) => name);
}

/** Whether a node serves the database. A node that was killed counts until its lease ends. */
export async function hasLiveNodes(ask: Ask): Promise<boolean> {
  const live = await ask("SELECT 1 FROM nodes WHERE lease_until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) LIMIT 1");
  return live.length > 0;
}

async function requireEmpty(tx: Transaction): Promise<void> {
  const [first] = await tablesIn(tx);
  if (first !== undefined) throw new DumpError(`the database is not empty: it has the table ${first}`);
}

async function loadAll(tx: Transaction, dump: DumpedRows, progress: Progress): Promise<Map<string, TableSum>> {
  // an index that is made at the end is made by one sort, without a look-up for each row
  const indexes = await tx.query<{ name: string; made: string }>(sql`
    SELECT indexname AS name, indexdef AS made FROM pg_indexes WHERE schemaname = current_schema()
      AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname AND connamespace = CAST(current_schema() AS REGNAMESPACE))`);
  for (const { name } of indexes) await tx.script(`DROP INDEX ${pg.escapeIdentifier(name)}`);
  const sums = new Map<string, TableSum>();
  for (const table of dump.tables) sums.set(table.name, await loadTable(tx, dump, table, progress));
  for (const { name, made } of indexes) await namingTable(`the index ${name}`, () => tx.script(made));
  const sequences = await sequencesIn(tx);
  for (const [name, value] of Object.entries(dump.sequences)) {
    if (!sequences.includes(name)) throw new DumpError(`the sequence ${name} is in no schema`);
    await tx.query(sql`SELECT setval(CAST(${pg.escapeIdentifier(name)} AS REGCLASS), ${value})`);
  }
  return sums;
}

async function loadTable(tx: Transaction, dump: DumpedRows, table: Table, progress: Progress): Promise<TableSum> {
  const columns = raw(table.columns.map(({ name }) => pg.escapeIdentifier(name)).join(", "));
  const into = raw(pg.escapeIdentifier(table.name));
  const sum = await sumTable(dump, table, progress, (page) => {
    const rowsText = objectsText(table, page);
    return namingTable(table.name, () =>
      tx.query(sql`INSERT INTO ${into} (${columns}) SELECT ${columns}
        FROM json_populate_recordset(CAST(NULL AS ${into}), CAST(${rowsText} AS JSON))`),
    );
  });
  await tx.script(`ANALYZE ${pg.escapeIdentifier(table.name)}`);
  return sum;
}

/** Turns the error of a row that breaks a rule of its table into one line: PostgreSQL's classes 22 (data) and 23 (constraints). */
async function namingTable(table: string, insert: () => Promise<unknown>): Promise<void> {
  try {
    await insert();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
    if (!/^2[23]/.test((cause as { code?: string }).code ?? "")) throw error;
    throw new DumpError(`a row of ${table} breaks a rule of the schema: ${cause.message.split("\n")[0]}`, { cause });
  }
}

/** A page as a JSON list of objects, which PostgreSQL turns into rows by the names and types of the table's columns. */
function objectsText({ columns }: Table, page: Value[][]): string {
  const spelled = (value: Value, at: number): Value => (columns[at]!.type === "bytes" && value !== null ? `\\x${String(value)}` : value);
  return JSON.stringify(page.map((row) => Object.fromEntries(row.map((value, at) => [columns[at]!.name, spelled(value, at)]))));
}

const pieceBytes = 256 * 1024;

/** Stores a file in the database in pieces, under its name there. Returns its length and the SHA-256 of its content. */
export async function storeBlob(
  tx: Transaction,
  name: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number; sha256: string }> {
  const id = randomUUID();
  const hash = createHash("sha256");
  await tx.query(sql`INSERT INTO blobs (id, made_at) VALUES (${id}, ${systemClock()})`);
  let [bytes, piece] = [0, 0];
  let kept: Buffer = Buffer.alloc(0);
  const store = async (chunk: Buffer): Promise<void> => {
    hash.update(chunk);
    bytes += chunk.length;
    await tx.query(sql`INSERT INTO blob_pieces (blob_id, piece, content) VALUES (${id}, ${piece++}, ${chunk})`);
  };
  for await (const chunk of content) {
    kept = Buffer.concat([kept, chunk]);
    for (; kept.length > pieceBytes; kept = kept.subarray(pieceBytes)) await store(kept.subarray(0, pieceBytes));
  }
  await store(kept);
  const sha256 = hash.digest("hex");
  await tx.query(sql`UPDATE blobs SET name = ${name}, bytes = ${bytes}, sha256 = ${sha256} WHERE id = ${id}`);
  return { bytes, sha256 };
}
