import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { cpuMicros } from "../../../test/support/cpu.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import type { ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim } from "../../platform/nodes/nodes.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { claimDeployments, claimFiles, failDeployment, insertDeployment, type WaitingDeployment } from "./deployments.store.ts";
import { insertProject } from "./projects.store.ts";

const first: RowClaim = { lease: { until: 1, leaseId: "a" }, now: 0, isFree: (until) => sql`${until} IS NULL` };
const none: ClaimShare["running"] = new Map();

/** A database in which accounts queue deployments, each for its own project. */
async function openScene(t: TestContext) {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  let last = 0;
  const upload = async (accountId: number, count: number): Promise<void> =>
    db.write(async (tx) => {
      await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${accountId}, 'Shop', 'pro', 0) ON CONFLICT DO NOTHING`);
      await setStorageLimits(tx, accountId, { records: 0, publishedBytes: 1_000_000 });
      for (let i = 0; i < count; i++) {
        const { id } = await insertProject(tx, accountId, { name: "Rex", slug: `rex-${++last}` }, 0);
        await insertDeployment(tx, accountId, id, `upload-${last}`, 0);
      }
    });
  const claim = (share: ClaimShare) => db.write((tx) => claimDeployments(tx, share, first));
  const end = (one: WaitingDeployment) => db.write((tx) => failDeployment(tx, one, "it was a test"));
  /** Returns the accounts whose turn it is, one deployment at a time. */
  async function turns(count: number): Promise<number[]> {
    const accounts: number[] = [];
    for (let i = 0; i < count; i++) {
      const [one] = await claim({ count: 1, maxPerAccount: 1, running: none });
      if (!one) break;
      accounts.push(one.accountId);
      await end(one);
    }
    return accounts;
  }
  return { db, upload, claim, turns };
}

test("accounts take turns, however many deployments one has queued before the others", async (t) => {
  const { upload, turns } = await openScene(t);
  await upload(1, 20);
  await upload(2, 3);
  await upload(3, 1);
  assert.deepEqual(await turns(8), [1, 2, 3, 1, 2, 1, 2, 1]);
});

test("an account that keeps uploading takes no turn from those that wait", async (t) => {
  const { upload, turns } = await openScene(t);
  await upload(1, 3);
  await upload(2, 3);
  const order: number[] = [];
  for (let i = 0; i < 8; i++) {
    await upload(3, 1);
    order.push(...(await turns(1)));
  }
  assert.deepEqual(order, [1, 2, 3, 1, 2, 3, 1, 2]);
});

test("no account gets more than its share of one claim, including the deployments that run already", async (t) => {
  const { upload, claim } = await openScene(t);
  await upload(1, 20);
  assert.deepEqual(
    (await claim({ count: 4, maxPerAccount: 2, running: none })).map(({ accountId }) => accountId),
    [1, 1],
  );
  await upload(2, 20);
  assert.deepEqual(
    (await claim({ count: 4, maxPerAccount: 2, running: new Map([[1, 2]]) })).map(({ accountId }) => accountId),
    [2, 2],
  );
});

test("what the files of a deployment cost does not grow with those that its account has already", async (t) => {
  const { db, upload } = await openScene(t);
  await upload(1, 2);
  await upload(2, 2);
  const rows = await db.query<{ account_id: number; id: number }>(sql`SELECT account_id, id FROM deployments ORDER BY id`);
  const files = Array.from({ length: 500 }, (_, i) => ({ hash: `${i}`, size: 1 }));
  const cost = async (accountId: number, others: number) => {
    const [old, own] = rows.filter((row) => row.account_id === accountId).map(({ id }) => id);
    await db.write((tx) =>
      tx.query(sql`
        INSERT INTO files (account_id, deployment_id, hash, bytes)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${others})
        SELECT ${accountId}, ${old}, 'other ' || n, 1 FROM numbers`),
    );
    return cpuMicros(() => db.write((tx) => claimFiles(tx, { accountId, id: own! }, files)));
  };
  const [few, many] = [await cost(1, 500), await cost(2, 20_000)];
  assert.ok(many < 4 * few, `${few} µs with 500 other files, ${many} µs with 20,000`);
});
