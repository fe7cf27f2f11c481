import assert from "node:assert/strict";
import { writeFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import pg from "pg";
import { runCommand, type Ended } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { addressOf, keyIn, spawnServer, type ServerProcess } from "./support/process.ts";
import { startRedis } from "./support/redis-process.ts";
import { ask, secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

type WorkerLine = { msg?: string; pid?: number; worker?: number };

/** Two workers on a PostgreSQL and a Redis of their own. */
async function startWorkers(t: TestContext, env: Record<string, string> = {}) {
  const database = await newDatabase(undefined, { migrated: true });
  const redis = await startRedis();
  const dataDir = join(temporaryFolder(t), "data");
  const shared = { DATABASE_URL: database.url, REDIS_URL: redis.url, SECRETS_KEY: secretsKey, DATA_DIR: dataDir };
  const servers: ServerProcess[] = [];
  t.after(async () => {
    await Promise.all(servers.map((server) => (server.kill("SIGKILL"), server.ended)));
    await Promise.all([database.drop(), redis.remove()]);
  });
  const start = (more: Record<string, string> = {}): ServerProcess => {
    const server = spawnServer(t, dataDir, { ...shared, WORKERS: "2", ...env, ...more });
    servers.push(server);
    return server;
  };
  const petstore = (more: Record<string, string>, ...words: string[]) => runCommand(words, { ...shared, ...more });
  return { start, petstore, dataDir, database };
}

/** The process of a worker that was started last. */
function pidOf(server: ServerProcess, worker: number): number {
  const line = (server.log() as WorkerLine[]).findLast((one) => one.msg === "starting a worker" && one.worker === worker);
  return line?.pid ?? assert.fail(`worker ${worker} was not started`);
}

async function metricsAt(address: string): Promise<string> {
  return (await fetch(`${address}/metrics`)).text();
}

const isUp = (metrics: string, worker: number): boolean => metrics.includes(`petstore_worker_up{worker="${worker}"} 1`);

const bothUp = (address: string) =>
  until(async () => {
    const metrics = await metricsAt(address).catch(() => "");
    return isUp(metrics, 1) && isUp(metrics, 2);
  });

/** Whether a process runs. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A key of an account with 200 requests a day. */
async function smallKey(petstore: (more: Record<string, string>, ...words: string[]) => Promise<Ended>): Promise<string> {
  const figures = ["--plan", "enterprise", "--per-minute", "100000", "--per-day", "200"];
  const made = await petstore({}, "accounts", "create", "--name", "Small", ...figures, "--json");
  assert.equal(made.code, 0, made.error);
  return (JSON.parse(made.out) as { key: string }).key;
}

/** Fails unless both workers answer at one address and count this key's requests together, while one of them is killed and started again. */
async function requireSharedWork(server: ServerProcess, key: string): Promise<void> {
  const address = await addressOf(server);
  const metrics = await metricsAt(address);
  assert.equal(metrics.match(/^# TYPE process_start_time_seconds gauge$/gm)?.length, 1);
  assert.equal(metrics.match(/^process_start_time_seconds\{worker="[12]"\} \d/gm)?.length, 2);
  const call = () =>
    ask(`${address}/v1/pets`, "GET", { key, headers: { connection: "close" } }).then(
      ({ status }) => status,
      () => 0,
    );
  const victim = pidOf(server, 2);
  const answers: number[] = [];
  for (let batch = 0; batch < 12; batch++) {
    if (batch === 4) process.kill(victim, "SIGKILL");
    answers.push(...(await Promise.all(Array.from({ length: 25 }, call))));
  }
  const count = (status: number): number => answers.filter((one) => one === status).length;
  const [passed, refused, lost] = [count(200), count(429), count(0)];
  assert.equal(passed + refused + lost, answers.length, answers.join(" "));
  assert.ok(passed <= 200 && passed + lost >= 200, `${passed} passed, ${lost} were lost with their worker`);
  assert.ok(lost <= 25, `${lost} lost: the other worker went on`);
  assert.equal(await call(), 429);

  await server.logged(({ msg }) => msg === "a worker ended; starting it again");
  await bothUp(address);
  assert.notEqual(pidOf(server, 2), victim);
}

// at once, because they mostly wait for the pauses between two starts; the one that waits longest is the first
suite("two workers of one service", { concurrency: 3 }, () => {
  test("a schema of a newer release ends all workers in one line: at once at the start, and after five failed starts of one that ran", async (t) => {
    const { start, database } = await startWorkers(t);
    const running = start();
    await running.logged(() => running.log().filter(({ msg }) => msg === "started").length === 2);
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query("INSERT INTO migrations (number, name, applied_at) VALUES (9999, 'later', 0)");
    await client.end();
    process.kill(pidOf(running, 2), "SIGKILL");

    const line = /^petstore: the data was written by a newer version of the program [^\n]+\n$/;
    assert.equal(await running.ended, 1);
    const said = running.err().split(/(?<=\n)/);
    assert.equal(said.length, 5);
    for (const one of said) assert.match(one, line);

    const refused = start();
    assert.equal(await refused.ended, 1);
    assert.match(refused.err(), line);
    assert.equal(refused.log().filter(({ msg }) => msg === "starting a worker").length, 1);
  });

  test("two workers of one supervisor", async (t) => {
    const file = join(temporaryFolder(t), "env");
    writeFileSync(file, "DRAIN_SECONDS=3600\n");
    const { start, petstore, dataDir } = await startWorkers(t, { ENV_FILE: file });
    const server = start();
    const count = (wanted: string): number => server.log().filter(({ msg }) => msg === wanted).length;

    await t.test("neither end nor are lost when they are signalled while they start", async () => {
      for (let starts = 1; starts <= 2; starts++) {
        await server.logged(() => count("starting a worker") === starts);
        server.kill("SIGHUP");
      }
      await bothUp(await addressOf(server));
      assert.equal(count("a worker ended; starting it again"), 0);
    });

    await t.test("share the ports, limits stay exact over them while one is killed, and it is started again", async () => {
      const key = await smallKey(petstore);
      await requireSharedWork(server, key);
      process.kill(pidOf(server, 2), "SIGKILL");
      const ends = () =>
        (server.log() as (WorkerLine & { nextMs?: number })[]).flatMap(({ msg, nextMs }) =>
          msg?.startsWith("a worker ended") ? [nextMs] : [],
        );
      await server.logged(() => ends().length === 2);
      assert.deepEqual(ends(), [500, 1_000], "the pauses grow");
      assert.equal(server.err(), "");
    });

    await t.test("are not lost either when they are signalled while one is started again", async () => {
      await server.logged(() => count("starting a worker") === 4);
      const reloaded = count("reloaded");
      server.kill("SIGHUP");
      await server.logged(() => count("reloaded") > reloaded);
      await bothUp(await addressOf(server));
      assert.equal(count("a worker ended; starting it again"), 2);
    });

    await t.test("all get signals: SIGHUP reloads, SIGTERM drains, a second one ends them at once", async () => {
      const address = await addressOf(server);
      const pids = [pidOf(server, 1), pidOf(server, 2)];
      const reloaded = count("reloaded");
      server.kill("SIGHUP");
      await until(() => count("reloaded") >= reloaded + 2);
      server.kill("SIGTERM");
      await until(() => count("draining") === 2);
      assert.equal((await fetch(`${address}/readyz`)).status, 503);
      assert.equal((await ask(`${address}/v1/account`, "GET", { key: keyIn(server.out()) })).status, 200);
      await new Promise((resolve) => setTimeout(resolve, 600)); // a signal that comes sooner is the same one
      server.kill("SIGTERM");
      assert.equal(await server.ended, 1);
      await until(() => !pids.some(lives));

      writeFileSync(file, "DRAIN_SECONDS=0\n");
      const second = start();
      await bothUp(await addressOf(second));
      second.kill("SIGTERM");
      assert.equal(await second.ended, 0);
      assert.equal(second.log().filter(({ msg }) => msg === "stopped").length, 2);
    });

    await t.test("stop in order when SIGTERM comes while one starts", async () => {
      const starting = start();
      await starting.logged(() => starting.log().filter(({ msg }) => msg === "starting a worker").length === 2);
      starting.kill("SIGTERM");
      assert.equal(await starting.ended, 0);
      assert.equal(starting.log().filter(({ msg }) => msg?.startsWith("a worker ended")).length, 0);
    });

    await t.test("end when the supervisor is killed", async () => {
      const third = start();
      await bothUp(await addressOf(third));
      const orphans = [pidOf(third, 1), pidOf(third, 2)];
      third.kill("SIGKILL");
      await until(() => !orphans.some(lives));

      const elsewhere = join(dataDir, "..", "elsewhere");
      const listed = await petstore({ DATA_DIR: elsewhere }, "accounts", "list", "--json");
      assert.equal(listed.code, 0, listed.error);
      assert.equal(existsSync(elsewhere), false, "a command on PostgreSQL needs no folder");
    });
  });

  test("if a worker cannot start, all end, and one line says why", async (t) => {
    const { start, dataDir } = await startWorkers(t);
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "worker-2"), "");
    const server = start();
    assert.equal(await server.ended, 1);
    assert.match(server.err(), /^petstore: DATA_DIR=[^\n]+worker-2 is not a folder\n$/);
    rmSync(join(dataDir, "worker-2"));

    const taken = start({ DATABASE_URL: "postgres://petstore@127.0.0.1:1/petstore?sslmode=verify-full&sslrootcert=/nowhere" });
    assert.equal(await taken.ended, 1);
    assert.match(taken.err(), /^petstore: DATABASE_URL=[^\n]+\n$/);
  });
});
