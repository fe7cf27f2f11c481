import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { UpgradeForecast } from "../src/app/upgrade-check.ts";
import { unfinishedTable } from "../src/backup/manifest.ts";
import { migrate, migrationsFor } from "../src/platform/db/migrate.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { isTooOld } from "../src/platform/nodes/node-releases.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { jumpingClock } from "./support/jumping-clock.ts";
import { startPostgres } from "./support/postgres-process.ts";
import { administer, columnOf, newDatabase, rowsOf } from "./support/postgres.ts";
import { checkOut } from "./support/previous-release.ts";
import { addressOf, inherited, spawnServer } from "./support/process.ts";
import { secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const [lastOf110, lastOf120] = [24, 56];

async function check(env: Record<string, string>): Promise<UpgradeForecast & { code: number; text: string }> {
  const [{ code, out, error }, { out: text }] = [
    await runCommand(["upgrade", "--check", "--json"], env),
    await runCommand(["upgrade", "--check"], env),
  ];
  assert.equal(error, "");
  return { ...(JSON.parse(out) as UpgradeForecast), code, text: text.trimEnd() };
}

const namesAfter = (last: number, engine: "sqlite" | "postgres") =>
  migrationsFor(engine)
    .filter(({ number }) => number > last)
    .map(({ number, name }) => `${String(number).padStart(4, "0")} ${name}`);

/** A service of release 1.2.0. */
async function startRelease(t: TestContext, dataDir: string, env: Record<string, string> = {}) {
  const server = spawnServer(t, dataDir, { DNS_SERVERS: "127.0.0.1:9", ...env }, [], checkOut("1.2.0"));
  await addressOf(server);
  return server;
}

const sizesIn = (folder: string): [string, number][] =>
  readdirSync(folder).map((name) => [name, statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0]);
const bytesIn = (folder: string): number => sizesIn(folder).reduce((sum, [, bytes]) => sum + bytes, 0);

/** Adds animals and orders, enough that the file is far larger than an empty one. */
function fill(file: string): void {
  const db = new DatabaseSync(file);
  const ids = "WITH RECURSIVE ids (id) AS (SELECT 100 UNION ALL SELECT id + 1 FROM ids WHERE id < 50000)";
  db.exec(`
    INSERT INTO categories (account_id, id, name, name_key, version) VALUES (1, 100, 'Dogs', 'dogs', 1);
    INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) ${ids} SELECT 1, id, 'Rex', 'rex', 100, 'sold', 1 FROM ids;
    INSERT INTO orders (account_id, id, quantity, held, complete, version) ${ids} SELECT 1, id, 1, 0, FALSE, 1 FROM ids;`);
  db.close();
}

test("for a folder of 1.2.0 the check names the migrations, the space and the running service, changes nothing, and the upgrade then does that", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const server = await startRelease(t, dataDir);
  const running = await check({ DATA_DIR: dataDir });
  assert.deepEqual([running.code, running.ready, running.notes], [0, true, ["the service runs: stop it before the upgrade"]]);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  fill(join(dataDir, "petstore.db"));

  const before = sizesIn(dataDir);
  const stopped = await check({ DATA_DIR: dataDir });
  assert.deepEqual(sizesIn(dataDir), before);
  assert.deepEqual([stopped.code, stopped.notes, stopped.problems], [0, [], []]);
  assert.deepEqual(
    stopped.pending.map(({ migration }) => migration),
    namesAfter(lastOf120, "sqlite"),
  );
  assert.match(
    stopped.text,
    /0058 rows_in_order: rewrites orders \(49901 rows, \d+ MiB\).*\n(?:.*\n)*Time: .*\nSpace: \d+ MiB, of [\d.]+ \wiB free\.\nThe upgrade can go on\.$/,
  );

  const start = bytesIn(dataDir);
  const upgrading = spawn(process.execPath, [main, "upgrade", "--json"], {
    env: { ...inherited(), DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let out = "";
  upgrading.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, bytesIn(dataDir) - start)), 5);
  const [code] = (await once(upgrading, "close")) as [number];
  clearInterval(sampling);
  assert.equal(code, 0);
  const { migrated } = JSON.parse(out) as { migrated: string[] };
  assert.deepEqual(
    stopped.pending.map(({ migration }) => migration.slice(5)),
    migrated,
  );
  const { neededBytes } = stopped.space;
  assert.ok(most > neededBytes / 2 && most < neededBytes * 2, `${neededBytes} bytes were predicted, and ${most} taken`);
  const after = await check({ DATA_DIR: dataDir });
  assert.deepEqual([after.code, after.text], [0, "Nothing to apply.\nThe upgrade can go on."]);
});

