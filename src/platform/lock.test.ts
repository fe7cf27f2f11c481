import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FolderHeldError, lockFolder } from "./lock.ts";

function newFolder(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(parent, { recursive: true }));
  return join(parent, "data");
}

/** Another process that holds the folder until it is killed. */
async function holdElsewhere(t: TestContext, folder: string) {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(new URL("lock.ts", import.meta.url).href)});
    globalThis.lock = lockFolder(${JSON.stringify(folder)}, "petstore serve", 0);
    process.stdout.write("held");
    setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

test("a new folder and the lock's files in it are accessible to their owner only", (t) => {
  const folder = newFolder(t);
  lockFolder(folder, "test", 0).release();
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(folder).toSorted(), ["petstore.holder", "petstore.lock"]);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
});

test("a locked folder is refused with a line that names the process that locked it", (t) => {
  const folder = newFolder(t);
  const lock = lockFolder(folder, "petstore serve", 0);
  assert.throws(
    () => lockFolder(folder, "petstore migrate", 0),
    (error: unknown) => {
      assert.ok(error instanceof FolderHeldError);
      assert.equal(error.message, `${folder} is in use by petstore serve (process ${process.pid})`);
      return true;
    },
  );
  lock.release();
  lockFolder(folder, "petstore migrate", 0).release();
});

test("another process is kept out, and the lock of a killed process is free", async (t) => {
  const folder = newFolder(t);
  const child = await holdElsewhere(t, folder);
  assert.throws(() => lockFolder(folder, "test", 0), new RegExp(`petstore serve \\(process ${child.pid}\\)`));
  child.kill("SIGKILL");
  await once(child, "exit");
  lockFolder(folder, "test", 0).release();
});
