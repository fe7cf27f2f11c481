import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import type { Database } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { systemWorkTimer } from "../../platform/event-loop.ts";
import { Problem } from "../../platform/problem.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { claimFiles, insertDeployment } from "./deployments.store.ts";
import { deleteEarlierDeployments, deleteProject, insertProject, switchDeployment } from "./projects.store.ts";

const accountId = 1;

/** A project with ready deployments of so many files; the first is served. */
async function openScene(t: TestContext, files: number[]) {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const projectId = await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${accountId}, 'Shop', 'pro', 0)`);
    await setStorageLimits(tx, accountId, { records: 0, publishedBytes: 1_000_000 });
    return (await insertProject(tx, accountId, { name: "Rex", slug: "rex" }, 0)).id;
  });
  const costs: number[] = [];
  for (const [number, count] of files.entries()) {
    const claimed = Array.from({ length: count }, (_, i) => ({ hash: `${number} ${i}`, size: 1 }));
    const { id } = await db.write((tx) => insertDeployment(tx, accountId, projectId, `upload-${number}`, 0));
    const before = systemWorkTimer.cpu();
    await db.write((tx) => claimFiles(tx, { accountId, id }, claimed));
    costs.push(systemWorkTimer.cpu() - before);
    await db.write(async (tx) => {
      await tx.query(sql`UPDATE deployments SET status = 'ready', files = ${count} WHERE id = ${id}`);
      if (number === 0) await switchDeployment(tx, accountId, projectId, id);
    });
  }
  return { db, projectId, costs };
}

async function filesOf(db: Database): Promise<number[]> {
  const rows = await db.query<{ files: number }>(sql`SELECT files FROM deployments ORDER BY id`);
  return rows.map(({ files }) => files);
}

async function publishedBytes(db: Database): Promise<number> {
  const [row] = await db.query<{ used: number }>(sql`SELECT SUM(used) AS used FROM storage_quotas WHERE kind = 'published_bytes'`);
  return Number(row?.used);
}

test("a large project loses its earlier deployments in short transactions, then the rest, and all its bytes are free", async (t) => {
  const { db, projectId } = await openScene(t, [500, 900, 1_200, 900, 100]);
  const lefts: number[][] = [];
  await deleteEarlierDeployments(db, { accountId, projectId }, async () => void lefts.push(await filesOf(db)));
  assert.deepEqual(
    [lefts, await filesOf(db), await publishedBytes(db)],
    [
      [
        [500, 900, 1_200, 900, 100],
        [500, 900, 100],
      ],
      [500, 900, 100],
      1_500,
    ],
  );
  await db.write((tx) => deleteProject(tx, accountId, projectId, 0));
  assert.deepEqual([await filesOf(db), await publishedBytes(db)], [[], 0]);
});

test("if the project may not be deleted, its deployments stay", async (t) => {
  const { db, projectId } = await openScene(t, [1_500, 1_500]);
  const refused = new Problem("precondition_failed", "It changed.");
  await assert.rejects(
    deleteEarlierDeployments(db, { accountId, projectId }, () => Promise.reject(refused)),
    refused,
  );
  assert.deepEqual(await filesOf(db), [1_500, 1_500]);
});

test("a deployment costs no more if the account has many files already", async (t) => {
  const { costs } = await openScene(t, Array<number>(8).fill(1_000));
  const [first, last] = [Math.min(...costs.slice(0, 2)), Math.min(...costs.slice(-2))];
  assert.ok(last < 3 * first, `${last} and ${first} ms of the processor`);
});
