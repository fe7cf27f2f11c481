import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { DamagedLogError, recoverLog } from "./sqlite-recovery.ts";
import { openSqlite } from "./sqlite.ts";

const rows = 20;
const headerBytes = 32;
const frameBytes = 24 + 4096;

/** A database as a kill left it: `rows` transactions of one row each in its log, after those that made the table. */
async function killed(t: TestContext) {
  const folder = temporaryFolder(t);
  const live = join(folder, "live.db");
  const db = openSqlite(live);
  t.after(() => db.close());
  await db.write((tx) => tx.script("CREATE TABLE shelves (id INTEGER PRIMARY KEY, label TEXT)"));
  const begin = statSync(`${live}-wal`).size;
  for (let id = 1; id <= rows; id++) await db.write((tx) => tx.query(sql`INSERT INTO shelves (id) VALUES (${id})`));
  const file = join(folder, "killed.db");
  const log = `${file}-wal`;
  copyFileSync(live, file);
  copyFileSync(`${live}-wal`, log);
  return { file, log, begin, end: statSync(log).size };
}

/** Opens a database, counts its rows and closes it. */
async function countRows(file: string): Promise<number> {
  const db = openSqlite(file);
  try {
    return (await db.query(sql`SELECT id FROM shelves`)).length;
  } finally {
    await db.close();
  }
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = bytes[at]! ^ 1;
  writeFileSync(path, bytes);
}

test("the log after a kill has every committed transaction, and a clean stop leaves no log", async (t) => {
  const { file, log } = await killed(t);
  assert.equal(await countRows(file), rows);
  assert.equal(existsSync(log), false);
  assert.deepEqual(recoverLog(file), { lost: 0, isGone: false });
});

test("a transaction that a power cut left unfinished is cut off, wherever it is torn, and all earlier ones are kept", async (t) => {
  const { file, log, end } = await killed(t);
  const whole = readFileSync(log);
  const plain = readFileSync(file);
  for (const tear of [
    () => truncateSync(log, end - 100),
    () => truncateSync(log, end - frameBytes),
    () => flip(log, end - 1),
    () => flip(log, end - frameBytes + 20),
    () => writeFileSync(log, Buffer.concat([whole.subarray(0, end - frameBytes), Buffer.alloc(frameBytes)])),
  ]) {
    writeFileSync(log, whole);
    writeFileSync(file, plain);
    tear();
    assert.deepEqual(recoverLog(file), { lost: 0, isGone: false });
    assert.ok(statSync(log).size <= end - frameBytes);
    assert.equal(await countRows(file), rows - 1);
  }
});

test("a log with a flipped byte among acknowledged transactions is refused and not changed", async (t) => {
  const { file, log, begin, end } = await killed(t);
  const whole = readFileSync(log);
  for (const at of [0, 9, 17, 30, begin + 1, begin + 9, begin + 17, begin + 24, Math.floor((begin + end) / 2)]) {
    writeFileSync(log, whole);
    flip(log, at);
    const damaged = readFileSync(log);
    assert.throws(
      () => openSqlite(file),
      (error) => {
        assert.ok(error instanceof DamagedLogError);
        assert.match(error.message, /killed\.db-wal is damaged at byte \d+: at least \d+ acknowledged transactions .* repair --yes/);
        return true;
      },
      `byte ${at}`,
    );
    assert.deepEqual(readFileSync(log), damaged);
  }
});

test("a repair cuts off the transactions that cannot be read, and keeps a copy of the log", async (t) => {
  const { file, log, begin } = await killed(t);
  const framesEach = (statSync(log).size - begin) / frameBytes / rows;
  flip(log, begin + 5 * framesEach * frameBytes + headerBytes);
  const damaged = readFileSync(log);
  assert.deepEqual(recoverLog(file, { cutDamaged: true }), { lost: rows - 5, isGone: false });
  assert.deepEqual(readFileSync(`${log}.damaged`), damaged);
  assert.equal(await countRows(file), 5);
});

test("frames from before the log restarted do not count as lost transactions", async (t) => {
  const folder = temporaryFolder(t);
  const live = join(folder, "live.db");
  const db = openSqlite(live);
  t.after(() => db.close());
  await db.write((tx) => tx.script("CREATE TABLE shelves (id INTEGER PRIMARY KEY, label TEXT)"));
  const label = "x".repeat(100_000);
  for (let written = 0; written < 50; written++) await db.write((tx) => tx.query(sql`INSERT INTO shelves (label) VALUES (${label})`));
  const file = join(folder, "killed.db");
  copyFileSync(live, file);
  copyFileSync(`${live}-wal`, `${file}-wal`);
  const { size } = statSync(`${file}-wal`);
  assert.deepEqual(recoverLog(file), { lost: 0, isGone: false });
  assert.ok(statSync(`${file}-wal`).size < size, "the log had started over");
  assert.equal(await countRows(file), 50);
});
