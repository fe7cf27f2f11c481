import assert from "node:assert/strict";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import sql, { type Sql } from "sql-template-tag";
import { packed, petstore, site } from "../../../test/support/archives.ts";
import { openEmptyOn } from "../../../test/support/databases.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { openBounds } from "../../platform/bounds.ts";
import type { Database } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { noOtherNodes, openRowLeases } from "../../platform/nodes/nodes.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { openDeploymentWorker } from "./deployment-worker.ts";
import { claimDeployments, insertDeployment, noteUnusedFiles } from "./deployments.store.ts";
import { insertProject } from "./projects.store.ts";
import { localContent } from "./shared-content.ts";

const engines: Database["engine"][] = ["sqlite", "postgres"];
const accountId = 1;
type Row = { status: string; error: string | null; attempts: number };

/** An upload that waits, and the process that may unpack it, which always has a lease of its own. */
async function openScene(t: TestContext, engine: Database["engine"]) {
  const db = await openEmptyOn(engine, t);
  await migrate(db, 0);
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${accountId}, 'Shop', 'pro', 0)`);
    await setStorageLimits(tx, accountId, { records: 0, publishedBytes: 1_000_000 });
  });
  const upload = (slug: string) =>
    db.write(async (tx) => {
      const { id } = await insertProject(tx, accountId, { name: slug, slug }, 0);
      await insertDeployment(tx, accountId, id, slug, 0);
    });
  await upload("rex");
  const bounds = openBounds();
  /** The lease of the process that the scene plays now. Another process, if there is one, has the lease `elsewhere`. */
  let leaseId = "first";
  const node = {
    heartbeat: async () => undefined,
    leaseId: () => leaseId,
    hasEnded: (column: Sql) => sql`${column} NOT IN (${leaseId}, 'elsewhere')`,
  };
  const leases = openRowLeases(node, () => 0);
  const content = localContent(db, join(temporaryFolder(t), "content"), bounds);
  const errors: unknown[] = [];
  let reads = 0;
  const open = (read: () => Readable, turnMs?: number, remove = async () => undefined) => {
    const uploads = { receive: () => assert.fail(), remove, read: () => (reads++, read()) };
    const onError = (error: unknown): void => void errors.push(error);
    const worker = openDeploymentWorker(
      { db, clock: () => 0, announcer: noOtherNodes, leases, bounds, onError },
      { uploads, content, kept: 10, ...(turnMs !== undefined && { turnMs }), domains: async () => async () => undefined },
    );
    t.after(() => worker.stop());
    return worker;
  };
  const row = async (): Promise<Row> => (await db.query<Row>(sql`SELECT status, error, attempts FROM deployments`))[0]!;
  return {
    db,
    upload,
    open,
    row,
    errors,
    content,
    reads: () => reads,
    /** Plays a process with this lease that begins to unpack, and then the next one. */
    claimAs: async (id: string) => {
      leaseId = id;
      const claim = await leases.begin(1_000);
      const share = { count: 1, maxPerAccount: 1, running: new Map() };
      assert.equal((await db.write((tx) => claimDeployments(tx, share, claim!))).length, 1);
      leaseId = `after ${id}`;
    },
    nextLease: () => void (leaseId += "+"),
  };
}

/** Never ends and never has a byte. */
const silent = (onRead: () => void = () => undefined): Readable => new Readable({ read: onRead });

for (const engine of engines) {
  test(`an upload that was being unpacked when the process ended is unpacked by the next one, but not after the second time: ${engine}`, async (t) => {
    const archive = await packed([petstore, site]);
    const { open, row, reads, errors, claimAs } = await openScene(t, engine);
    await claimAs("ended");
    await claimAs("ended too");
    await open(() => Readable.from([archive])).idle();
    assert.equal(reads(), 0);
    const { status, error } = await row();
    assert.equal(status, "failed");
    assert.match(error ?? "", /^The service ended twice while it unpacked this upload.* Upload it again\./);
    assert.match(String(errors[0]), /ended twice/, "the operator finds it in the log");
    const other = await openScene(t, engine);
    await other.claimAs("ended");
    await other.open(() => Readable.from([archive])).idle();
    assert.equal((await other.row()).status, "ready");
  });

  test(`a stop while an upload is unpacked ends at once, is no attempt, and the next process begins at once: ${engine}`, async (t) => {
    const archive = await packed([petstore, site]);
    const { open, row, reads, nextLease } = await openScene(t, engine);
    for (let stops = 0; stops < 3; stops++) {
      const { promise: isReading, resolve } = Promise.withResolvers<void>();
      const worker = open(() => silent(resolve));
      worker.wake();
      await isReading;
      assert.equal((await row()).attempts, 1);
      await worker.stop();
      assert.deepEqual(await row(), { status: "queued", error: null, attempts: 0 });
      nextLease();
    }
    await open(() => Readable.from([archive])).idle();
    assert.deepEqual([(await row()).status, reads()], ["ready", 4]);
  });

  test(`a process that lost its lease and goes on gives its attempt back, and does not touch that of the next one: ${engine}`, async (t) => {
    const archive = await packed([petstore, site]);
    const { open, row, nextLease, claimAs } = await openScene(t, engine);
    const { promise: isReading, resolve } = Promise.withResolvers<void>();
    const late = silent(resolve);
    const first = open(() => late);
    first.wake();
    await isReading;
    nextLease();
    await claimAs("elsewhere");
    assert.equal((await row()).attempts, 2);
    late.push(archive);
    late.push(null);
    await first.idle();
    assert.deepEqual(await row(), { status: "queued", error: null, attempts: 1 });
  });
}

test("an upload that takes longer than a turn fails with a reason, and the next one is unpacked", async (t) => {
  const { open, row, errors } = await openScene(t, "sqlite");
  await open(() => silent(), 20).idle();
  const { status, error } = await row();
  assert.equal(status, "failed");
  assert.match(error ?? "", /took longer than 0\.02 seconds to unpack\. Upload it again/);
  assert.deepEqual(errors, []);
});

test("an account's next upload is claimed when the one before has given its place back, and not before", async (t) => {
  const archive = await packed([petstore, site]);
  const { open, upload, db, errors } = await openScene(t, "sqlite");
  for (const slug of ["mia", "tom", "ben"]) await upload(slug);
  const turn = () => new Promise((resolve) => void setImmediate(resolve));
  const worker = open(
    () => Readable.from([archive]),
    undefined,
    async () => {
      worker.wake(); // as a new upload does
      for (let turns = 0; turns < 20; turns++) await turn();
    },
  );
  await worker.idle();
  const rows = await db.query<Row>(sql`SELECT status FROM deployments`);
  assert.deepEqual([rows.map(({ status }) => status), errors], [Array(4).fill("ready"), []]);
});

test("an upload is unpacked while unused files are being removed, however many there are", async (t) => {
  const archive = await packed([petstore, site]);
  const { open, row, db, content } = await openScene(t, "sqlite");
  await db.write((tx) => noteUnusedFiles(tx, ["aa1"]));
  const { promise: isRemoving, resolve } = Promise.withResolvers<void>();
  const removed = Promise.withResolvers<number>();
  content.remove = () => {
    resolve();
    return removed.promise;
  };
  const worker = open(() => Readable.from([archive]));
  worker.wake();
  await isRemoving;
  while ((await row()).status === "queued") await new Promise((turn) => void setImmediate(turn));
  assert.equal((await row()).status, "ready");
  removed.resolve(0);
  await worker.stop();
});
