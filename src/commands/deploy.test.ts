import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { packFolder } from "./deploy.ts";

const oneMiB = 1_048_576;

/** A folder with a petstore.json and the files that the test puts there. */
function newFolder(t: TestContext): { folder: string; put: (name: string, bytes?: number) => void } {
  const folder = mkdtempSync(join(tmpdir(), "petstore-pack-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const put = (name: string, bytes = 1): void => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), "");
    truncateSync(join(folder, name), bytes); // a file of holes takes no room
  };
  put("petstore.json");
  return { folder, put };
}

async function namesIn(packed: Buffer): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Readable.from([packed]).pipe(createGunzip()).pipe(extract())) {
    names.push(entry.header.name);
    entry.resume();
  }
  return names.toSorted();
}

test("a folder is packed with its subfolders and .well-known; what stays out is listed", async (t) => {
  const { folder, put } = newFolder(t);
  const kept = [".well-known/security.txt", "a/b/c.css", "index.html", "petstore.json"];
  const hidden = [
    ".env",
    ".git/config",
    ".git/objects/a",
    "a/.DS_Store",
    "a/Thumbs.db",
    "node_modules/x/index.js",
    ".well-known/.cache",
    "a/.well-known/b",
  ];
  for (const name of [...kept.slice(0, 3), ...hidden]) put(name);
  const warnings: string[] = [];
  assert.deepEqual(await namesIn(await packFolder(folder, (line) => warnings.push(line))), kept);
  assert.deepEqual(warnings, ["Left out: .env, .git, .well-known/.cache, a/.DS_Store, a/.well-known/b, a/Thumbs.db, node_modules."]);
});

test("a folder without an index.html is packed all the same, with a warning", async (t) => {
  const { folder, put } = newFolder(t);
  put("shop/index.html");
  const warnings: string[] = [];
  assert.deepEqual(await namesIn(await packFolder(folder, (line) => warnings.push(line))), ["petstore.json", "shop/index.html"]);
  assert.deepEqual(warnings, [`${folder} has no index.html: its address will answer 404.`]);
});

test("a folder that the service would refuse is refused before its files are read", async (t) => {
  const without = newFolder(t);
  rmSync(join(without.folder, "petstore.json"));
  await assert.rejects(packFolder(without.folder, assert.fail), { code: "invalid_request", message: /has no petstore.json/ });
  await assert.rejects(packFolder(join(without.folder, "absent"), assert.fail), { code: "invalid_request", message: /ENOENT/ });

  const linked = newFolder(t);
  symlinkSync("/etc/hosts", join(linked.folder, "hosts"));
  await assert.rejects(packFolder(linked.folder, assert.fail), { code: "invalid_request", message: /hosts is not a regular file/ });

  const large = newFolder(t);
  large.put("large", 25 * oneMiB + 1);
  await assert.rejects(packFolder(large.folder, assert.fail), { code: "invalid_request", message: /large is over 25 MiB/ });

  const heavy = newFolder(t);
  for (let i = 0; i < 9; i++) heavy.put(`part-${i}`, 24 * oneMiB);
  await assert.rejects(packFolder(heavy.folder, assert.fail), { code: "invalid_request", message: /is over 200 MiB/ });

  const many = newFolder(t);
  for (let i = 0; i <= 2_000; i++) many.put(`${i}.txt`);
  await assert.rejects(packFolder(many.folder, assert.fail), { code: "invalid_request", message: /has more than 2,000 files/ });
});
