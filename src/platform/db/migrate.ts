import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import sql from "sql-template-tag";
import type { Database, Transaction } from "./database.ts";
import { pendingOf, type AppliedMigration, type Migration } from "./migration-history.ts";

type Engine = Database["engine"];

const folder = new URL("../../../migrations/", import.meta.url);
const fileName = /^(\d{4})_([a-z0-9_]+?)(?:\.(sqlite|postgres))?\.sql$/;

/** The migrations for an engine, in order: `0001_name.sql` for both, `0001_name.sqlite.sql` for one of them. */
export function migrationsFor(engine: Engine): Migration[] {
  return readdirSync(folder)
    .flatMap((file) => {
      const match = fileName.exec(file);
      if (!match) throw new Error(`migrations/${file} is not named as a migration`);
      if (match[3] && match[3] !== engine) return [];
      return [newMigration(Number(match[1]), String(match[2]), readFileSync(new URL(file, folder), "utf8"))];
    })
    .toSorted((a, b) => a.number - b.number);
}

/** A migration with the hash of its SQL, which does not depend on the line endings of a checkout. */
export function newMigration(number: number, name: string, script: string): Migration {
  const text = script.replaceAll("\r\n", "\n");
  return { number, name, script: text, hash: createHash("sha256").update(text).digest("hex") };
}

/** Time for one migration, which may rewrite a large table or wait for another node that runs it. */
const statementMs = 600_000;

/**
 * Brings the schema up to date, each migration in one transaction with its record. If many nodes start at once, one of them
 * runs each migration and the others wait for it.
 *
 * @returns the names of the migrations that it applied
 * @throws HistoryError, and changes nothing, if the data has other migrations than this program
 */
export async function migrate(
  db: Pick<Database, "engine" | "write">,
  now: number,
  migrations = migrationsFor(db.engine),
): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const name = await db.write((tx) => applyNext(tx, db.engine, now, migrations), { statementMs });
    if (name === undefined) return names;
    names.push(name);
  }
}

/** Applies the first missing migration. Returns its name, or undefined if none is missing. */
async function applyNext(tx: Transaction, engine: Engine, now: number, migrations: Migration[]): Promise<string | undefined> {
  await tx.lock("migrations");
  const rows = await readApplied(tx, engine);
  const [next] = pendingOf(rows, migrations);
  for (const { number, hash } of migrations) {
    if (rows.some((row) => row.number === number && row.hash === null))
      await tx.query(sql`UPDATE migrations SET hash = ${hash} WHERE number = ${number}`);
  }
  if (!next) return undefined;
  await tx.script(next.script);
  await tx.query(sql`
    INSERT INTO migrations (number, name, applied_at, hash) VALUES (${next.number}, ${next.name}, ${now}, ${next.hash})`);
  return next.name;
}

const columnsOf = {
  sqlite: sql`SELECT name FROM pragma_table_info('migrations')`,
  postgres: sql`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = 'migrations'`,
};

/** Reads the table of applied migrations. Creates it if it is absent, and adds the column that release 1.1.0 and earlier ones did not have. */
async function readApplied(tx: Transaction, engine: Engine): Promise<AppliedMigration[]> {
  const columns = (await tx.query<{ name: string }>(columnsOf[engine])).map(({ name }) => name);
  if (columns.length === 0) {
    await tx.script(`CREATE TABLE migrations (
      number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL, hash TEXT)`);
  } else if (!columns.includes("hash")) {
    // Checked first, because ADD COLUMN IF NOT EXISTS waits for a backup that reads the table, even if the column exists.
    await tx.script("ALTER TABLE migrations ADD COLUMN hash TEXT");
  }
  return tx.query<AppliedMigration>(sql`SELECT number, name, hash FROM migrations ORDER BY number`);
}
