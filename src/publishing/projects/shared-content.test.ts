import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { openBounds } from "../../platform/bounds.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { setStorageLimits } from "../../platform/storage-quotas.ts";
import { contentPath } from "./content.ts";
import { claimFiles, hasUnusedFiles, insertDeployment, noteUnusedFiles } from "./deployments.store.ts";
import { insertProject } from "./projects.store.ts";
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
  content.pin(["aa1"]);
  content.pin(["aa1"]);
  assert.equal(await content.remove(10), 1);
  content.release(["aa1"]);
  assert.equal(await content.remove(10), 0);
  assert.deepEqual(await left(), ["aa/aa1"]);
  content.release(["aa1"]);
  assert.equal(await content.remove(10), 1);
  assert.deepEqual(await left(), []);
});

test("a removal looks at a bounded number of marks, and deletes those of content that is needed again", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const content = localContent(db, join(temporaryFolder(t), "content"), openBounds());
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`);
    await setStorageLimits(tx, 1, { records: 0, publishedBytes: 1_000 });
    const { id: projectId } = await insertProject(tx, 1, { name: "Rex", slug: "rex" }, 0);
    const { id } = await insertDeployment(tx, 1, projectId, "upload", 0);
    await claimFiles(tx, { accountId: 1, id }, [{ hash: "aa1", size: 1 }]);
    await noteUnusedFiles(tx, ["aa1", "ab2", "ac3"]);
  });
  const marks = async () => (await db.query<{ hash: string }>(sql`SELECT hash FROM unused_files ORDER BY hash`)).map(({ hash }) => hash);
  assert.equal(await content.remove(1), 1, "as long as marks are deleted, there may be more");
  assert.deepEqual(await marks(), ["ab2", "ac3"]);
  assert.equal(await content.remove(1), 1);
  assert.deepEqual(await marks(), ["ac3"]);
  assert.equal(await content.remove(2), 1);
  assert.equal(await hasUnusedFiles(db), false);
  assert.equal(await content.remove(2), 0);
});
