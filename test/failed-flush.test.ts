import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openDisk, recorded } from "./support/disk.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Category } from "./support/models.ts";
import { addressOf, createAccount, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { until } from "./support/until.ts";

/** The number of the flush that fails: after those of a start whose database has all migrations. */
const failedFlush = 20;
const writesMax = 100;

/** A folder with an account, and a server on it whose writes are recorded and of whose flushes one fails. */
async function openShop(t: TestContext) {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const disk = openDisk(dataDir);
  let recordings = 0;
  const start = async (failing?: number) => {
    const recording = join(folder, `recording-${recordings++}`);
    const { command, env } = recorded(recording, failing);
    const server = spawnServer(t, dataDir, { ...env, LOG_LEVEL: "info" }, command);
    return { server, address: await addressOf(server), recording };
  };
  return { dataDir, folder, disk, start };
}

/** Adds categories one after the other until one is not acknowledged; gives the names of those that were. */
async function addCategories(address: string, key: string, begin: string, count: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let i = 0; i < count; i++) {
    const name = `${begin} ${i}`;
    const answer = await ask(`${address}/v1/categories`, "POST", { key, body: { name } }).catch(() => undefined);
    if (answer?.status !== 201) break;
    acknowledged.push(name);
  }
  return acknowledged;
}

async function namesAt(address: string, key: string): Promise<string[]> {
  const { body } = await ask<Category[]>(`${address}/v1/categories?limit=100`, "GET", { key });
  return body.map(({ name }) => name);
}

async function kill(server: ServerProcess): Promise<void> {
  server.kill("SIGKILL");
  await server.ended;
}

test("after a failed flush", async (t) => {
  const { folder, disk, start, dataDir } = await openShop(t);
  const migrating = await start();
  const key = await createAccount(dataDir);
  const acknowledged = await addCategories(migrating.address, key, "First", 1);
  await until(() => existsSync(join(dataDir, "limits.state")));
  await kill(migrating.server);
  await disk.replay(migrating.recording);
  const first = await start(failedFlush);
  const before = await addCategories(first.address, key, "Before", writesMax);
  assert.ok(before.length < writesMax, "a flush failed");
  acknowledged.push(...before);
  const lostOf = async (address: string): Promise<string[]> => {
    const names = await namesAt(address, key);
    return acknowledged.filter((name) => !names.includes(name));
  };

  await t.test("the process ends with one line and exit code 74", async () => {
    assert.equal(await first.server.ended, 74);
    const fatal = first.server.log().filter(({ level }) => level >= 60);
    assert.deepEqual(
      fatal.map(({ msg }) => msg),
      ["the disk failed to flush the database's log: exiting, so that no more writes are acknowledged"],
    );
    assert.equal(first.server.err(), "");
  });

  await t.test("and a power cut, the files beside the database are complete", async () => {
    await disk.replay(first.recording);
    const afterCut = join(folder, "after-first-cut");
    disk.image(afterCut);
    for (const name of ["secrets.key", "limits.state", "first-sign-in"]) {
      assert.match(readFileSync(join(afterCut, name), "latin1"), /^[ -~\n]+\n$/, name);
    }
  });

  const second = await start();
  await t.test("the next start serves every acknowledged write", async () => assert.deepEqual(await lostOf(second.address), []));

  await t.test("a restart, more writes, a kill and a power cut, every acknowledged write is there", async () => {
    const later = await addCategories(second.address, key, "After", 30);
    assert.equal(later.length, 30);
    acknowledged.push(...later);
    await kill(second.server);
    await disk.replay(second.recording);
    const afterCut = join(folder, "after-cut");
    disk.image(afterCut);
    assert.deepEqual(await lostOf(await addressOf(spawnServer(t, afterCut))), []);
  });
});
