import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { openBounds } from "../../platform/bounds.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { contentPath } from "./content.ts";
import { noteUnusedFiles } from "./deployments.store.ts";
import { localContent } from "./shared-content.ts";

test("unused content stays while a deployment of this process is about to publish it, and is removed once the last one has released it", async (t) => {
  const folder = temporaryFolder(t);
  const db = openSqlite(join(folder, "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const content = localContent(db, join(folder, "content"), openBounds());
  for (const hash of ["aa1", "ab2"]) {
    const path = contentPath(content.folder, hash);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, hash);
  }
  await db.write((tx) => noteUnusedFiles(tx, ["aa1", "ab2"]));
  const left = async () => (await readdir(content.folder, { recursive: true })).filter((name) => name.includes("/"));
  content.hold(["aa1"]);
  content.hold(["aa1"]);
  assert.equal(await content.remove(10), 1);
  content.release(["aa1"]);
  assert.equal(await content.remove(10), 0);
  assert.deepEqual(await left(), ["aa/aa1"]);
  content.release(["aa1"]);
  assert.equal(await content.remove(10), 1);
  assert.deepEqual(await left(), []);
});
