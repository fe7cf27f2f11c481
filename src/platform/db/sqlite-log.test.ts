import assert from "node:assert/strict";
import { copyFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { openCheckpoints } from "./sqlite-log.ts";

/** A database with one row, which is in the log alone. */
function openDatabase(t: TestContext) {
  const folder = temporaryFolder(t);
  const file = join(folder, "test.db");
  const writer = new DatabaseSync(file);
  writer.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE shelves (label TEXT)");
  writer.exec("INSERT INTO shelves VALUES ('upper')");
  const checkpoints = openCheckpoints(file);
  t.after(async () => {
    await checkpoints.close();
    writer.close();
  });
  return { folder, file, writer, checkpoints };
}

/** What the file has without its log. */
function rowsOf(file: string, folder: string): unknown[] {
  const copy = join(folder, "copy.db");
  copyFileSync(file, copy);
  const database = new DatabaseSync(copy);
  try {
    return database
      .prepare("SELECT label FROM shelves")
      .all()
      .map((row) => row["label"]);
  } finally {
    database.close();
  }
}

test("a checkpoint copies the log into the file, while the event loop goes on, and can be repeated", async (t) => {
  const { folder, file, writer, checkpoints } = openDatabase(t);
  let turns = 0;
  const counter = setInterval(() => (turns += 1), 1);
  t.after(() => clearInterval(counter));
  await checkpoints.run();
  assert.deepEqual(rowsOf(file, folder), ["upper"]);
  writer.exec("INSERT INTO shelves VALUES ('lower')");
  await checkpoints.run();
  assert.deepEqual(rowsOf(file, folder), ["upper", "lower"]);
  assert.ok(turns > 0);
});

test("a checkpoint that fails rejects with the code of SQLite", async (t) => {
  const { folder, file } = openDatabase(t);
  const whole = join(folder, "whole.db");
  copyFileSync(file, whole);
  const absent = openCheckpoints(join(folder, "nowhere", "test.db"));
  await assert.rejects(absent.run(), { errcode: 14 });
  truncateSync(whole, 50);
  const damaged = openCheckpoints(whole);
  await assert.rejects(damaged.run(), { errcode: 11 });
  await Promise.all([absent.close(), damaged.close()]);
});
