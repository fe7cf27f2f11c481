import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/support/folder.ts";
import { mountSmallDisk } from "../../test/support/small-disk.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const asRoot = ["env"];

/** The standard error and the exit code of commands on a data folder, each in a process of its own. */
function refusalOf(user: string[], dataDir: string, ...words: string[]): string {
  const [command = "", ...args] = user;
  const env = { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };
  const { stderr, status } = spawnSync(command, [...args, process.execPath, main, ...words], { env, encoding: "utf8", timeout: 30_000 });
  assert.equal(status, 1, stderr);
  return stderr;
}

test("a data folder that this user may not use is refused in one line with the folder, the user and what is missing", (t) => {
  const parent = temporaryFolder(t);
  chmodSync(parent, 0o755);
  const folder = join(parent, "data");
  mkdirSync(folder);
  const commands = [["serve"], ["accounts", "list"]];
  const user = "user 65534 (nobody)";
  chmodSync(folder, 0o755);
  for (const words of commands) {
    const line = `petstore: DATA_DIR=${folder} cannot be used: ${user} may not write in it; it belongs to user 0, mode 0755\n`;
    assert.equal(refusalOf(nobody, folder, ...words), line);
  }
  chmodSync(folder, 0o700);
  for (const words of [...commands, ["verify"], ["backup", "-"]]) {
    const may = ["serve", "accounts"].includes(words[0]!) ? "read, write in, enter" : "read, enter";
    const line = `petstore: DATA_DIR=${folder} cannot be used: ${user} may not ${may} it; it belongs to user 0, mode 0700\n`;
    assert.equal(refusalOf(nobody, folder, ...words), line);
  }
  const inside = join(folder, "inside");
  assert.equal(refusalOf(nobody, inside, "serve"), `petstore: DATA_DIR=${inside} cannot be used: ${user} may not enter ${folder}\n`);
  const beside = join(parent, "other");
  assert.equal(
    refusalOf(nobody, beside, "serve"),
    `petstore: DATA_DIR: ${beside} cannot be made (EACCES): ${user} may not write in ${parent}\n`,
  );
});

test("a data folder on a read-only disk is refused in one line that says so", (t) => {
  const { path } = mountSmallDisk(t, 1_048_576);
  const folder = join(path, "data");
  mkdirSync(folder);
  execFileSync("mount", ["-o", "remount,ro", path]);
  for (const words of [["serve"], ["accounts", "list"]]) {
    assert.equal(refusalOf(asRoot, folder, ...words), `petstore: DATA_DIR=${folder} cannot be used: its disk is mounted read-only\n`);
  }
  const absent = join(path, "absent");
  assert.equal(
    refusalOf(asRoot, absent, "serve"),
    `petstore: DATA_DIR: ${absent} cannot be made (EROFS): the disk of ${path} is mounted read-only\n`,
  );
});
