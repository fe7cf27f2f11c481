import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { systemClock } from "../platform/clock.ts";
import { migrate } from "../platform/db/migrate.ts";
import { openSqlite } from "../platform/db/sqlite.ts";
import { createEmpty, flushFile } from "../platform/files.ts";
import { DumpError, openSum, requireTables, schemaOf, type Dump, type Progress, type Table, type TableSum, type Value } from "./dump.ts";

import { asking, type Ask } from "./check-database.ts";
import { numbered } from "./check-rules.ts";
import { tablesOf } from "./sqlite-dump.ts";

/** The names of all sequences. One had another name before migration 24. */
const sequenceNames = new Set([...Object.keys(numbered), "spend_ids"]);

type Source = Pick<Dump, "migrations" | "tables" | "sequences" | "rows">;

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
  dump: Source,
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
    const sums = await load(connection, dump, progress);
    await finish(asking({ connection }), sums);
    connection.exec("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL");
    return sums;
  } finally {
    connection.close();
    await flushFile(file);
  }
}

async function load(connection: DatabaseSync, dump: Source, progress: Progress): Promise<Map<string, TableSum>> {
  requireTables(tablesOf(connection), dump.tables);
  const foreign = Object.keys(dump.sequences).find((name) => !sequenceNames.has(name));
  if (foreign !== undefined) throw new DumpError(`the sequence ${foreign} is in no schema`);
  connection.exec("BEGIN");
  // an index that is made at the end is made by one sort, without a look-up for each row
  const indexes = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").all();
  for (const { name } of indexes) connection.exec(`DROP INDEX "${String(name)}"`);
  const sums = new Map<string, TableSum>();
  for (const table of dump.tables) sums.set(table.name, await loadTable(connection, dump, table, progress));
  for (const { name, sql } of indexes) insertRow({ name: `the index ${String(name)}` }, () => connection.exec(String(sql)));
  const upsert = connection.prepare(
    "INSERT INTO sequences (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  for (const [name, value] of Object.entries(dump.sequences)) upsert.run(name, BigInt(value));
  const [broken] = connection.prepare("PRAGMA foreign_key_check").all();
  if (broken) throw new DumpError(`a row of ${String(broken["table"])} refers to a row of ${String(broken["parent"])} that is not there`);
  connection.exec("COMMIT");
  return sums;
}

async function loadTable(connection: DatabaseSync, dump: Source, table: Table, progress: Progress): Promise<TableSum> {
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
  const sum = openSum();
  let rows = 0;
  for await (const page of dump.rows(table)) {
    for (const row of page) insertRow(table, () => insert.run(...row.map(bind)));
    sum.add(page);
    progress(table.name, (rows += page.length));
  }
  return sum.end();
}

/** Primary results of SQLite for a row that breaks a rule of its table: SQLITE_CONSTRAINT and SQLITE_MISMATCH. */
const refusals = new Set([19, 20]);

function insertRow({ name }: Pick<Table, "name">, insert: () => void): void {
  try {
    insert();
  } catch (error) {
    const { errcode = 0, message } = error as { errcode?: number; message: string };
    if (!refusals.has(errcode & 0xff)) throw error;
    throw new DumpError(`a row of ${name} breaks a rule of the schema: ${message}`, { cause: error });
  }
}
