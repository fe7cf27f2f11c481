import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { migrationsFor } from "../src/platform/db/migrate.ts";
import { runCommand } from "./support/commands.ts";
import { random, runs } from "./support/fault-runs.ts";
import { addressOf, inherited, spawnServer } from "./support/process.ts";
import { requireServed, unpackRelease } from "./support/release.ts";
import { startService } from "./support/service.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const last = migrationsFor("sqlite").at(-1)!.number;
const kills = runs(2, 50);

const copiesIn = (dataDir: string): string[] => readdirSync(dataDir).filter((name) => name.startsWith("before-upgrade"));

/** Every row of every table but that of the migrations, as JSON. */
function rowsIn(file: string): Record<string, string> {
  const db = new DatabaseSync(file, { readOnly: true });
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations' ORDER BY name").all();
  const rows = names.map(({ name }) => [String(name), JSON.stringify(db.prepare(`SELECT * FROM "${String(name)}"`).all())]);
  assert.deepEqual({ ...db.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  db.close();
  return Object.fromEntries(rows) as Record<string, string>;
}

const numbersIn = (file: string): unknown[] => {
  const db = new DatabaseSync(file, { readOnly: true });
  const numbers = db.prepare("SELECT number FROM migrations ORDER BY number").all();
  db.close();
  return numbers.map(({ number }) => number);
};

/** Runs `petstore migrate` on a folder in this process. */
const migrated = (dataDir: string) => runCommand(["migrate", "--json"], { DATA_DIR: dataDir });

/** The same as a process, which another command runs. */
function migrateUnder(under: string[], dataDir: string) {
  const [command = "", ...args] = [...under, process.execPath, main, "migrate", "--json"].values();
  return spawnSync(command, args, { env: { ...inherited(), DATA_DIR: dataDir }, encoding: "utf8" });
}

test("a folder of release 1.0.0 upgrades in place: its data, keys, bans, counters, sign-ins and published pages stay the same", async (t) => {
  const release = unpackRelease(t);
  const { dataDir, now } = release;
  const before = rowsIn(join(dataDir, "petstore.db"));
  const service = await startService({
    usesOwnHashCost: true,
    dataDir,
    clock: () => now + 5_000,
    env: { PLATFORM_DOMAIN: "sites.test", EDGE_PUBLIC_HTTP_PORT: "27642" },
  });
  t.after(() => service.close());

  await requireServed(service, release, 1);

  const [copy = "", ...others] = copiesIn(dataDir);
  assert.match(copy, /^before-upgrade-0010-to-\d{4}-20261122T\d{6}Z\.db$/);
  assert.deepEqual(others, []);
  assert.equal(statSync(join(dataDir, copy)).mode & 0o777, 0o600);
  assert.deepEqual(rowsIn(join(dataDir, copy)), before, "the copy has all that 1.0.0 had");
});

test("an upgrade names the copy that it made; a start without migrations makes none, and only the last two copies stay", async (t) => {
  const { dataDir } = unpackRelease(t);
  const file = join(dataDir, "petstore.db");
  const server = spawnServer(t, dataDir);
  await addressOf(server);
  const line = await server.logged(({ msg }) => msg?.startsWith("the database was upgraded") ?? false);
  const { copy } = line as typeof line & { copy: string };
  await server.logged(({ msg }) => msg === `Copying the database to ${copy} before its upgrade`);
  await server.logged(({ msg }) => msg === "Upgrading the database (0058 rows_in_order), step 1 of 5: the orders");
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  assert.deepEqual(
    copiesIn(dataDir).map((name) => join(dataDir, name)),
    [copy],
  );
  assert.equal((await migrated(dataDir)).out, '{"migrated":[],"copy":null}\n');
  assert.equal(copiesIn(dataDir).length, 1);

  // An upgrade whose first migration fails, here because its table is there already.
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM migrations WHERE number > 22");
  db.close();
  const years = ["2023", "2024", "2025"].map((year) => `before-upgrade-0010-to-0022-${year}0101T000000Z.db`);
  for (const name of years) copyFileSync(copy, join(dataDir, name));
  rmSync(copy);
  for (let attempt = 0; attempt < 2; attempt++) {
    assert.equal((await migrated(dataDir)).code, 1);
    const [latest, own = "", ...others] = copiesIn(dataDir).toSorted();
    assert.deepEqual([latest, others], [years[2], []]);
    assert.match(own, /^before-upgrade-0022-to-/);
  }
});

test("data of a newer version is refused with the way back, which works as it is printed", async (t) => {
  const { dataDir, key } = unpackRelease(t);
  const file = join(dataDir, "petstore.db");
  assert.equal((await migrated(dataDir)).code, 0);
  const db = new DatabaseSync(file);
  db.exec(`INSERT INTO migrations (number, name, applied_at) VALUES (${last + 1}, 'tomorrow', 1)`);
  db.close();
  const refused = spawnServer(t, dataDir);
  assert.equal(await refused.ended, 1);
  assert.equal(refused.out(), "");
  const [, folder = "", commands = ""] =
    /^petstore: the data was written by a newer version of the program \(migration \d{4} tomorrow [^\n]*\): start that version, or go back [^\n]*: in (\S+), (mkdir [^\n]*)\n$/.exec(
      refused.err(),
    ) ?? assert.fail(refused.err());
  assert.equal(folder, dataDir);
  execFileSync("sh", ["-c", commands], { cwd: folder });
  const server = spawnServer(t, dataDir);
  const address = await addressOf(server);
  assert.equal((await fetch(`${address}/v1/pets`, { headers: { "x-api-key": key } })).status, 200);
  assert.ok(numbersIn(join(dataDir, "set-aside", "petstore.db")).includes(last + 1), "the newer data is set aside");
});

test("a disk without room for the copy refuses the start with one line and changes nothing", async (t) => {
  const { dataDir } = unpackRelease(t);
  const before = readFileSync(join(dataDir, "petstore.db"));
  const names = readdirSync(dataDir).filter((name) => !name.startsWith("petstore."));
  const { status, stdout, stderr } = migrateUnder(["prlimit", "--fsize=200000"], dataDir);
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /copied to \S+before-upgrade-\S+ before its upgrade \([^\n]*\): nothing was changed; make room for a copy[^\n]*\n$/);
  assert.equal(stderr.split("\n").length, 2, stderr);
  assert.deepEqual(readFileSync(join(dataDir, "petstore.db")), before);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => !name.startsWith("petstore.")),
    names,
  );
  assert.equal((await migrated(dataDir)).code, 0);
});

