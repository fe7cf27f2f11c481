import assert from "node:assert/strict";
import { test } from "node:test";
import sql from "sql-template-tag";
import { openEmptyOn } from "../../../test/support/databases.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { deleteOldFreedSlugs, deleteProject, insertProject } from "./projects.store.ts";

const dayMs = 86_400_000;
const now = 100 * dayMs;

for (const engine of ["sqlite", "postgres"] as const) {
  test(`freed slugs are deleted after 30 days, and an account has at most 1,000, on ${engine}`, async (t) => {
    const db = await openEmptyOn(engine, t);
    await migrate(db, 0);
    const free = (slug: string, at: number) =>
      db.write(async (tx) => {
        const { id } = await insertProject(tx, 1, { name: slug, slug }, at);
        await deleteProject(tx, 1, id, at);
      });
    const kept = async () =>
      (await db.query<{ slug: string }>(sql`SELECT slug FROM freed_slugs ORDER BY freed_at, slug`)).map(({ slug }) => slug);
    await db.write((tx) => tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`));
    await free("old", now - 30 * dayMs);
    await free("new", now - 30 * dayMs + 1);
    await deleteOldFreedSlugs(db, now);
    assert.deepEqual(await kept(), ["new"]);
    await db.write(async (tx) => {
      for (let n = 0; n < 999; n += 1) {
        await tx.query(sql`INSERT INTO freed_slugs (slug, account_id, freed_at) VALUES (${`many-${n}`}, 1, ${now})`);
      }
    });
    await free("last", now);
    assert.equal((await kept()).length, 1_000);
    assert.ok(!(await kept()).includes("new"), "the slug that was freed first is deleted");
  });
}
