import { existsSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { systemClock } from "../platform/clock.ts";
import { migrate } from "../platform/db/migrate.ts";
import { openSqlite } from "../platform/db/sqlite.ts";
import { createEmpty, flushFile } from "../platform/files.ts";
import { numbered } from "./check-rules.ts";
import {
  DumpError,
  inOrderOfReferences,
  leftOut,
  pageLength,
  pageRows,
  requireTables,
  schemaOf,
  sumTable,
  textLength,
  type Ask,
  type Column,
  type Dump,
  type DumpedRows,
  type MigrationName,
  type Progress,
  type Table,
  type TableSum,
  type Value,
} from "./dump.ts";

/** Waits for a turn of the event loop between pages, so that a timer or a write of this process does not wait for a whole table. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export type SqliteDump = Dump & { connection: DatabaseSync };

/**
 * Opens a snapshot of an embedded database that a service may be using: one read transaction on a separate connection, which sees what
 * was committed before it began and delays no write. Until `close` the log cannot be restarted, so it grows by what is written meanwhile.
 *
 * @throws if the file is absent or is not a database
 */
export function openSqliteDump(file: string): SqliteDump {
  if (!existsSync(file)) throw new Error(`there is no database at ${file}`);
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    connection.exec("PRAGMA query_only = on; BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1");
    return {
      engine: "sqlite",
      connection,
      migrations: connection.prepare("SELECT number, name FROM migrations ORDER BY number").all() as MigrationName[],
      tables: tablesOf(connection),
      sequences: sequencesOf(connection),
      rows: (table) => rowsOf(connection, table),
      ask: askingIn(connection),
      close: async () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function askingIn(connection: DatabaseSync): Ask {
  return async (text) => connection.prepare(text).all();
}

/** The tables of a database, except those that are not copied. */
function tablesOf(connection: DatabaseSync): Table[] {
  const names = connection
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !leftOut.has(name));
  const references = names.flatMap((from) =>
    connection
      .prepare(`SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)`)
      .all(from)
      .map((row) => ({ from, to: String(row["table"]) })),
  );
  return inOrderOfReferences(
    names.map((name) => tableOf(connection, name)),
    references,
  );
}

function tableOf(connection: DatabaseSync, name: string): Table {
  const rows = connection.prepare("SELECT name, type, pk FROM pragma_table_info(?) ORDER BY name").all(name);
  const columns = rows.map((row): Column => ({ name: String(row["name"]), type: typeOf(String(row["type"])) }));
  const key = rows
    .filter(({ pk }) => Number(pk) > 0)
    .toSorted((a, b) => Number(a["pk"]) - Number(b["pk"]))
    .map((row) => String(row["name"]));
  return { name, columns, key };
}

function typeOf(declared: string): Column["type"] {
  if (/INT/i.test(declared)) return "integer";
  if (/BOOL/i.test(declared)) return "boolean";
  return /BLOB|BYTEA/i.test(declared) ? "bytes" : "text";
}

function sequencesOf(connection: DatabaseSync): Record<string, number> {
  const rows = connection.prepare("SELECT name, value FROM sequences WHERE value > 0 ORDER BY name").all();
  return Object.fromEntries(rows.map(({ name, value }) => [String(name), Number(value)]));
}

async function* rowsOf(connection: DatabaseSync, { name, columns, key }: Table): AsyncGenerator<Value[][]> {
  const list = (names: string[]): string => names.map((one) => `"${one}"`).join(", ");
  const statement = connection.prepare(`SELECT ${list(columns.map((column) => column.name))} FROM "${name}" ORDER BY ${list(key)}`);
  statement.setReturnArrays(true);
  const converts = columns.map(({ type }) => (type === "boolean" || type === "bytes" ? type : undefined));
  const converted = converts.some((type) => type !== undefined);
  let page: Value[][] = [];
  let length = 0;
  for (const row of statement.iterate() as Iterable<unknown> as Iterable<unknown[]>) {
    if (converted) for (let at = 0; at < row.length; at++) if (converts[at] && row[at] !== null) row[at] = convert(row[at], converts[at]!);
    page.push(row as Value[]);
    length += textLength(row);
    if (page.length < pageRows && length < pageLength) continue;
    yield page;
    [page, length] = [[], 0];
    await turn();
  }
  if (page.length > 0) yield page;
}

function convert(value: unknown, type: "boolean" | "bytes"): Value {
  return type === "boolean" ? Boolean(value) : Buffer.from(value as Uint8Array).toString("hex");
}

/** The names of all sequences. One had another name before migration 24. */
const sequenceNames = new Set([...Object.keys(numbered), "spend_ids"]);

/**
 * Makes an embedded database with the schema and the rows of a dump. The file is complete and on the disk when this returns; after an error or
 * a kill it is worthless, so the caller makes it under another name and renames it.
 *
 * @param file path of a file that does not exist
 * @param finish runs when the rows are there, for example to check them
 * @returns the count and checksum of the rows of each table
 * @throws DumpError if the rows do not fit the schema
 */
export async function loadIntoSqlite(
  file: string,
  dump: DumpedRows,
  progress: Progress = () => undefined,
  finish: (ask: Ask, sums: Map<string, TableSum>) => Promise<void> = async () => undefined,
): Promise<Map<string, TableSum>> {
  createEmpty(file); // mode 0600
  const empty = openSqlite(file);
  try {
    await migrate(empty, systemClock(), schemaOf(dump.migrations, "sqlite"));
  } finally {
    await empty.close();
  }
  const connection = new DatabaseSync(file);
  try {
    connection.exec(
      "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536",
    );
    const sums = await loadAll(connection, dump, progress);
    await finish(askingIn(connection), sums);
    connection.exec("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL");
    return sums;
  } finally {
    connection.close();
    await flushFile(file);
  }
}

async function loadAll(connection: DatabaseSync, dump: DumpedRows, progress: Progress): Promise<Map<string, TableSum>> {
  requireTables(tablesOf(connection), dump.tables);
  const foreign = Object.keys(dump.sequences).find((name) => !sequenceNames.has(name));
  if (foreign !== undefined) throw new DumpError(`the sequence ${foreign} is in no schema`);
  connection.exec("BEGIN");
  // an index that is made at the end is made by one sort, without a look-up for each row
  const indexes = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").all();
  // Dropping an index drops its statistics. ANALYZE of the schema makes their table, which older dumps lack, and reads no rows.
  connection.exec("ANALYZE sqlite_schema; CREATE TEMP TABLE kept_statistics AS SELECT * FROM sqlite_stat1");
  for (const { name } of indexes) connection.exec(`DROP INDEX "${String(name)}"`);
  const sums = new Map<string, TableSum>();
  for (const table of dump.tables) sums.set(table.name, await loadTable(connection, dump, table, progress));
  for (const { name, sql } of indexes) insertRow(`the index ${String(name)}`, () => connection.exec(String(sql)));
  connection.exec("DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 SELECT * FROM kept_statistics; DROP TABLE kept_statistics");
  const upsert = connection.prepare(
    "INSERT INTO sequences (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  for (const [name, value] of Object.entries(dump.sequences)) upsert.run(name, BigInt(value));
  const [broken] = connection.prepare("PRAGMA foreign_key_check").all();
  if (broken) throw new DumpError(`a row of ${String(broken["table"])} refers to a row of ${String(broken["parent"])} that is not there`);
  connection.exec("COMMIT");
  return sums;
}

function loadTable(connection: DatabaseSync, dump: DumpedRows, table: Table, progress: Progress): Promise<TableSum> {
  const columns = table.columns.map(({ name }) => `"${name}"`);
  const text = `INSERT INTO "${table.name}" (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  const insert = connection.prepare(text);
  const integers = table.columns.map(({ type }) => type === "integer");
  const bytes = table.columns.map(({ type }) => type === "bytes");
  const bind = (value: Value, at: number): SQLInputValue => {
    if (typeof value === "boolean") return value ? 1n : 0n;
    if (value === null) return null;
    if (bytes[at]) return Buffer.from(String(value), "hex");
    return integers[at] ? BigInt(value) : value; // node:sqlite binds numbers as REAL
  };
  return sumTable(dump, table, progress, (page) => {
    for (const row of page) insertRow(table.name, () => insert.run(...row.map(bind)));
  });
}

/** Primary results of SQLite for a row that breaks a rule of its table: SQLITE_CONSTRAINT and SQLITE_MISMATCH. */
const refusals = new Set([19, 20]);

function insertRow(table: string, insert: () => void): void {
  try {
    insert();
  } catch (error) {
    const { errcode = 0, message } = error as { errcode?: number; message: string };
    if (!refusals.has(errcode & 0xff)) throw error;
    throw new DumpError(`a row of ${table} breaks a rule of the schema: ${message}`, { cause: error });
  }
}
