import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { openBounds } from "../../platform/bounds.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { openWorkerInTurns, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim } from "../../platform/nodes/nodes.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { claimCertificates } from "../certificates/certificate-state.store.ts";
import { insertProject } from "../projects/projects.store.ts";
import { claimChecks } from "./checks.ts";
import { insertDomain, type StoredDomain } from "./domains.store.ts";

const claims: RowClaim = { lease: { until: 1, leaseId: "a" }, now: 10, isFree: (until) => sql`${until} IS NULL` };
type Claim = (tx: Transaction, share: ClaimShare, by: RowClaim) => Promise<StoredDomain[]>;

/** Accounts with names whose checks and certificates are due, those of the first account first; and a worker whose work ends only when the test says so. */
async function openScene(t: TestContext, queue: "checks" | "certificates", claim: Claim) {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  await migrate(db, 0);
  let added = 0;
  const add = (accountId: number, count: number): Promise<void> =>
    db.write(async (tx) => {
      await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${accountId}, 'Shop', 'pro', 0)`);
      await setStorageLimits(tx, accountId, { records: 0, publishedBytes: 0 });
      const { id: projectId } = await insertProject(tx, accountId, { name: "Rex", slug: `rex-${accountId}` }, 0);
      for (let i = 0; i < count; i++) {
        const hostname = `www.name-${++added}.test`;
        await insertDomain(
          tx,
          { accountId, projectId },
          { hostname, registrableDomain: `name-${added}.test`, kind: "subdomain" },
          false,
          0,
        );
      }
      await tx.query(
        sql`UPDATE domains SET certificate_due_at = ${accountId}, next_check_at = ${accountId} WHERE account_id = ${accountId}`,
      );
    });
  const turns = openBounds().queue<number>(queue);
  const running: { accountId: number; end: () => void }[] = [];
  const seen = { emptyLooks: 0 };
  const worker = openWorkerInTurns<StoredDomain>({
    turns,
    claim: async (share) => {
      const claimed = await db.write((tx) => claim(tx, share, claims));
      seen.emptyLooks = claimed.length === 0 ? seen.emptyLooks + 1 : 0;
      return claimed;
    },
    run: ({ accountId }) =>
      new Promise((resolve) => {
        const one = { accountId, end: () => resolve(void running.splice(running.indexOf(one), 1)) };
        running.push(one);
      }),
    everyMs: 5,
    onError: (error) => assert.fail(error as Error),
  });
  t.after(async () => {
    const stopped = worker.stop();
    while (running.length > 0) running[0]?.end();
    await stopped;
    await db.close(); // not before: the worker looks for rows until it has stopped
  });
  const of = (accountId: number): number => running.filter((one) => one.accountId === accountId).length;
  /** Resolves when the worker has no place left, or has looked twice and found no row for one. */
  const settled = async (): Promise<void> => {
    seen.emptyLooks = 0;
    while (seen.emptyLooks < 2 && running.length < turns.max) await setTimeout(1);
  };
  return { add, turns, running, of, settled };
}

for (const [queue, claim] of [
  ["checks", claimChecks],
  ["certificates", (...[tx, share, by]: Parameters<Claim>) => claimCertificates(tx, share, by, null)],
] as const) {
  test(`${queue}: an account with many due names takes half of the places, and others find one at once`, async (t) => {
    const { add, turns, of, settled } = await openScene(t, queue, claim);
    await add(1, 90);
    await settled();
    assert.equal(of(1), turns.max / 2);
    await add(2, 3);
    await add(3, 1);
    await settled();
    assert.deepEqual([of(1), of(2), of(3)], [turns.max / 2, 3, 1]);
  });

  test(`${queue}: a place that becomes free goes to an account that holds none`, async (t) => {
    const { add, turns, running, of, settled } = await openScene(t, queue, claim);
    for (const accountId of [1, 2, 3]) {
      await add(accountId, 90);
      await settled();
    }
    assert.deepEqual([running.length, of(3) > 0], [turns.max, true]);
    await add(4, 9);
    running.find(({ accountId }) => accountId === 1)?.end();
    await settled();
    assert.equal(of(4), 1);
  });
}