test("an upgrade that is killed at any write loses nothing, and the next start completes it", async (t) => {
  const whole = unpackRelease(t);
  const original = rowsIn(join(whole.dataDir, "petstore.db"));
  const trace = join(whole.dataDir, "..", "trace");
  const tracing = ["strace", "-D", "-f", "-o", trace, "-e", "trace=pwrite64"];
  assert.equal(migrateUnder(tracing, whole.dataDir).status, 0);
  const writes = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.includes("pwrite64(")).length;
  const upgraded = rowsIn(join(whole.dataDir, "petstore.db"));
  assert.ok(writes > 50, String(writes));

  for (let round = 0; round < kills; round++) {
    const { dataDir } = unpackRelease(t);
    const file = join(dataDir, "petstore.db");
    const at = random(1, writes);
    const killed = migrateUnder([...tracing, "-e", `inject=pwrite64:signal=SIGKILL:when=${at}`], dataDir);
    assert.notEqual(killed.status, 0, `not killed at write ${at}`);
    assert.equal((await migrated(dataDir)).code, 0, `after a kill at write ${at}`);
    assert.deepEqual(rowsIn(file), upgraded, `after a kill at write ${at}`);
    assert.deepEqual(
      numbersIn(file),
      migrationsFor("sqlite").map(({ number }) => number),
    );
    const [copy = "", ...others] = copiesIn(dataDir);
    assert.deepEqual(others, [], "one copy, and no unfinished one");
    assert.deepEqual(rowsIn(join(dataDir, copy)), original, `the copy, after a kill at write ${at}`);
  }
});
