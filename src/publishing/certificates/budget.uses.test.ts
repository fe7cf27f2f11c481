import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { findHold } from "../domains/checks.ts";
import { letsEncryptBudget, limitReached, deleteOldUsage, listUses, recordUse, type LimitSubjects } from "./budget.ts";
import { saveHold } from "./certificates.store.ts";

const dayMs = 86_400_000;
const now = 100 * dayMs;
const shop: LimitSubjects = { hostname: "www.shop.test", registrableDomain: "shop.test", directoryUrl: "https://ca.test/dir" };

test("limits and holds of one authority do not delay an order at another; those of an earlier release, without an authority, do", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const other = { ...shop, directoryUrl: "https://other.test/dir" };
  const reached = async (subjects: LimitSubjects) =>
    limitReached(letsEncryptBudget, await listUses(db, letsEncryptBudget, subjects, now), "new", now)?.limit ?? null;
  const holds = () => Promise.all([shop, other].map(({ directoryUrl }) => findHold(db, shop.hostname, directoryUrl, now)));
  await db.write(async (tx) => {
    for (let i = 0; i < 5; i++) await recordUse(tx, "failures", shop, now - 1);
    await saveHold(tx, shop.hostname, shop.directoryUrl, now + dayMs);
  });
  assert.deepEqual([await reached(shop), await reached(other), await holds()], ["failures", null, [now + dayMs, null]]);
  await db.write(async (tx) => {
    await tx.query(sql`UPDATE acme_usage SET directory_url = NULL`);
    await tx.query(sql`UPDATE certificate_holds SET directory_url = NULL`);
  });
  assert.deepEqual([await reached(shop), await reached(other), await holds()], ["failures", "failures", [now + dayMs, now + dayMs]]);
});

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
