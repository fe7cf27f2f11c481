import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import sql from "sql-template-tag";
import { settleRestore } from "../src/backup/restore-state.ts";
import { systemClock } from "../src/platform/clock.ts";
import { contentsOf, done, publish, settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { createAccount, inherited } from "./support/process.ts";
import { engine, startService, testOnce, type TestService } from "./support/service.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const kills = runs(engine === "sqlite" ? 2 : 1, 50);
/** A restore is killed while it writes them. */
const usageRows = runs(5_000, 20_000);

let service: TestService;
let env: Record<string, string>;
before(async () => {
  service = await startService();
  env = await settingsOf(service.dataDir);
  await publish(service, "rex", { "index.html": "Rex ".repeat(20_000) });
  await service.db.write((tx) =>
    tx.query(sql`INSERT INTO usage (account_id, step, kind, start, name, requests, refused, banned)
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${usageRows})
      SELECT ${service.accountId}, 86400000, 'key', CAST(${systemClock()} AS BIGINT) + number, 'a name that takes some room', number, 0, 0 FROM numbers`),
  );
});
after(() => service.close());

type Run = { code: number | null; error: string; ms: number };

/** Runs a command in a process, and kills it after a time. */
async function run(settings: Record<string, string>, killAfterMs: number | undefined, ...words: string[]): Promise<Run> {
  const begun = performance.now();
  const child = spawn(process.execPath, [main, ...words], { env: { ...inherited(), ...settings }, stdio: ["ignore", "ignore", "pipe"] });
  let error = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (error += text));
  const stop = new AbortController();
  const ended = once(child, "close");
  if (killAfterMs !== undefined) {
    sleep(killAfterMs, undefined, { signal: stop.signal }).then(
      () => child.kill("SIGKILL"),
      () => undefined,
    );
  }
  const [code] = (await ended) as [number | null];
  stop.abort();
  return { code, error, ms: performance.now() - begun };
}

test(`a backup that is killed at any of ${kills} moments leaves no file with its name or a complete one, and can be repeated`, async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "backup");
  const { code, error, ms } = await run(env, undefined, "backup", file);
  assert.equal(code, 0, error);
  for (let tries = kills; tries > 0; tries--) {
    rmSync(file);
    await run(env, random(0, Math.ceil(ms)), "backup", file);
    if (!existsSync(file)) await done(env, "backup", file);
    assert.equal((await done<{ whole: boolean }>({}, "verify", file)).whole, true);
  }
  rmSync(file);
  await done(env, "backup", file);
  assert.deepEqual(readdirSync(folder), ["backup"]);
  assert.deepEqual(
    readdirSync(service.dataDir).filter((name) => name.startsWith("petstore.backup-")),
    [],
  );
  assert.equal((await done<{ whole: boolean }>(env, "verify")).whole, true);
});

/** The number of rows of usage: one in the old state, all in the new one; undefined if there is no state. */
async function stateOf(place: Record<string, string>): Promise<number | undefined> {
  const { code, out, error } = await runCommand(["verify", "--json"], place);
  if (code !== 0 && /has no data|"migrations" does not exist/.test(error)) return undefined;
  assert.equal(code, 0, out + error);
  return (JSON.parse(out) as { rows: Record<string, number> }).rows["usage"];
}

test(`a restore that is killed at any of ${kills} moments leaves the old state or the new one, and can be repeated`, async (t) => {
  const file = join(temporaryFolder(t), "new");
  const dataDir = join(temporaryFolder(t), "data");
  const place: Record<string, string> = { DATA_DIR: dataDir, ...(env["SECRETS_KEY"] && { SECRETS_KEY: env["SECRETS_KEY"] }) };
  if (engine === "postgres") {
    const { url, drop } = await newDatabase(dataDir);
    t.after(drop);
    place["DATABASE_URL"] = url;
  }
  const old = join(temporaryFolder(t), "old");
  const oldFolder = join(temporaryFolder(t), "data");
  await createAccount(oldFolder);
  await done({ DATA_DIR: oldFolder }, "backup", old);
  await done(env, "backup", file);
  const { code, error, ms } = await run(place, undefined, "restore", file);
  assert.equal(code, 0, error);
  const whole = await stateOf(place);
  assert.ok(whole! >= usageRows);
  for (let tries = kills; tries > 0; tries--) {
    await done(place, "restore", old, "--replace");
    const oldRows = await stateOf(place);
    assert.ok(oldRows! < usageRows);
    await run(place, random(0, Math.ceil(ms * 1.1)), "restore", file, "--replace");
    const found = await stateOf(place);
    assert.ok(found === oldRows || found === whole, `${found} rows are neither ${oldRows} nor ${whole}`);
    await done(place, "restore", file, "--replace");
    assert.equal(await stateOf(place), whole);
    for (const name of readdirSync(dirname(dataDir)).filter((one) => one.includes(".replaced-")))
      rmSync(join(dirname(dataDir), name), { recursive: true });
  }
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => /restor/.test(name)),
    [],
  );
});

/** A data folder whose complete restore was killed between two moves. */
function between(t: TestContext, moved: { old: number; new: number }, journal: { isAside: boolean }): { dataDir: string; aside: string } {
  const dataDir = join(temporaryFolder(t), "data");
  const aside = `${dataDir}.replaced-1`;
  for (const folder of [aside, join(dataDir, "petstore.restoring")]) mkdirSync(folder, { recursive: true });
  const files = ["content", "limits.state", "petstore.db", "petstore.db-wal", "secrets.key"];
  files.forEach((name, at) => writeFileSync(join(at < moved.old ? aside : dataDir, name), "old"));
  const built = ["content", "secrets.key", "petstore.db"];
  built.forEach((name, at) => writeFileSync(join(at < moved.new ? dataDir : join(dataDir, "petstore.restoring"), name), "new"));
  writeFileSync(join(dataDir, "petstore.restored"), JSON.stringify({ aside, ...journal }));
  return { dataDir, aside };
}

testOnce("a complete restore that was killed between any two moves is finished by the next command or service", async (t) => {
  const moments: [number, number, boolean][] = [
    ...[0, 1, 2, 3, 4, 5].map((old): [number, number, boolean] => [old, 0, false]),
    ...[0, 1, 2, 3].map((fresh): [number, number, boolean] => [5, fresh, true]),
  ];
  for (const [old, fresh, isAside] of moments) {
    const { dataDir, aside } = between(t, { old, new: fresh }, { isAside });
    await settleRestore(dataDir);
    const texts = (folder: string) =>
      Object.entries(contentsOf(folder))
        .map(([path, text]) => `${basename(path)} ${Buffer.from(text, "base64").toString()}`)
        .toSorted();
    assert.deepEqual(texts(dataDir), ["content new", "petstore.db new", "secrets.key new"]);
    assert.deepEqual(texts(aside), ["content old", "limits.state old", "petstore.db old", "petstore.db-wal old", "secrets.key old"]);
    assert.deepEqual(readdirSync(dataDir).toSorted(), ["content", "petstore.db", "secrets.key"]);
  }
});
