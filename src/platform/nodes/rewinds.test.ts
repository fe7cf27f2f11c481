import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Sql } from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import type { Transaction } from "../db/database.ts";
import { memoryName, openRewinds, readMemory } from "./rewinds.ts";

const saved = { node: "a", places: ["db:5432/shop"], beats: 7, at: 1, acceptedAt: 2, changes: [] };

function folderWith(t: TestContext): string {
  const dataDir = temporaryFolder(t);
  writeFileSync(join(dataDir, memoryName), JSON.stringify(saved));
  return dataDir;
}

test("a memory that an earlier version saved is read, without the ids and events that it did not note", (t) => {
  assert.equal(readMemory(temporaryFolder(t)), undefined);
  assert.deepEqual(readMemory(folderWith(t)), { ...saved, ids: {}, sent: [] });
});

/** A database that does not know the node. */
const unknowing = {
  async query({ text }: Sql) {
    if (text.includes("UPDATE node_beats"))
      return text.includes("INSERT") ? [{ beats: 1, at: 3, accepted_at: null, loss: null, ids: null }] : [];
    return [{ beats: null, at: null, accepted_at: null, loss: null, now: 3, is_stored: true, number: 0, ids: null }];
  },
} as unknown as Transaction;

for (const [url, isOther] of [
  ["postgres://db/shop", false],
  ["postgres://user:password@DB:5432,db2:5433/shop", false],
  ["postgres://db:5433/shop", true],
  ["postgres://db2/shop", true],
  ["postgres://db/another", true],
] as const) {
  test(`a database that does not know the node has ${isOther ? "lost nothing" : "gone back in time"}: db:5432/shop before, now ${url}`, async (t) => {
    const reasons: unknown[] = [];
    const rewinds = openRewinds(folderWith(t), url, (reason) => reasons.push(reason));
    (await rewinds.count(unknowing))();
    assert.equal(reasons.length, isOther ? 0 : 1);
    await rewinds.close();
  });
}
