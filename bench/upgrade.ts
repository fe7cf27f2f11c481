import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databasePath, openStorage } from "../src/app/storage.ts";
import { insertAccount } from "../src/callers/accounts/accounts.store.ts";
import { migrate, migrationsFor } from "../src/platform/db/migrate.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { atMost, type Figure } from "./figures.ts";

/** The last migration before the one that stores pets, stock and orders in the order of their keys. */
const before = 57;
const whole = 1_000_000;
const quick = 20_000;
const secondsMax = 120;

/** Measures the upgrade of a large shop from the schema in which rows were in no order, with the copy that is made first. */
export async function* measureUpgrade({ isQuick }: { isQuick: boolean }): AsyncGenerator<Figure> {
  const dataDir = mkdtempSync(join(tmpdir(), "upgrade-"));
  const rows = isQuick ? quick : whole;
  try {
    await fillBefore(dataDir, rows);
    const begunAt = performance.now();
    const storage = await openStorage({ dataDir, databaseUrl: "" }, "bench", 0);
    await storage.ready;
    const seconds = (performance.now() - begunAt) / 1_000;
    const { migrated, copy } = storage.upgrade;
    await storage.close();
    if (migrated.length === 0 || copy === undefined) throw new Error("the shop was not upgraded");
    const [count, events] = [rows, 3 * rows].map((many) => many.toLocaleString("en"));
    const what = `upgrade of a shop of ${count} animals, ${count} orders and ${events} events, with the copy before it`;
    yield atMost("upgrade", what, seconds, secondsMax, "s");
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

/** Makes a shop with the schema before. */
async function fillBefore(dataDir: string, rows: number): Promise<void> {
  const file = databasePath(dataDir);
  const db = openSqlite(file);
  const older = migrationsFor("sqlite").filter(({ number }) => number <= before);
  await migrate(db, Date.now(), older);
  const { id } = await db.write((tx) => insertAccount(tx, "Bench", { plan: "enterprise", perMinute: 1_000, perDay: 100_000 }, Date.now()));
  await db.close();
  const database = new DatabaseSync(file);
  const numbers = (last: number): string => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
  const text = `printf('{"actor":{"id":1,"type":"key"},"at":"2026-01-01T00:00:00Z","data":{"complete":false,"id":%d,"petId":%d,"quantity":1},' ||
    '"id":"evt_%032x","position":%d,"previous":{},"requestId":"bench-%d","resource":{"id":%d,"type":"order"},"type":"order.created"}', i, i, i, i, i, i)`;
  database.exec(`
    PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576; BEGIN;
    INSERT INTO categories (account_id, id, name, name_key, version) VALUES (${id}, 1, 'Dogs', 'dogs', 1);
    ${numbers(rows)} INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
      SELECT ${id}, i, 'Animal ' || i, 'animal ' || i, 1, 'available', 1 FROM n;
    ${numbers(rows)} INSERT INTO inventory (account_id, pet_id, quantity, held, status, version) SELECT ${id}, i, 10, 1, 'available', 1 FROM n;
    ${numbers(rows)} INSERT INTO orders (account_id, id, pet_id, quantity, held, ship_date, complete, version)
      SELECT ${id}, i, i, 1, 1, NULL, FALSE, 1 FROM n;
    ${numbers(3 * rows)} INSERT INTO events (account_id, position, type, at, resource, actor, request_id, version, text, hash)
      SELECT ${id}, i, 'order.created', 1767225600000 + i, 'order/' || i, 'key/1', 'bench-' || i, 1, ${text}, lower(hex(randomblob(32))) FROM n;
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
}