/** Stores of earlier releases: the number of the last migration, and how many animals and orders they have. */
const stores = [
  { last: 22, records: 0 },
  { last: lastOf110, records: 0 },
  { last: lastOf120, records: 0 },
  { last: lastOf110, records: 30_000 },
];

/** A database with the tables of an earlier release. */
async function newStore(server: string, { last, records }: (typeof stores)[0]): Promise<string> {
  await administer(server, `CREATE DATABASE store_${last}_${records}`);
  const url = server.replace(/\w+$/, `store_${last}_${records}`);
  const db = openPostgres(url, { onError: () => undefined });
  await migrate(
    db,
    Date.now(),
    migrationsFor("postgres").filter(({ number }) => number <= last),
  );
  await db.close();
  if (records === 0) return url;
  await administer(
    url,
    "INSERT INTO accounts (id, name, plan, per_minute, per_day, created_at) VALUES (1, 'Shop', 'enterprise', 100, 100, 0)",
  );
  await administer(url, "INSERT INTO categories (account_id, id, name, name_key, version) VALUES (1, 1, 'Dogs', 'dogs', 1)");
  await administer(
    url,
    `INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
     SELECT 1, i, 'Rex the ' || i, 'rex the ' || i, 1, 'sold', 1 FROM generate_series(1, ${records}) AS i`,
  );
  await administer(
    url,
    `INSERT INTO orders (account_id, id, quantity, held, complete, version) SELECT 1, i, 1, 0, FALSE, 1 FROM generate_series(1, ${records}) AS i`,
  );
  await administer(url, "ANALYZE");
  return url;
}

test("on PostgreSQL, for small and large stores of earlier releases, the predicted space and log are within a factor of two of what the upgrade takes", async (t) => {
  const server = await startPostgres(["fsync=off", "autovacuum=off"]); // its log has nothing of other tests
  t.after(() => server.remove());
  for (const store of stores) {
    const url = await newStore(server.url, store);
    const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, DATA_DIR: join(temporaryFolder(t), "data") };
    const number = async (text: string): Promise<number> => Number((await columnOf(url, text))[0]);
    const sizes = async () => ({
      database: await number("SELECT pg_database_size(current_database())"),
      log: await number("SELECT pg_current_wal_insert_lsn() - '0/0'"),
    });
    await administer(url, "CHECKPOINT");
    const [forecast, before] = [await check(env), await sizes()];
    const upgraded = await runCommand(["upgrade", "--json"], env);
    assert.equal(upgraded.code, 0, upgraded.error);
    const after = await sizes();
    const log = after.log - before.log;
    const { neededBytes, logBytes } = forecast.space;
    for (const [predicted, taken] of [
      [neededBytes, after.database - before.database + log],
      [logBytes ?? 0, log],
    ] as const)
      assert.ok(
        predicted > taken / 2 && predicted < taken * 2,
        `${JSON.stringify(store)}: ${predicted} bytes were predicted, and ${taken} taken`,
      );
    const [, bound] = /^Time: up to (\d+) seconds\.$/m.exec(forecast.text) ?? assert.fail(forecast.text);
    assert.equal(Number(bound), 2 * forecast.seconds);
    assert.ok(forecast.seconds >= 3, "the start and the migrations take time even without records");
    if (store.records > 0) assert.match(forecast.text, /0038 words_of_pets: .*makes rows from pets \(30000 rows, \d+ MiB\)/);
  }
});

test("data of another program stops the upgrade, and a folder without data is left without", async (t) => {
  const folder = temporaryFolder(t);
  const absent = join(folder, "absent");
  const none = await check({ DATA_DIR: absent });
  assert.deepEqual([none.code, none.pending, readdirSync(folder)], [0, [], []]);

  const db = new DatabaseSync(join(folder, "petstore.db"));
  db.exec(
    "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT, applied_at BIGINT); INSERT INTO migrations VALUES (9999, 'later', 0)",
  );
  db.close();
  const newer = await check({ DATA_DIR: folder });
  assert.equal(newer.code, 1);
  assert.match(String(newer.problems[0]), /written by a newer version/);
  assert.match(newer.text, /^STOPS: .*\nThe upgrade cannot go on\.$/);
});

