import { pendingOf } from "../platform/db/migration-history.ts";
import { migrationsFor } from "../platform/db/migrate.ts";
import { Problem } from "../platform/problem.ts";
import { DumpError, sumTable, type Dump, type MigrationName, type Progress, type Table, type TableSum } from "./dump.ts";

/** A data folder with this file, or a database with this table, holds a copy that is incomplete or was not compared. */
export const unfinishedFile = "petstore.moving";
export const unfinishedTable = "unfinished_move";

/** The rows and files that were copied and compared. */
export type Moved = { tables: Record<string, TableSum>; files: number; bytes: number };

/** The rows to load into the whole schema of the target: some migrations differ between the engines. */
export function sourceOf(dump: Dump) {
  const { tables, sequences } = dump;
  const migrations: MigrationName[] = [...migrationsFor("sqlite"), ...migrationsFor("postgres")];
  return { migrations, tables, sequences, rows: (table: Table) => dump.rows(table) };
}

/** @throws DumpError unless this version of the program wrote or upgraded the data */
export function requireCurrent({ engine, migrations }: Pick<Dump, "engine" | "migrations">): void {
  const pending = pendingOf(
    migrations.map(({ number, name }) => ({ number, name, hash: null })),
    migrationsFor(engine),
  );
  if (pending.length > 0)
    throw new DumpError("the source was written by an earlier version: upgrade it first, with `npm run petstore -- migrate`");
}

/** Reads the copy again, compares each table with the rows that were copied, and closes it. @throws DumpError */
export async function compare(
  source: Dump,
  copied: Map<string, TableSum>,
  copy: Dump,
  progress: Progress,
): Promise<Record<string, TableSum>> {
  try {
    for (const table of source.tables) {
      const [before, after] = [copied.get(table.name), await sumTable(copy, table, (name, rows) => progress(`comparing ${name}`, rows))];
      if (before?.rows !== after.rows || before.sha256 !== after.sha256)
        throw new DumpError(`the copy of ${table.name} has ${after.rows} rows that differ from the ${before?.rows ?? 0} of the source`);
    }
  } finally {
    await copy.close();
  }
  return Object.fromEntries(copied);
}

/**
 * Runs a part of a move. Turns any error, even one of the database or the disk, into a DumpError with one line.
 *
 * @param left completes the line: the state that the failed part leaves
 */
export async function explained<T>(left: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const cause = error instanceof Problem && error.cause instanceof Error ? error.cause : error;
    if (!(cause instanceof Error)) throw cause;
    const [line = ""] = cause.message.split("\n");
    throw new DumpError(`${line} (${left})`, { cause });
  }
}
