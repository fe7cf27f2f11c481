import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { insertAccount, deleteAccount } from "../accounts/accounts.store.ts";
import { openUsageRecorder } from "./recorder.ts";
import { expireUsage, readUsage, readUsageBy } from "./usage.store.ts";

const noon = Date.UTC(2026, 5, 15, 12);
const minuteMs = 60_000;
const dayMs = 86_400_000;
const business = { plan: "business", perMinute: null, perDay: null } as const;

async function openScene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const db = openSqlite(join(folder, "test.db"));
  t.after(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });
  await migrate(db, noon);
  await db.write((tx) => insertAccount(tx, "A", business, noon));
  await db.write((tx) => insertAccount(tx, "B", business, noon));
  const time = { now: noon };
  const clock = () => time.now;
  return { db, time, clock, usage: openUsageRecorder({ db, clock }) };
}

test("a request counts in its minute, hour and day, for its account only, and refusals count separately", async (t) => {
  const { db, time, usage } = await openScene(t);
  for (const verdict of ["pass", "pass", "rate_limit_exceeded", "key_banned"] as const) usage.record(1, 1, "listPets", verdict);
  time.now += minuteMs;
  usage.record(1, 2, "createPet", "pass");
  usage.record(2, 3, "listPets", "pass");
  await usage.flush();
  const first = { requests: 2, refused: 1, banned: 1 };
  const second = { requests: 1, refused: 0, banned: 0 };
  const both = { requests: 3, refused: 1, banned: 1 };
  assert.deepEqual(await readUsage(db, 1, "minute", time.now), [
    { start: noon, ...first },
    { start: noon + minuteMs, ...second },
  ]);
  assert.deepEqual(await readUsage(db, 1, "hour", time.now), [{ start: noon, ...both }]);
  assert.deepEqual(await readUsage(db, 1, "day", time.now), [{ start: Date.UTC(2026, 5, 15), ...both }]);
  assert.deepEqual(await readUsageBy(db, "key", 1, "hour", time.now), [
    { name: "1", start: noon, ...first },
    { name: "2", start: noon, ...second },
  ]);
  const operations = await readUsageBy(db, "operation", 1, "hour", time.now);
  assert.deepEqual(operations.map(({ name }) => name).toSorted(), ["createPet", "listPets"]);
});

test("counts of two nodes and of many flushes are added", async (t) => {
  const { db, clock, usage, time } = await openScene(t);
  const other = openUsageRecorder({ db, clock });
  for (let i = 0; i < 10; i++) {
    for (const node of [usage, other]) node.record(1, 1, "listPets", "pass");
    await Promise.all([usage.flush(), other.flush(), usage.flush()]);
  }
  assert.deepEqual(await readUsage(db, 1, "hour", time.now), [{ start: noon, requests: 20, refused: 0, banned: 0 }]);
});

test("counts that could not be saved are saved later, once", async (t) => {
  const { db, clock, time } = await openScene(t);
  let failures = 2;
  const failing: Database = { ...db, write: (body) => (failures-- > 0 ? Promise.reject(new Error("full")) : db.write(body)) };
  const usage = openUsageRecorder({ db: failing, clock });
  usage.record(1, 1, "listPets", "pass");
  await assert.rejects(usage.flush(), /full/);
  usage.record(1, 1, "listPets", "pass");
  await assert.rejects(usage.flush(), /full/);
  await usage.flush();
  await usage.flush();
  assert.equal((await readUsage(db, 1, "hour", time.now))[0]?.requests, 2);
});

test("counts of a deleted account are skipped and delay no others", async (t) => {
  const { db, time, usage } = await openScene(t);
  usage.record(1, 1, "listPets", "pass");
  usage.record(2, 2, "listPets", "pass");
  await deleteAccount(db, 1, () => undefined);
  await usage.flush();
  assert.equal((await readUsage(db, 2, "hour", time.now))[0]?.requests, 1);
  assert.deepEqual(await db.query(sql`SELECT account_id FROM usage WHERE account_id = 1`), []);
});

test("minutes are kept for an hour, hours for 7 days and days for 90, and older ones are deleted", async (t) => {
  const { db, time, usage } = await openScene(t);
  usage.record(1, 1, "listPets", "pass");
  await usage.flush();
  const rows = async (now: number) => {
    await expireUsage(db, now);
    const left = await db.query(sql`SELECT DISTINCT step FROM usage ORDER BY step`);
    return left.map((row) => Number(row["step"]) / minuteMs);
  };
  assert.deepEqual(await rows(noon + 59 * minuteMs), [1, 60, 1440]);
  assert.deepEqual(await rows(noon + 60 * minuteMs), [60, 1440]);
  assert.deepEqual(await rows(noon + 7 * dayMs - 1), [60, 1440]);
  assert.deepEqual(await rows(noon + 7 * dayMs), [1440]);
  time.now = noon + 89 * dayMs;
  assert.equal((await readUsage(db, 1, "day", time.now)).length, 1);
  assert.deepEqual(await rows(time.now), [1440]);
  time.now += dayMs;
  assert.deepEqual(await readUsage(db, 1, "day", time.now), []);
  assert.deepEqual(await rows(time.now), []);
});

test("only the 50 keys with the most requests are listed", async (t) => {
  const { db, time, usage } = await openScene(t);
  for (let key = 1; key <= 60; key++) for (let i = 0; i < key; i++) usage.record(1, key, "listPets", "pass");
  await usage.flush();
  const keys = (await readUsageBy(db, "key", 1, "hour", time.now)).map(({ name }) => Number(name));
  assert.deepEqual(
    keys.toSorted((a, b) => a - b),
    Array.from({ length: 50 }, (_, i) => i + 11),
  );
});

test("the number of keys recorded at once is bounded, and recording never fails", async (t) => {
  const { db, time, usage } = await openScene(t);
  for (let key = 1; key <= 60_000; key++) usage.record(1, key, "listPets", "pass");
  time.now = noon - dayMs; // a clock that is set back
  usage.record(2, 1, "listPets", "pass");
  await usage.flush();
  assert.equal((await readUsage(db, 1, "day", noon))[0]?.requests, 50_000);
  assert.equal((await readUsage(db, 2, "day", time.now))[0]?.requests, 1);
});
