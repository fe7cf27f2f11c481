import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { emptyDatabase, openSource, keyIn, moveTo, rowsIn } from "./support/moves.ts";
import { administer, rowsOf } from "./support/postgres.ts";
import { inherited, spawnServer } from "./support/process.ts";
import { until } from "./support/until.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const kills = runs(2, 50);

test("a move whose target stops answering ends with one line and changes nothing, and a repeat succeeds", async (t) => {
  const { dataDir } = await openSource(t);
  const url = new URL(await emptyDatabase(t));
  for (const bytes of [2_000, 30_000, 60_000]) {
    let left = bytes;
    const proxy = createServer((client) => {
      const server = connect(Number(url.port), url.hostname);
      for (const socket of [client, server]) socket.on("error", () => undefined);
      client.on("data", (sent: Buffer) => {
        left -= sent.length;
        if (left > 0) return server.write(sent);
        client.destroy();
        server.destroy();
        return proxy.close();
      });
      server.pipe(client);
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const through = new URL(url);
    through.port = String((proxy.address() as AddressInfo).port);
    const { code, error } = await moveTo(through.href, { DATA_DIR: dataDir });
    assert.equal(code, 1);
    assert.match(
      error,
      /(^|\n)petstore: [^\n]*(terminated|ECONNRESET|does not answer)[^\n]* \(nothing was changed\)\n$/,
      `after ${bytes} bytes`,
    );
    assert.equal(await administer(url.href, "SELECT FROM pg_tables WHERE schemaname = 'public'"), 0);
  }
  assert.equal((await moveTo(url.href, { DATA_DIR: dataDir })).code, 0);
});

test("the service does not start on an unfinished copy, and the next move into it starts over", async (t) => {
  const { dataDir } = await openSource(t);
  const url = await emptyDatabase(t);
  const env = { DATABASE_URL: url, SECRETS_KEY: keyIn(dataDir) };
  assert.equal((await moveTo(url, { DATA_DIR: dataDir })).code, 0);
  const accounts = await rowsOf(url, "accounts");
  await administer(url, "CREATE TABLE unfinished_move (started_at BIGINT)");
  await administer(url, "DELETE FROM keys");
  const refused = spawnServer(t, join(temporaryFolder(t), "node"), env);
  assert.equal(await refused.ended, 1);
  assert.match(
    refused.err(),
    /^petstore: the database of DATABASE_URL has an unfinished copy: run `petstore move` again, which starts over\n$/,
  );
  assert.equal((await moveTo(url, { DATA_DIR: dataDir })).code, 0);
  assert.equal(await rowsOf(url, "accounts"), accounts);
  assert.notEqual(await rowsOf(url, "keys"), "[]");

  const folder = join(temporaryFolder(t), "back");
  mkdirSync(folder);
  for (const name of ["petstore.moving", "petstore.db.moving", "limits.state"]) writeFileSync(join(folder, name), "half");
  const server = spawnServer(t, folder);
  assert.equal(await server.ended, 1);
  assert.match(server.err(), /^petstore: DATA_DIR=\S+ has an unfinished copy: run `petstore move` again, or delete the folder\n$/);
  assert.equal((await moveTo(folder, env)).code, 0);
  assert.deepEqual(rowsIn(folder), rowsIn(dataDir));
});

const isPlaced = (folder: string): boolean => existsSync(join(folder, "petstore.db")) && !existsSync(join(folder, "petstore.moving"));

/** Whether a database has a whole copy, once PostgreSQL has noticed a kill. A copy is committed as one, with a mark until it is compared. */
async function isFinished(url: string): Promise<boolean> {
  const tables = (name: string): Promise<number> => administer(url, `SELECT FROM pg_tables WHERE tablename = '${name}'`);
  const others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await until(async () => (await administer(url, others)) === 0);
  return (await tables("accounts")) === 1 && (await tables("unfinished_move")) === 0;
}

test("a move in either direction that is killed at a random moment loses nothing, and a repeat succeeds", async (t) => {
  const { dataDir } = await openSource(t);
  const original = rowsIn(dataDir);
  const url = await emptyDatabase(t);
  const start = (to: string, env: Record<string, string>) =>
    spawn(process.execPath, [main, "move", "--to", to], { env: { ...inherited(), DATA_DIR: dataDir, ...env }, stdio: "ignore" });
  const began = performance.now();
  const [code] = (await once(start(url, {}), "exit")) as [number];
  assert.equal(code, 0);
  const wholeMs = Math.ceil(performance.now() - began);
  const env = { DATABASE_URL: url, SECRETS_KEY: keyIn(dataDir) };

  for (let round = 0; round < kills; round++) {
    const isBack = round % 2 === 1;
    const target = isBack ? join(temporaryFolder(t), "back") : await emptyDatabase(t);
    const ms = random(Math.floor(wholeMs * 0.4), Math.ceil(wholeMs * 0.6));
    const child = start(target, isBack ? env : {});
    const ended = once(child, "exit");
    await Promise.race([sleep(ms), ended]);
    child.kill("SIGKILL");
    await ended;
    const done = isBack ? isPlaced(target) : await isFinished(target); // a kill may come after the last step
    assert.deepEqual(rowsIn(dataDir), original, `the source, after a kill at ${ms} ms`);
    const repeated = await moveTo(target, isBack ? { ...env, DATA_DIR: dataDir } : { DATA_DIR: dataDir });
    if (done) assert.match(repeated.error, /is not empty/);
    else assert.equal(repeated.code, 0, `after a kill at ${ms} ms: ${repeated.error}`);
    const back = isBack ? target : join(temporaryFolder(t), "back");
    if (!isBack) assert.equal((await moveTo(back, { ...env, DATABASE_URL: target })).code, 0);
    assert.deepEqual(rowsIn(back), original, `the copy, after a kill at ${ms} ms`);
  }
});
