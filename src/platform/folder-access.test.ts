import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { refusals } from "../../test/support/refusals.ts";
import { mountSmallDisk } from "../../test/support/small-disk.ts";

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

test("a data folder that this user may not use is refused in one line with the folder, the user and what is missing", async (t) => {
  const parent = temporaryFolder(t);
  const folderOf = (mode: number): string => {
    const folder = join(parent, mode.toString(8));
    mkdirSync(folder);
    chmodSync(folder, mode);
    return folder;
  };
  const [readable, closed] = [folderOf(0o755), folderOf(0o700)];
  chmodSync(parent, 0o755);
  const [inside, beside] = [join(closed, "inside"), join(parent, "other")];
  const user = "user 65534 (nobody)";
  const use = (folder: string) => `petstore: DATA_DIR=${folder} cannot be used: ${user} may not`;
  const tries: [dataDir: string, words: string[], line: string][] = [
    [readable, ["serve"], `${use(readable)} write in it; it belongs to user 0, mode 0755\n`],
    [readable, ["accounts", "list"], `${use(readable)} write in it; it belongs to user 0, mode 0755\n`],
    [closed, ["serve"], `${use(closed)} read, write in, enter it; it belongs to user 0, mode 0700\n`],
    [closed, ["accounts", "list"], `${use(closed)} read, write in, enter it; it belongs to user 0, mode 0700\n`],
    [closed, ["verify"], `${use(closed)} read, enter it; it belongs to user 0, mode 0700\n`],
    [closed, ["backup", "-"], `${use(closed)} read, enter it; it belongs to user 0, mode 0700\n`],
    [inside, ["serve"], `${use(inside)} enter ${closed}\n`],
    [beside, ["serve"], `petstore: DATA_DIR: ${beside} cannot be made (EACCES): ${user} may not write in ${parent}\n`],
  ];
  const said = await refusals(
    tries.map(([DATA_DIR, words]) => ({ words, env: { DATA_DIR } })),
    { under: nobody },
  );
  assert.deepEqual(
    said,
    tries.map(([, , line]) => line),
  );
});

test("a data folder on a read-only disk is refused in one line that says so", async (t) => {
  const { path } = mountSmallDisk(t, 1_048_576);
  const folder = join(path, "data");
  mkdirSync(folder);
  execFileSync("mount", ["-o", "remount,ro", path]);
  const absent = join(path, "absent");
  const tries = [
    { words: ["serve"], env: { DATA_DIR: folder } },
    { words: ["accounts", "list"], env: { DATA_DIR: folder } },
    { words: ["serve"], env: { DATA_DIR: absent } },
  ];
  const line = `petstore: DATA_DIR=${folder} cannot be used: its disk is mounted read-only\n`;
  assert.deepEqual(await refusals(tries), [
    line,
    line,
    `petstore: DATA_DIR: ${absent} cannot be made (EROFS): the disk of ${path} is mounted read-only\n`,
  ]);
});
