import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { makePrivate, requireOwnSocket } from "./folder-access.ts";
import { lockFolder } from "./lock.ts";
import { callSocket } from "./socket.ts";

const nobody = 65_534;
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

test("a data folder that others can write to, and its files, become private to their owner", (t) => {
  const folder = temporaryFolder(t);
  for (const name of ["petstore.db", "secrets.key", "limits.state", "notes.txt"]) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "content"));
  for (const name of ["petstore.db", "secrets.key", "limits.state", "notes.txt"]) chmodSync(join(folder, name), 0o666);
  chmodSync(join(folder, "content"), 0o777);
  chmodSync(folder, 0o777);
  lockFolder(folder, "test", 0).release();
  const names = ["", "petstore.db", "secrets.key", "limits.state", "content", "notes.txt"];
  assert.deepEqual(
    names.map((name) => modeOf(join(folder, name))),
    ["700", "600", "600", "600", "700", "666"],
  );
});

test("an empty folder that others can write to becomes private to its owner", (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o1777);
  lockFolder(folder, "test", 0).release();
  assert.equal(modeOf(folder), "1700");
});

test("a folder that others can write to is refused and not changed if it is not a data folder", (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "letter.txt"), "");
  chmodSync(folder, 0o1777);
  assert.throws(
    () => lockFolder(folder, "test", 0),
    new RegExp(`^Error: DATA_DIR=${folder} can be written by other users \\(mode 1777\\): `),
  );
  assert.equal(modeOf(folder), "1777");
});

for (const name of [
  "petstore.holder",
  "petstore.lock",
  "petstore.db",
  "petstore.db-wal",
  "petstore.sock",
  "secrets.key",
  "limits.state",
  "first-sign-in",
  "content",
]) {
  test(`a symbolic link is refused, and its target is not touched: ${name}`, (t) => {
    const folder = temporaryFolder(t);
    const elsewhere = join(temporaryFolder(t), "elsewhere");
    writeFileSync(elsewhere, "precious");
    chmodSync(elsewhere, 0o644);
    symlinkSync(elsewhere, join(folder, name));
    const line = new RegExp(`^Error: ${join(folder, name)} is a symbolic link, which the service does not follow: `);
    assert.throws(() => lockFolder(folder, "test", 0), line);
    assert.deepEqual([readFileSync(elsewhere, "utf8"), modeOf(elsewhere)], ["precious", "644"]);
  });
}

test("a pipe in the place of a file is refused, because the start would wait for it", (t) => {
  const folder = temporaryFolder(t);
  execFileSync("mkfifo", [join(folder, "secrets.key")]);
  assert.throws(() => makePrivate(folder), /secrets\.key is a pipe or a device, where the service needs a file: remove it$/);
});

test("a folder of another user is refused, and so is a folder with another user's file", (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "petstore.db");
  writeFileSync(file, "");
  const { uid } = statSync(folder);
  const refusal = (path: string, owner: number, user: number) =>
    new RegExp(
      `^Error: ${path} belongs to user ${owner}, and this process runs as user ${user}: run it as that user, or change the owner$`,
    );
  if (uid !== 0) return assert.throws(() => makePrivate(folder, uid + 1), refusal(`DATA_DIR=${folder}`, uid, uid + 1));
  chownSync(file, nobody, nobody);
  assert.throws(() => makePrivate(folder), refusal(file, nobody, 0));
  chownSync(folder, nobody, nobody);
  assert.throws(() => makePrivate(folder), refusal(`DATA_DIR=${folder}`, nobody, 0));
  makePrivate(folder, nobody);
  assert.equal(modeOf(file), "600");
});

test("a socket that is a symbolic link is not used", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "petstore.sock");
  symlinkSync(join(folder, "other.sock"), path);
  assert.throws(() => requireOwnSocket(path), /is a symbolic link/);
  await assert.rejects(callSocket(path, "echo", {}), /is a symbolic link/);
});
