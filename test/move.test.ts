import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { emptyDatabase, openSource, keyIn, moveTo, rowsIn } from "./support/moves.ts";
import { administer } from "./support/postgres.ts";
import { addressOf, inherited, spawnServer } from "./support/process.ts";
import { requireServed, unpackRelease } from "./support/release.ts";
import { secretsKey, startService } from "./support/service.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

test("a filled store moves to PostgreSQL and back: answers, ETags, keys, bans, counters, sign-ins and sites are the same", async (t) => {
  const release = await openSource(t);
  const { dataDir, now } = release;
  const before = rowsIn(dataDir);
  const clock = () => now + 5_000;
  const url = await emptyDatabase(t);
  const there = await moveTo(url, { DATA_DIR: dataDir });
  assert.equal(there.code, 0, there.error);
  assert.match(there.error, /^pets: 40 …$/m);
  assert.match(there.error, /^comparing pets: 40 …$/m);
  assert.match(
    there.out,
    /^Moved \d+ rows of \d+ tables and \d+ files \(\d+ bytes\) to PostgreSQL at [^@\n]+\. Counts and checksums are equal\.\n/,
  );
  assert.match(there.out, new RegExp(`with SECRETS_KEY_FILE=${dataDir}/secrets\\.key`));
  assert.doesNotMatch(there.out + there.error, /:password@/);
  assert.deepEqual(rowsIn(dataDir), before, "the source is only read");

  const settings = { DATABASE_URL: url, SECRETS_KEY: keyIn(dataDir) };
  const onPostgres = await startService({ dataDir, clock, usesOwnHashCost: true, env: { ...release.env, ...settings } });
  await requireServed(onPostgres, release, 1);
  await onPostgres.close();

  const back = join(temporaryFolder(t), "back");
  const again = await moveTo(`sqlite:${back}`, { ...settings, DATA_DIR: dataDir });
  assert.equal(again.code, 0, again.error);
  assert.deepEqual(
    readdirSync(back)
      .filter((name) => !name.startsWith("petstore.lock"))
      .toSorted(),
    ["content", "limits.state", "petstore.db", "petstore.holder"],
  );
  const env = { ...release.env, DATABASE_URL: "", SECRETS_KEY: keyIn(dataDir) };
  const service = await startService({ dataDir: back, clock, usesOwnHashCost: true, env });
  await requireServed(service, release, 2);
  await service.close();

  const old = await startService({ dataDir, clock, usesOwnHashCost: true, env: { ...release.env, DATABASE_URL: "" } });
  assert.equal((await old.ask("GET", "/pets", { key: release.key })).status, 200, "the source can still be served");
  await old.close();
});

test("identifiers continue after a move, in both directions", async (t) => {
  const { dataDir, key } = await openSource(t);
  const url = await emptyDatabase(t);
  assert.equal((await moveTo(url, { DATA_DIR: dataDir })).code, 0);
  const back = join(temporaryFolder(t), "back");
  assert.equal((await moveTo(back, { DATABASE_URL: url, SECRETS_KEY: keyIn(dataDir) })).code, 0);
  const created = async (folder: string, env: Record<string, string>) => {
    const service = await startService({ dataDir: folder, env });
    const { body } = await service.ask<{ id: number }>("POST", "/categories", { key, body: { name: "New" } });
    await service.close();
    return body.id;
  };
  const shared = { SECRETS_KEY: keyIn(dataDir) };
  assert.deepEqual(
    [await created(temporaryFolder(t), { ...shared, DATABASE_URL: url }), await created(back, { ...shared, DATABASE_URL: "" })],
    [3, 3],
  );
});

