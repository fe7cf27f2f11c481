import pg from "pg";
import sql, { raw } from "sql-template-tag";
import { systemClock } from "../platform/clock.ts";
import type { Transaction } from "../platform/db/database.ts";
import { migrate } from "../platform/db/migrate.ts";
import { transact } from "../platform/db/postgres-transactions.ts";
import { DumpError, openSum, requireTables, schemaOf, type Dump, type Progress, type Table, type TableSum, type Value } from "./dump.ts";
import { connectForLong, tablesOf } from "./postgres-dump.ts";

type Source = Pick<Dump, "migrations" | "tables" | "sequences" | "rows">;

export type PostgresLoad = {
  progress?: Progress;
  /** Runs first: decides whether the database may be filled, and makes room. Default: refuses a database that has tables. */
  prepare?: (tx: Transaction) => Promise<void>;
  /** Runs last in the same transaction, for example to store content. */
  finish?: (tx: Transaction, sums: Map<string, TableSum>) => Promise<void>;
};

/** Time for one statement, such as making an index of a large table. */
const statementMs = 3_600_000;

/**
 * Fills an empty PostgreSQL database with the schema and the rows of a dump, in one transaction: until it has committed, the database is as
 * it was, and after an error or a kill it stays so. Nodes that start meanwhile wait before they migrate.
 *
 * @returns the count and checksum of the rows of each table
 * @throws DumpError if the database is not empty, or if the rows do not fit the schema
 */
export async function loadIntoPostgres(url: string, dump: Source, options: PostgresLoad = {}): Promise<Map<string, TableSum>> {
  const { prepare = requireEmpty, finish, progress = () => undefined } = options;
  const client = await connectForLong(url);
  try {
    const outcome = await transact(
      client,
      async (tx) => {
        await tx.lock("migrations");
        await prepare(tx);
        const marks = await tablesIn(tx); // of a move
        await migrate({ engine: "postgres", write: async (body) => body(tx) }, systemClock(), schemaOf(dump.migrations, "postgres"));
        const made = (await tablesOf(client)).filter(({ name }) => !marks.includes(name));
        requireTables(made, dump.tables);
        const sums = await load(tx, dump, progress);
        await finish?.(tx, sums);
        return sums;
      },
      { statementMs },
    );
    if (!outcome.isCommitted) throw outcome.error;
    return outcome.value;
  } finally {
    await client.end();
  }
}

/** The tables of the schema that a connection works in. */
export async function tablesIn(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`,
  );
  return rows.map(({ name }) => name);
}

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
export async function hasLiveNodes(ask: (text: string) => Promise<unknown[]>): Promise<boolean> {
  const live = await ask("SELECT 1 FROM nodes WHERE lease_until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) LIMIT 1");
  return live.length > 0;
}

async function requireEmpty(tx: Transaction): Promise<void> {
  const [first] = await tablesIn(tx);
  if (first !== undefined) throw new DumpError(`the database is not empty: it has the table ${first}`);
}

async function load(tx: Transaction, dump: Source, progress: Progress): Promise<Map<string, TableSum>> {
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

async function loadTable(tx: Transaction, dump: Source, table: Table, progress: Progress): Promise<TableSum> {
  const columns = raw(table.columns.map(({ name }) => pg.escapeIdentifier(name)).join(", "));
  const into = raw(pg.escapeIdentifier(table.name));
  const sum = openSum();
  let rows = 0;
  for await (const page of dump.rows(table)) {
    const rowsText = objectsText(table, page);
    await namingTable(table.name, () =>
      tx.query(sql`INSERT INTO ${into} (${columns}) SELECT ${columns}
        FROM json_populate_recordset(CAST(NULL AS ${into}), CAST(${rowsText} AS JSON))`),
    );
    sum.add(page);
    progress(table.name, (rows += page.length));
  }
  await tx.script(`ANALYZE ${pg.escapeIdentifier(table.name)}`);
  return sum.end();
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
