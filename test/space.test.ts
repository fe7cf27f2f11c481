import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import sql from "sql-template-tag";
import { expireUsage } from "../src/callers/usage/usage.store.ts";
import { giveBackFreeSpace } from "../src/platform/db/batches.ts";
import { forgetOldAnswers, keepAnswer } from "../src/platform/http/idempotency.store.ts";
import { petstore, runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openPlatform } from "./support/platform.ts";
import { startService } from "./support/service.ts";

const mebibyte = 1_048_576;
const dayMs = 86_400_000;

test("after animals are deleted the file of the database gives their space back, in steps that delay no write", async (t) => {
  const service = await startService();
  t.after(() => service.close());
  const file = join(service.dataDir, "petstore.db");
  const { accountId, db } = service;
  await db.write(async (tx) => {
    await tx.query(sql`
      INSERT INTO categories (account_id, id, name, name_key, version) VALUES (${accountId}, 1, 'Cats', 'cats', 1)`);
    await tx.query(sql`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
      SELECT ${accountId}, i, 'Cat ' || i || hex(randomblob(90)), 'cat ' || i || hex(randomblob(90)), 1, 'available', 1 FROM n`);
  });
  const grown = await settled();
  await db.write((tx) => tx.query(sql`DELETE FROM pets WHERE account_id = ${accountId} AND id % 10 <> 0`));
  const free = await pragma("freelist_count");
  assert.ok(free > 4_000, `${free} free pages`);

  let slowestMs = 0;
  let writes = 0;
  for (let round = 0; round < 200 && (await pragma("freelist_count")) > 1_024; round++) {
    const before = performance.now();
    const [, status] = await Promise.all([giveBackFreeSpace(db), order()]);
    assert.equal(status, 201);
    slowestMs = Math.max(slowestMs, performance.now() - before);
    writes += 1;
  }
  const shrunk = await settled();
  t.diagnostic(
    `${grown / mebibyte} MiB, then ${shrunk / mebibyte} MiB; ${writes} orders beside it, the slowest round ${Math.round(slowestMs)} ms`,
  );
  assert.ok(shrunk < grown / 2, `${grown} bytes, then ${shrunk}`);
  assert.ok((await pragma("freelist_count")) <= 1_024 + 1);
  assert.ok(statSync(`${file}-wal`).size <= 20 * mebibyte, "the log is cut to its limit");
  const [row] = await db.query<{ check: string }>(sql`SELECT integrity_check AS "check" FROM pragma_integrity_check`);
  assert.equal(row!.check, "ok");
  assert.equal((await service.ask("GET", "/pets/20000")).status, 200);

  async function order(): Promise<number> {
    return (await service.ask("POST", "/store/orders", { body: { quantity: 1 } })).status;
  }
  async function pragma(name: string): Promise<number> {
    const [found] = await db.query(name === "freelist_count" ? sql`PRAGMA freelist_count` : sql`PRAGMA page_count`);
    return Number(Object.values(found!)[0]);
  }
  /** The length of the file once the log is copied into it. */
  async function settled(): Promise<number> {
    for (let n = 0; n < 3; n++) await order();
    return statSync(file).size;
  }
});

test("compact converts a database of an earlier release, which then gives its space back; it refuses while the service runs", async (t) => {
  const dataDir = temporaryFolder(t);
  const file = join(dataDir, "petstore.db");
  const earlier = new DatabaseSync(file);
  earlier.exec("PRAGMA journal_mode = WAL"); // as release 1.1.0 made it
  earlier.close();
  const env = { DATA_DIR: dataDir };
  assert.equal((await runCommand(["migrate"], env)).code, 0);
  fill(file);
  const modeOf = (): unknown => {
    const connection = new DatabaseSync(file);
    const mode = connection.prepare("PRAGMA auto_vacuum").get()?.["auto_vacuum"];
    connection.close();
    return mode;
  };
  assert.equal(modeOf(), 0);
  const { code, out } = await runCommand(["compact", "--json"], env);
  const { before, after } = JSON.parse(out) as { before: number; after: number };
  assert.equal(code, 0);
  assert.ok(after < before / 2, out);
  assert.deepEqual([modeOf(), statSync(file).size], [2, after]);

  const absent = await runCommand(["compact"], { DATA_DIR: temporaryFolder(t) });
  assert.deepEqual([absent.code, absent.error.startsWith("petstore: There is no pet store in ")], [3, true]);
  const away = await runCommand(["compact"], {
    DATABASE_URL: "postgres://127.0.0.1:9/x",
    SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  });
  assert.match(away.error, /^petstore: DATABASE_URL is set: the data is in PostgreSQL, whose autovacuum/);
  const service = await startService({ dataDir });
  t.after(() => service.close());
  const busy = await petstore(service, "compact");
  assert.deepEqual([busy.code, busy.error.split("\n").length], [1, 2]);
});

