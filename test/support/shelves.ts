import { join } from "node:path";
import type { TestContext } from "node:test";
import sql from "sql-template-tag";
import type { Bounds } from "../../src/platform/bounds.ts";
import type { Database, Transaction } from "../../src/platform/db/database.ts";
import { openPostgres } from "../../src/platform/db/postgres.ts";
import { openSqlite } from "../../src/platform/db/sqlite.ts";
import { insertion, lockingStatement, statement } from "../../src/platform/db/statement.ts";
import type { WorkTimer } from "../../src/platform/event-loop.ts";
import { temporaryFolder } from "./folder.ts";
import { newDatabase } from "./postgres.ts";

/** What tests replace of an engine: its queues, and the clocks that measure bodies. */
export type EngineOptions = { bounds?: Pick<Bounds, "queue">; timer?: WorkTimer };

/** A place in which a database can be opened repeatedly; it is removed when the test ends. */
export type Place = { open(options?: EngineOptions): Promise<Database> };

/** Every engine of the storage port: a line here makes a new engine pass the same tests. */
export const engines: Record<Database["engine"], (t: TestContext) => Promise<Place>> = {
  sqlite: async (t) => {
    const file = join(temporaryFolder(t), "test.db");
    return { open: async (options) => openSqlite(file, options) };
  },
  postgres: async (t) => {
    const { url, drop } = await newDatabase();
    t.after(drop);
    return { open: async (options) => openPostgres(url, { onError: () => undefined, ...options }) };
  },
};

export const schemaFor = (engine: string) => `
  CREATE TABLE shelves (id BIGINT PRIMARY KEY, label TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} NOT NULL UNIQUE, size BIGINT NOT NULL CHECK (size >= 0));
  CREATE TABLE boxes (id BIGINT PRIMARY KEY, shelf_id BIGINT NOT NULL REFERENCES shelves (id));`;

export const shelvesInOrder = insertion("shelves", "shelf", { label: "TEXT", size: "BIGINT" });
export const insertShelf = statement("INSERT INTO shelves (id, label, size) VALUES (?, ?, ?)");
export const insertBox = statement("INSERT INTO boxes (id, shelf_id) VALUES (?, ?)");
export const growShelves = statement("UPDATE shelves SET size = size + ? WHERE size >= ?");
export const shelfById = statement<[id: number, label: string, size: number]>("SELECT id, label, size FROM shelves WHERE id = ?");
export const lockedShelf = lockingStatement<[size: number]>("SELECT size FROM shelves WHERE id = ?");

/** A new database with two tables, closed when the test ends. */
export async function openShelves(
  t: TestContext,
  engine: Database["engine"],
  options?: EngineOptions,
): Promise<{ db: Database; place: Place }> {
  const place = await engines[engine](t);
  const db = await place.open(options);
  t.after(() => db.close());
  await db.write((tx) => tx.script(schemaFor(engine)));
  return { db, place };
}

export const addShelf = (tx: Transaction, id: number, label = `shelf ${id}`, size = 1) =>
  tx.query(sql`INSERT INTO shelves (id, label, size) VALUES (${id}, ${label}, ${size})`);

export const shelves = async (db: Database) =>
  (await db.query<{ id: number }>(sql`SELECT id FROM shelves ORDER BY id`)).map(({ id }) => id);
