import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../test/support/folder.ts";
import { migrate } from "../platform/db/migrate.ts";
import { openSqlite } from "../platform/db/sqlite.ts";
import { openFirstStart } from "./first-start.ts";

test("the file of a first start stays until someone has signed in on any node, and is not made again", async (t) => {
  const dataDir = temporaryFolder(t);
  const db = openSqlite(join(dataDir, "petstore.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const firstStart = openFirstStart({ db, untilAnswered: (step) => step() }, () => 0, { publicUrl: "https://pets.example", dataDir });
  const file = join(dataDir, "first-sign-in");
  const shown: string[] = [];
  const make = () => firstStart.make((text) => shown.push(text), false);
  await make();
  assert.deepEqual(shown, [readFileSync(file, "utf8").trimEnd()]);
  assert.match(
    shown[0]!,
    /^\{"level":30,"time":0,"msg":"first start","account":\{.*"key":"psk_\w+","link":"https:\/\/pets\.example\/sign-in#token=/,
  );
  await firstStart.sweep();
  assert.ok(existsSync(file));

  await db.write((tx) => tx.query(sql`UPDATE members SET signed_in_at = ${1}`));
  await firstStart.sweep();
  await make();
  assert.equal(existsSync(file), false);
  assert.equal(shown.length, 1);
});