test("usage, stored answers and deployments are kept as long as their settings say, and no setting goes below the promised time", async (t) => {
  for (const [name, value, allowed] of [
    ["KEEP_USAGE_DAYS", "0", "days from 1 to 3650"],
    ["KEEP_IDEMPOTENCY_HOURS", "23", "hours from 24 to 720"],
    ["KEEP_DEPLOYMENTS", "1", "a number from 2 to 1000"],
  ] as const) {
    const { code, error } = await runCommand(["serve"], { [name]: value });
    assert.deepEqual([code, error], [1, `petstore: ${name}="${value}" is not allowed: it must be ${allowed}\n`]);
  }
  const platform = await openPlatform({ env: { KEEP_DEPLOYMENTS: "3", KEEP_IDEMPOTENCY_HOURS: "48" } });
  t.after(() => platform.close());
  const { service, time } = platform;

  const project = await platform.project("kept", { "index.html": "0" });
  for (let n = 1; n <= 4; n++) await platform.deploy(project, { "index.html": String(n) });
  assert.equal((await service.ask<unknown[]>("GET", `/projects/${project}/deployments`)).body.length, 3);

  const send = () => service.ask("POST", "/store/orders", { body: { quantity: 1 }, headers: { "idempotency-key": "once" } });
  await send();
  time.now += 47 * 3_600_000;
  assert.equal((await send()).headers.get("idempotent-replayed"), "true");
  time.now += 2 * 3_600_000;
  assert.equal((await send()).headers.get("idempotent-replayed"), null);

  const { db, accountId } = service;
  const now = time.now;
  const answer = { bodyHash: "", status: 204, headers: {}, body: null };
  await db.write((tx) => keepAnswer(tx, { accountId, target: "POST /v1/pets", key: "old" }, answer, now - 2 * dayMs));
  await forgetOldAnswers(db, { earliest: now, latest: now }, 3 * dayMs);
  const stored = async (): Promise<number> => (await db.query(sql`SELECT 1 FROM idempotency WHERE key = 'old'`)).length;
  assert.equal(await stored(), 1);
  await forgetOldAnswers(db, { earliest: now, latest: now }, 2 * dayMs);
  assert.equal(await stored(), 0);

  const today = now - (now % dayMs);
  await db.write(async (tx) => {
    for (let day = 0; day < 200; day++)
      await tx.query(sql`
        INSERT INTO usage (account_id, step, kind, start, name, requests, refused, banned)
        VALUES (${accountId}, ${dayMs}, 'operation', ${today - day * dayMs}, 'made', 1, 0, 0)`);
  });
  const days = async (): Promise<number> => (await db.query(sql`SELECT 1 FROM usage WHERE step = ${dayMs} AND name = 'made'`)).length;
  await expireUsage(db, now, 120);
  assert.equal(await days(), 120);
  await expireUsage(db, now);
  assert.equal(await days(), 90);
  await expireUsage(db, now, 3);
  assert.equal(await days(), 3);
});

/** Leaves a file that is mostly free. */
function fill(file: string): void {
  const connection = new DatabaseSync(file);
  connection.exec("CREATE TABLE filler (text TEXT)");
  connection.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO filler SELECT hex(randomblob(100)) FROM n",
  );
  connection.exec("DROP TABLE filler");
  connection.close();
}