test("on PostgreSQL the check names nodes, open transactions and the missing backup while 1.2.0 serves, and nodes that are too old stop it", async (t) => {
  const { url, drop } = await newDatabase();
  const report = new pg.Client({ connectionString: url, application_name: "report" });
  t.after(async () => {
    await report.end();
    await drop();
  });
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, DATA_DIR: join(temporaryFolder(t), "data") };
  await startRelease(t, join(temporaryFolder(t), "data"), { DATABASE_URL: url, SECRETS_KEY: secretsKey });
  await report.connect();
  await report.query("BEGIN; SELECT 1 FROM own_challenges, categories");

  const migrations = await rowsOf(url, "migrations");
  await until(async () => (await check(env)).transactions.length > 0);
  const forecast = await check(env);
  assert.equal(await rowsOf(url, "migrations"), migrations);
  assert.deepEqual([forecast.code, forecast.problems, forecast.space.freeBytes], [0, [], null]);
  assert.deepEqual(
    forecast.pending.map(({ migration }) => migration),
    namesAfter(lastOf120, "postgres"),
  );
  assert.deepEqual(
    forecast.nodes.map(({ release, isTooOld: old }) => [release, old]),
    [["1.2.0", false]],
  );
  assert.ok(forecast.transactions.some(({ application, table }) => application === "report" && table === "own_challenges"));
  assert.match(
    forecast.text,
    /Note: the upgrade will wait for an open transaction: pid \d+ \(report\) has held the table own_challenges since .*\n(?:Note: .*\n)*Note: no backup is recorded/,
  );

  await administer(
    url,
    "INSERT INTO nodes (id, lease_until, seen) VALUES ('old/1', 9007199254740991, 0); ALTER TABLE nodes ADD release TEXT; UPDATE nodes SET release = '0.9.3' WHERE id = 'old/1'",
  );
  const refused = await check(env);
  assert.equal(refused.code, 1);
  assert.match(
    refused.text,
    /STOPS: a node of release 0\.9\.3 serves this database, and cannot run beside [\d.]+: old\/1.*: stop them all before the upgrade\.\nThe upgrade cannot go on\.$/,
  );
});

test("on PostgreSQL the check says what would stop the start: a clock, an unfinished copy, missing rights, a server without writes", async (t) => {
  const { url, drop } = await newDatabase();
  const role = `other_${process.pid}`;
  t.after(async () => {
    await administer(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await drop();
  });
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, DATA_DIR: temporaryFolder(t) };
  const db = openPostgres(url, { onError: () => undefined });
  const earlier = migrationsFor("postgres").filter(({ number }) => number <= lastOf120);
  await migrate(db, Date.now(), earlier);
  await db.close();
  assert.deepEqual((await check(env)).problems, []);
  const clock = jumpingClock(t);
  clock.jump("+3h");
  const { NODE_OPTIONS: _, ...jumped } = clock.env;
  const { status, stdout } = spawnSync(process.execPath, [main, "upgrade", "--check"], { env: { ...inherited(), ...env, ...jumped } });
  assert.equal(status, 1);
  assert.match(stdout.toString(), /^STOPS: the clock of this machine is 3\.0 hours ahead of that of PostgreSQL/m);

  await administer(url, `CREATE TABLE ${unfinishedTable} (at BIGINT)`);
  const copied = await check(env);
  assert.deepEqual([copied.code, copied.problems.length], [1, 1]);
  assert.match(copied.text, /STOPS: the database of DATABASE_URL has an unfinished copy: .*\nThe upgrade cannot go on\.$/);
  await administer(url, `DROP TABLE ${unfinishedTable}`);

  const name = new URL(url).pathname.slice(1);
  await administer(url, `CREATE ROLE ${role} LOGIN PASSWORD 'other'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
  const asOther = new URL(url);
  [asOther.username, asOther.password] = [role, "other"];
  const { problems } = await check({ ...env, DATABASE_URL: asOther.href });
  assert.match(problems.join("\n"), /may not create tables: .*\n.* does not own the table accounts/);

  await administer(url, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  assert.deepEqual((await check(env)).problems, [
    "PostgreSQL takes no writes: it is a standby or read-only: set DATABASE_URL to the primary, or promote this server",
  ]);
  await administer(url.replace(name, "postgres"), `ALTER DATABASE "${name}" RESET default_transaction_read_only`);
});

test("nodes of one minor version and of the next run together, and no others", () => {
  for (const [release, own, tooOld] of [
    ["1.0.0", "1.2.0", true],
    ["1.1.4", "1.2.0", false],
    ["1.2.0", "1.2.1", false],
    ["1.1.0", "1.3.0", true],
    ["1.9.0", "1.10.0", false],
    ["1.9.0", "2.0.0", true],
    ["1.3.0", "1.2.0", false],
  ] as const)
    assert.equal(isTooOld(release, own), tooOld, `${release} beside ${own}`);
});
