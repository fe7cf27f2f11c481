import { createHash } from "node:crypto";
import type { Database } from "../platform/db/database.ts";
import { migrationsFor } from "../platform/db/migrate.ts";

/**
 * Rows that either engine can read and write. `openSqliteDump` and `openPostgresDump` read one snapshot of a database, `loadIntoSqlite` and
 * `loadIntoPostgres` write the rows into an empty one. A backup is such a dump in a file, and `move` copies one from engine to engine:
 *
 *     const dump = await openSqliteDump(file);               // or openPostgresDump(url)
 *     const sums = await loadIntoPostgres(url, dump, progress); // or loadIntoSqlite(file, dump, progress)
 *     // `sums` has the count and checksum of the rows that the dump gave, by table.
 *     const copy = await openPostgresDump(url);              // equal sums prove that the copy is complete
 *     for (const table of copy.tables) compare(await sumTable(copy, table), sums.get(table.name));
 *
 * A dump leaves out `migrations` (a loader makes the schema), `nodes` and `changes` (they coordinate the processes of one database),
 * `pet_words` (the database makes them again from the names), and `blobs` and `blob_pieces` (they are content, not rows: `PostgresDump` reads
 * them in the same snapshot).
 */
export type DumpedRows = {
  /** The migrations that made the schema, by number. */
  migrations: MigrationName[];
  /** Every table, each after the tables that its foreign keys refer to, otherwise by name. The order is the same on both engines. */
  tables: Table[];
  /** The last identifier that each sequence has returned. A sequence that was never used is absent. */
  sequences: Record<string, number>;
  /** Reads the rows of a table in the order of its primary key, up to a few thousand at once. One table at a time. */
  rows(table: Table): AsyncIterable<Value[][]>;
};

/** A snapshot of a database. */
export type Dump = DumpedRows & {
  engine: Database["engine"];
  ask: Ask;
  /** Ends the snapshot. */
  close(): Promise<void>;
};

export type Row = Record<string, unknown>;
/** Runs a query in a snapshot or a transaction. */
export type Ask = (text: string) => Promise<Row[]>;

export type MigrationName = { number: number; name: string };
type ColumnType = "integer" | "text" | "boolean" | "bytes";
export type Column = { name: string; type: ColumnType };
/** `key` are the columns of the primary key. Columns are in order of their names, because older schemas may have them in another order. */
export type Table = { name: string; columns: Column[]; key: string[] };
/** A value of a row, in the order of the table's columns: bytes are text in hexadecimal, times are numbers. */
export type Value = string | number | boolean | null;

export type TableSum = { rows: number; sha256: string };
/** Called after each page of a table with the number of its rows so far. */
export type Progress = (table: string, rows: number) => void;

/** The most rows that a dump reads at once, and the characters of text after which a page is full. */
export const pageRows = 2_000;
export const pageLength = 2 << 20;

/** Tables that are not copied. */
export const leftOut: ReadonlySet<string> = new Set([
  "migrations",
  "sequences",
  "nodes",
  "node_beats",
  "accepted_states",
  "database_losses",
  "changes",
  "blobs",
  "blob_pieces",
  "event_numbering",
  "pet_words",
]);

/** The data cannot be read or loaded, for example because a newer version wrote it. The message is one line. */
export class DumpError extends Error {}

/** The characters of text in a row. */
export function textLength(row: readonly unknown[]): number {
  let length = 0;
  for (const value of row) if (typeof value === "string") length += value.length;
  return length;
}

/** A page as JSON lines, one array for each row. */
export function pageText(page: Value[][]): string {
  let text = "";
  for (const row of page) text += `${JSON.stringify(row)}\n`;
  return text;
}

/**
 * Reads a table, calls `use` with each page, and returns the count and checksum of its rows. The checksum is the same for equal rows in the same
 * order, whichever engine they come from.
 */
export async function sumTable(
  dump: Pick<DumpedRows, "rows">,
  table: Table,
  progress: Progress = () => undefined,
  use: (page: Value[][]) => unknown = () => undefined,
): Promise<TableSum> {
  const hash = createHash("sha256");
  let rows = 0;
  for await (const page of dump.rows(table)) {
    await use(page);
    hash.update(pageText(page));
    progress(table.name, (rows += page.length));
  }
  return { rows, sha256: hash.digest("hex") };
}

/**
 * The migrations that make the schema of a dump on an engine, which may have fewer or more of its own.
 *
 * @throws DumpError if the dump has a migration that this program does not know
 */
export function schemaOf(migrations: readonly MigrationName[], engine: Database["engine"]) {
  const known = new Set([...migrationsFor("sqlite"), ...migrationsFor("postgres")].map(({ number, name }) => `${number} ${name}`));
  const unknown = migrations.find(({ number, name }) => !known.has(`${number} ${name}`));
  if (unknown) throw new DumpError(`a newer version wrote the data: migration ${unknown.number} ${unknown.name} is unknown here`);
  const last = Math.max(...migrations.map(({ number }) => number));
  return migrationsFor(engine).filter(({ number }) => number <= last);
}

/**
 * Makes sure that rows fit the schema that they are loaded into: the same tables, with the same columns and keys.
 *
 * @throws DumpError
 */
export function requireTables(schema: readonly Table[], given: readonly Table[]): void {
  const described = (tables: readonly Table[]) => new Map(tables.map((table) => [table.name, JSON.stringify([table.columns, table.key])]));
  const [expected, found] = [described(schema), described(given)];
  for (const [name, columns] of expected) {
    if (!found.has(name)) throw new DumpError(`the table ${name} is missing`);
    if (found.get(name) !== columns) throw new DumpError(`the table ${name} has other columns than in its schema`);
  }
  const foreign = found.keys().find((name) => !expected.has(name));
  if (foreign !== undefined) throw new DumpError(`the table ${foreign} is in no schema`);
}

/** Sorts tables so that each follows those that it refers to, otherwise by name. */
export function inOrderOfReferences(tables: Table[], references: { from: string; to: string }[]): Table[] {
  const sorted: Table[] = [];
  const left = new Map(tables.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((table) => [table.name, table]));
  while (left.size > 0) {
    const isWaiting = (name: string): boolean => references.some(({ from, to }) => from === name && to !== name && left.has(to));
    const next = left.values().find(({ name }) => !isWaiting(name));
    if (next === undefined) throw new DumpError(`the tables ${[...left.keys()].join(", ")} refer to each other`);
    left.delete(next.name);
    sorted.push(next);
  }
  return sorted;
}
