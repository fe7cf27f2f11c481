import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  inOrderOfReferences,
  leftOut,
  pageLength,
  pageRows,
  textLength,
  type Column,
  type Dump,
  type MigrationName,
  type Table,
  type Value,
} from "./dump.ts";

/** Waits for a turn of the event loop between pages, so that a timer or a write of this process does not wait for a whole table. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Opens a snapshot of an embedded database that a service may be using: one read transaction on a separate connection, which sees what
 * was committed before it began and delays no write. Until `close` the log cannot be restarted, so it grows by what is written meanwhile.
 *
 * @throws if the file is absent or is not a database
 */
export function openSqliteDump(file: string): Dump & { connection: DatabaseSync } {
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
      close: async () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The tables of a database, except those that are not copied. */
export function tablesOf(connection: DatabaseSync): Table[] {
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
