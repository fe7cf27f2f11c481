import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { deleteOldUsage, recordUse, type LimitSubjects } from "./acme-usage.store.ts";

const dayMs = 86_400_000;
const now = 100 * dayMs;
const shop: LimitSubjects = { hostname: "www.shop.test", registrableDomain: "shop.test", directoryUrl: "https://ca.test/dir" };

test("all uses that no limit counts any more are deleted, and only those", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  await db.write(async (tx) => {
    for (let i = 0; i < 2_500; i++) await recordUse(tx, "orders", shop, now - 32 * dayMs);
    await recordUse(tx, "orders", shop, now - 30 * dayMs);
  });
  await deleteOldUsage(db, now);
  assert.deepEqual(
    (await db.query<{ at: number }>(sql`SELECT at FROM acme_usage`)).map(({ at }) => at),
    [now - 30 * dayMs],
  );
});
