import { readdirSync, readFileSync } from "node:fs";
import sql from "sql-template-tag";
import type { Database, Transaction } from "./database.ts";

export type Migration = { number: number; name: string; script: string };

const folder = new URL("../../../migrations/", import.meta.url);
const fileName = /^(\d{4})_([a-z0-9_]+?)(?:\.(sqlite|postgres))?\.sql$/;

/** The migrations for an engine, in order: `0001_name.sql` for both, `0001_name.sqlite.sql` for one of them. */
export function migrationsFor(engine: Database["engine"]): Migration[] {
  return readdirSync(folder)
    .flatMap((file) => {
      const match = fileName.exec(file);
      if (!match) throw new Error(`migrations/${file} is not named as a migration`);
      if (match[3] && match[3] !== engine) return [];
      return [{ number: Number(match[1]), name: String(match[2]), script: readFileSync(new URL(file, folder), "utf8") }];
    })
    .toSorted((a, b) => a.number - b.number);
}

/** Time for one migration, which may rewrite a large table or wait for another node that runs it. */
const statementMs = 600_000;

/**
 * Brings the schema up to date, each migration in one transaction with its record. If many nodes start at once, one of them
 * runs each migration and the others wait for it.
 *
 * @returns the names of the migrations that it applied
 * @throws if a newer version of the program wrote the data
 */
export async function migrate(db: Database, now: number, migrations = migrationsFor(db.engine)): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const name = await db.write((tx) => applyNext(tx, now, migrations), { statementMs });
    if (name === undefined) return names;
    names.push(name);
  }
}

/** Applies the first missing migration. Returns its name, or undefined if none is missing. */
async function applyNext(tx: Transaction, now: number, migrations: Migration[]): Promise<string | undefined> {
  await tx.lock("migrations");
  await tx.script("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)");
  const rows = await tx.query<{ number: number; name: string }>(sql`SELECT number, name FROM migrations ORDER BY number`);
  const known = new Set(migrations.map(({ number }) => number));
  const newer = rows.find((row) => !known.has(row.number));
  if (newer) {
    throw new Error(
      `the data was written by a newer version (migration ${newer.number} ${newer.name} is unknown here): start that version`,
    );
  }

  const applied = new Set(rows.map((row) => row.number));
  const next = migrations.find(({ number }) => !applied.has(number));
  if (!next) return undefined;
  await tx.script(next.script);
  await tx.query(sql`INSERT INTO migrations (number, name, applied_at) VALUES (${next.number}, ${next.name}, ${now})`);
  return next.name;
}
