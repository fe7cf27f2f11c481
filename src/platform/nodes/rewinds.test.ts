import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { memoryName, readMemory } from "./rewinds.ts";

test("a memory that an earlier version saved is read, without the ids and events that it did not note", (t) => {
  const dataDir = temporaryFolder(t);
  assert.equal(readMemory(dataDir), undefined);
  const saved = { node: "a", places: ["db:5432/shop"], beats: 7, at: 1, acceptedAt: 2, changes: [] };
  const rewind = { foundAt: 3, from: 9, to: 7, changes: [] };
  writeFileSync(join(dataDir, memoryName), JSON.stringify({ ...saved, rewinds: [rewind] }));
  assert.deepEqual(readMemory(dataDir), { ...saved, ids: {}, sent: [], rewinds: [{ ...rewind, ids: [], sent: [] }] });
});
