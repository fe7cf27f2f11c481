import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { runCommand, type Ended } from "./commands.ts";
import { newDatabase } from "./postgres.ts";
import { unpackRelease, type Release } from "./release.ts";

export async function emptyDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await newDatabase();
  t.after(drop);
  return url;
}

/** A data folder with a shop in it, at the schema of this version. */
export async function openSource(t: TestContext): Promise<Release> {
  const release = unpackRelease(t);
  assert.equal((await runCommand(["migrate"], { DATA_DIR: release.dataDir })).code, 0);
  for (const name of readdirSync(release.dataDir).filter((one) => one.startsWith("before-"))) rmSync(join(release.dataDir, name));
  return release;
}

export const keyIn = (dataDir: string): string => readFileSync(join(dataDir, "secrets.key"), "utf8").trim();
export const moveTo = (to: string, env: Record<string, string>): Promise<Ended> => runCommand(["move", "--to", to], env);

/** Every row of an embedded database, except those of its processes and migrations. */
export function rowsIn(dataDir: string): Record<string, string> {
  const db = new DatabaseSync(join(dataDir, "petstore.db"), { readOnly: true });
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  const kept = names.map(({ name }) => String(name)).filter((name) => !["migrations", "nodes", "changes"].includes(name));
  const order = (name: string): string =>
    db
      .prepare("SELECT name FROM pragma_table_info(?)")
      .all(name)
      .map((row) => `"${String(row["name"])}"`)
      .toSorted()
      .join(", ");
  const rows = kept.map((name) => [name, JSON.stringify(db.prepare(`SELECT ${order(name)} FROM "${name}" ORDER BY ${order(name)}`).all())]);
  db.close();
  return Object.fromEntries(rows) as Record<string, string>;
}
