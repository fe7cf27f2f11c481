import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import sql from "sql-template-tag";
import { unfinishedFile, unfinishedTable } from "../backup/manifest.ts";
import type { Database } from "../platform/db/database.ts";
import type { Settings } from "./settings.ts";

/**
 * Prevents a start that would create an empty store beside a full one, or serve a copy that `petstore move` has not finished.
 *
 * @throws Error with one line that says what to do
 */
export async function requireMoved(
  db: Pick<Database, "engine" | "query">,
  { dataDir, allowEmptyDatabase = false }: Pick<Settings, "dataDir"> & Partial<Pick<Settings, "allowEmptyDatabase">>,
): Promise<void> {
  if (db.engine === "sqlite") {
    if (existsSync(join(dataDir, unfinishedFile)))
      throw new Error(`DATA_DIR=${dataDir} has an unfinished copy: run \`petstore move\` again, or delete the folder`);
    return;
  }
  const [has] = await db.query<{ unfinished: boolean; accounts: boolean }>(sql`
    SELECT to_regclass(${unfinishedTable}) IS NOT NULL AS unfinished, to_regclass('accounts') IS NOT NULL AS accounts`);
  if (has?.unfinished) throw new Error("the database of DATABASE_URL has an unfinished copy: run `petstore move` again, which starts over");
  if (allowEmptyDatabase) return;
  const isEmpty = !has?.accounts || (await db.query(sql`SELECT 1 FROM accounts LIMIT 1`)).length === 0;
  const file = join(dataDir, "petstore.db");
  if (!isEmpty || !hasAccount(file)) return;
  throw new Error(
    `the database of DATABASE_URL has no account, and ${file} has one: copy it with \`petstore move --to postgres://…\` while DATABASE_URL ` +
      "is not set, or set ALLOW_EMPTY_DATABASE=on to begin with an empty store",
  );
}

function hasAccount(file: string): boolean {
  if (!existsSync(file)) return false;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'accounts'").get();
    return table !== undefined && db.prepare("SELECT 1 FROM accounts LIMIT 1").get() !== undefined;
  } finally {
    db.close();
  }
}
