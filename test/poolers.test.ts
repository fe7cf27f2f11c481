import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import pg from "pg";
import { AccessError } from "../src/platform/db/postgres-errors.ts";
import { openSession } from "../src/platform/db/postgres-sessions.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { poolModes, startPgbouncer, type PgbouncerProcess } from "./support/pgbouncer-process.ts";
import { startPostgres, type PostgresProcess } from "./support/postgres-process.ts";
import { administer } from "./support/postgres.ts";
import { spawnServer } from "./support/process.ts";
import { refusals } from "./support/refusals.ts";
import { secretsKey, startService } from "./support/service.ts";
import { until } from "./support/until.ts";

/** What every refusal says. */
const advice =
  /PostgreSQL at 127\.0\.0\.1:\d+\/postgres is behind a pooler .*set its pool mode to session, or connect to PostgreSQL directly/;

let server: PostgresProcess;
before(async () => {
  server = await startPostgres(["fsync=off"]);
});
after(() => server.remove());

async function poolerFor(t: TestContext, settings: Record<string, string>): Promise<PgbouncerProcess> {
  const pooler = await startPgbouncer(server.url, { default_pool_size: "40", ...settings });
  t.after(() => pooler.remove());
  return pooler;
}

for (const reset of ["DISCARD ALL", ""]) {
  test(`behind a pooler in session mode, with server_reset_query=${reset}, services serve one after the other`, async (t) => {
    const pooler = await poolerFor(t, { pool_mode: "session", server_reset_query: reset });
    const env = { DATABASE_URL: pooler.through(server.url), SECRETS_KEY: secretsKey };
    for (let i = 0; i < 2; i++) {
      const service = await startService({ env });
      try {
        const names = Array.from({ length: 20 }, (_, j) => `${reset} ${i} ${j}`);
        const made = await Promise.all(names.map((name) => service.ask("POST", "/categories", { body: { name } })));
        for (const { status } of made) assert.equal(status, 201);
        // numbered by one node's worker, which a notification wakes
        await until(async () => (await service.ask<{ position: number }>("GET", "/events/checkpoint")).body.position >= names.length);
      } finally {
        await service.close();
      }
    }
    const { code, out } = await runCommand(["doctor"], {
      ...env,
      DATA_DIR: temporaryFolder(t),
      PORT: "0",
      EDGE_HTTP_PORT: "0",
      EDGE_HTTPS_PORT: "0",
    });
    assert.equal(code, 0, out);
  });
}

for (const mode of poolModes.filter((one) => one !== "session")) {
  test(`${mode} mode is refused in one line that says what to do: by a start, and by every command that uses DATABASE_URL`, async (t) => {
    const pooler = await poolerFor(t, { pool_mode: mode });
    const folder = temporaryFolder(t);
    const url = pooler.through(server.url);
    const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, DATA_DIR: folder };
    const file = join(folder, "shop.backup");
    const words = [["serve"], ["verify"], ["backup", file], ["move", "--to", join(folder, "copy")]];
    for (const line of await refusals(words.map((one) => ({ words: one, env })))) {
      assert.match(line, advice);
      assert.ok(!line.includes(decodeURIComponent(new URL(url).password)));
    }
    const { code, out } = await runCommand(["doctor", "--json"], { ...env, PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" });
    assert.equal(code, 1);
    const { findings } = JSON.parse(out) as { findings: { check: string; level: string; message: string }[] };
    assert.match(findings.find(({ check, level }) => check === "database" && level === "fault")?.message ?? "", advice);
  });

  test(`${mode} mode is found with a single server connection, and with other clients that use all of them`, async (t) => {
    for (const [size, roundRobin] of [
      ["1", "0"],
      ["2", "1"],
      ["3", "0"],
      ["3", "1"],
    ] as const) {
      const pooler = await poolerFor(t, { pool_mode: mode, default_pool_size: size, server_round_robin: roundRobin });
      const url = pooler.through(server.url);
      const load = Array.from({ length: 6 }, () => new pg.Client(url));
      const over = new AbortController();
      const found = async (): Promise<void> => {
        await assert.rejects(openSession(url, ""), ({ cause }: Error) => {
          assert.ok(cause instanceof AccessError, String(cause));
          assert.match(cause.message, advice);
          return true;
        });
      };
      await found();
      const working = load.map(async (client) => {
        await client.connect();
        while (!over.signal.aborted) await client.query("SELECT pg_sleep(random() / 500)");
        await client.end();
      });
      for (let i = 0; i < 10; i++) await found();
      over.abort();
      await Promise.all(working);
    }
  });
}

test("transaction mode is refused too if the pooler comes after the start, and leaves nothing in the sessions of its other clients", async (t) => {
  const pooler = await poolerFor(t, { pool_mode: "transaction", default_pool_size: "1" });
  const url = pooler.through(server.url);
  pooler.pause();
  const started = spawnServer(t, temporaryFolder(t), { DATABASE_URL: url, SECRETS_KEY: secretsKey });
  await started.logged(({ msg = "" }) => msg.includes("does not answer"));
  pooler.resume();
  assert.equal(await started.ended, 1);
  assert.match(started.err(), advice);
  await administer(url, "CREATE TABLE others_still_write ()");
});

test("a pooler whose mode is set right while a node waits is used without a restart of anything", async (t) => {
  const pooler = await poolerFor(t, { pool_mode: "transaction" });
  const url = pooler.through(server.url);
  await assert.rejects(openSession(url, ""));
  await pooler.reload({ pool_mode: "session" });
  const { client } = await openSession(url, "");
  await client.end();
});
