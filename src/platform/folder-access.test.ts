import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { mountSmallDisk } from "../../test/support/small-disk.ts";

const commands = new URL("../../test/support/commands.ts", import.meta.url).href;
const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const asRoot = ["env"];

type Try = { dataDir: string; words: string[] };

/** The standard error of commands that must fail, each with its data folder, one after the other in one process of a user. */
function refusalsOf(user: string[], tries: Try[]): string[] {
  const script = `
    import { runCommand } from ${JSON.stringify(commands)};
    const ended = [];
    for (const { dataDir, words } of ${JSON.stringify(tries)})
      ended.push(await runCommand(words, { DATA_DIR: dataDir, PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" }));
    console.log(JSON.stringify(ended));`;
  const [command = "", ...args] = user;
  const { stdout, stderr } = spawnSync(command, [...args, process.execPath, "--input-type=module", "-e", script], {
    env: { PATH: process.env["PATH"] },
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.equal(stderr, "");
  const ended = JSON.parse(stdout) as { code: number; error: string }[];
  for (const { code, error } of ended) assert.equal(code, 1, error);
  return ended.map(({ error }) => error);
}

test("a data folder that this user may not use is refused in one line with the folder, the user and what is missing", (t) => {
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
  const said = refusalsOf(
    nobody,
    tries.map(([dataDir, words]) => ({ dataDir, words })),
  );
  assert.deepEqual(
    said,
    tries.map(([, , line]) => line),
  );
});

test("a data folder on a read-only disk is refused in one line that says so", (t) => {
  const { path } = mountSmallDisk(t, 1_048_576);
  const folder = join(path, "data");
  mkdirSync(folder);
  execFileSync("mount", ["-o", "remount,ro", path]);
  const absent = join(path, "absent");
  const tries = [
    { dataDir: folder, words: ["serve"] },
    { dataDir: folder, words: ["accounts", "list"] },
    { dataDir: absent, words: ["serve"] },
  ];
  const line = `petstore: DATA_DIR=${folder} cannot be used: its disk is mounted read-only\n`;
  assert.deepEqual(refusalsOf(asRoot, tries), [
    line,
    line,
    `petstore: DATA_DIR: ${absent} cannot be made (EROFS): the disk of ${path} is mounted read-only\n`,
  ]);
});