test("the service does not start on an empty database beside a filled folder and names the command, until a setting allows it or the data is there", async (t) => {
  const { dataDir } = await openSource(t);
  const url = await emptyDatabase(t);
  const env = { DATABASE_URL: url, SECRETS_KEY: keyIn(dataDir) };
  const refused = spawnServer(t, dataDir, env);
  assert.equal(await refused.ended, 1);
  assert.equal(refused.out(), "");
  assert.match(
    refused.err(),
    /^petstore: the database of DATABASE_URL has no account, and \S+petstore\.db has one: copy it with `petstore move --to [^\n]*ALLOW_EMPTY_DATABASE=on[^\n]*\n$/,
  );
  assert.equal(await administer(url, "SELECT FROM pg_tables WHERE schemaname = 'public'"), 0, "nothing was made");

  const allowed = await emptyDatabase(t);
  const server = spawnServer(t, dataDir, { ...env, DATABASE_URL: allowed, ALLOW_EMPTY_DATABASE: "on" });
  await addressOf(server);
  server.kill("SIGTERM");
  await server.ended;

  assert.equal((await moveTo(url, { DATA_DIR: dataDir })).code, 0);
  const moved = spawnServer(t, dataDir, env);
  await addressOf(moved);
  moved.kill("SIGTERM");
  assert.equal(await moved.ended, 0);
});

test("a move that cannot be done says why in one line, and changes nothing", async (t) => {
  const { dataDir } = await openSource(t);
  const empty = await emptyDatabase(t);
  const filled = await emptyDatabase(t);
  await administer(filled, "CREATE TABLE notes (text TEXT)");
  const elsewhere = temporaryFolder(t);
  writeFileSync(join(elsewhere, "letter.txt"), "dear");
  const absent = join(temporaryFolder(t), "absent");
  const wrong = new URL(empty);
  wrong.username = "nobody";
  const unknown = new URL(empty);
  unknown.pathname = "/no_such_database";
  const newer = unpackRelease(t).dataDir;
  await runCommand(["migrate"], { DATA_DIR: newer });
  const db = new DatabaseSync(join(newer, "petstore.db"));
  db.exec("INSERT INTO migrations (number, name, applied_at) VALUES (9999, 'tomorrow', 1)");
  db.close();
  const older = unpackRelease(t).dataDir;
  const lost = unpackRelease(t).dataDir;
  await runCommand(["migrate"], { DATA_DIR: lost });
  rmSync(join(lost, "content"), { recursive: true });
  const onPostgres = { DATABASE_URL: empty, SECRETS_KEY: secretsKey, DATA_DIR: dataDir };

  const cases: [to: string, env: Record<string, string>, code: number, reason: RegExp][] = [
    [filled, { DATA_DIR: dataDir }, 1, /the database is not empty: it has the table notes; move into an empty one \(nothing was changed\)/],
    [wrong.href, { DATA_DIR: dataDir }, 1, /PostgreSQL at \S+ refuses: .*"nobody".*\(nothing was changed\)/],
    [
      unknown.href,
      { DATA_DIR: dataDir },
      1,
      /PostgreSQL at \S+ refuses: database "no_such_database" does not exist \(nothing was changed\)/,
    ],
    [
      "postgres://petstore:geheim@127.0.0.1:9/x",
      { DATA_DIR: dataDir },
      1,
      /PostgreSQL at 127\.0\.0\.1:9\/x does not answer: .*ECONNREFUSED/,
    ],
    [empty, { DATA_DIR: newer }, 1, /written by a newer version of the program \(migration 9999 tomorrow .*\(nothing was changed\)/],
    [empty, { DATA_DIR: older }, 1, /written by an earlier version: upgrade it first, with `npm run petstore -- migrate` \(nothing/],
    [
      empty,
      { DATA_DIR: lost },
      1,
      /the published file \S+\/content\/\S+ is absent: restore it from a backup first \(nothing was changed\)/,
    ],
    [empty, { DATA_DIR: absent }, 1, /there is no data to move: DATA_DIR=\S+ has no petstore\.db/],
    [empty, onPostgres, 2, /DATABASE_URL is set, so the data is in PostgreSQL already: unset it/],
    ["mysql://127.0.0.1/x", { DATA_DIR: dataDir }, 2, /--to must be a folder, or a postgres:\/\/ or postgresql:\/\/ URL/],
    [
      "postgres://shop:1/geheim@127.0.0.1/x",
      { DATA_DIR: dataDir },
      2,
      /--to must be a folder, or a URL whose user and password are percent-encoded/,
    ],
    [absent, { DATA_DIR: dataDir }, 2, /DATABASE_URL is not set: it names the database to move from/],
    [elsewhere, onPostgres, 1, /is not empty: it has letter\.txt; move into an empty folder/],
    [absent, onPostgres, 1, /the database of DATABASE_URL has no data of a pet store \(nothing was changed\)/],
    ["/proc/there", onPostgres, 1, /\/proc\/there cannot be made/],
  ];
  const before = rowsIn(dataDir);
  for (const [to, env, exitCode, reason] of cases) {
    const { code, out, error } = await moveTo(to, env);
    const said = error.split("\n").filter((line) => line.startsWith("petstore: "));
    assert.deepEqual([out, said.length], ["", 1], error);
    assert.equal(code, exitCode, error);
    assert.match(said[0] ?? "", reason);
    assert.doesNotMatch(error, /geheim|\n\s+at /);
  }
  assert.deepEqual(rowsIn(dataDir), before);
  assert.equal(await administer(empty, "SELECT FROM pg_tables WHERE schemaname = 'public'"), 0);
  assert.equal(existsSync(absent), false);
  assert.deepEqual(readdirSync(elsewhere), ["letter.txt"]);
});

test("a source that a server uses is not moved, and a full disk leaves the target as it was", async (t) => {
  const { dataDir } = await openSource(t);
  const url = await emptyDatabase(t);
  const service = await startService({ dataDir, env: { DATABASE_URL: "" } });
  const busy = await moveTo(url, { DATA_DIR: dataDir });
  assert.match(busy.error, /^petstore: \S+ is in use by petstore serve \(process \d+\)\n$/);
  await service.close();
  assert.equal((await moveTo(url, { DATA_DIR: dataDir })).code, 0);

  const folder = join(temporaryFolder(t), "back");
  const env = { DATABASE_URL: url, SECRETS_KEY: keyIn(dataDir) };
  const node = await startService({ env });
  const served = await moveTo(folder, env);
  assert.match(
    served.error,
    /petstore: a node serves the database: stop every node, and move again a few seconds later \(nothing was changed\)\n$/,
  );
  await node.close();

  const words = ["--fsize=200000", process.execPath, main, "move", "--to", folder];
  const full = spawnSync("prlimit", words, { env: { ...inherited(), ...env }, encoding: "utf8" });
  assert.deepEqual([full.status, full.stdout], [1, ""]);
  assert.match(full.stderr, /^petstore: [^\n]*(full|I\/O|EFBIG)[^\n]* \(nothing was changed\)\n$/m);
  assert.equal(existsSync(folder), false);
  assert.equal((await moveTo(folder, env)).code, 0);
});
