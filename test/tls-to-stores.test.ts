import assert from "node:assert/strict";
import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "./support/folder.ts";
import { startPostgres } from "./support/postgres-process.ts";
import { newDatabase } from "./support/postgres.ts";
import { addressOf, spawnServer } from "./support/process.ts";
import { startRedis } from "./support/redis-process.ts";
import { refusedStarts } from "./support/refusals.ts";
import { ask, secretsKey, startService } from "./support/service.ts";
import { throwAwayCertificate } from "./support/test-edge.ts";

/** Who PostgreSQL runs as where the tests run as root. */
const nobody = 65_534;

type Files = { cert: string; key: string; other: string };

/** A certificate for `localhost` and its key, and another one of the same name, as files that servers take. */
function certificateFiles(t: TestContext): Files {
  const folder = temporaryFolder(t);
  const [{ cert, key }, other] = [throwAwayCertificate("localhost"), throwAwayCertificate("localhost")];
  const files = { cert: join(folder, "server.crt"), key: join(folder, "server.key"), other: join(folder, "other.crt") };
  chmodSync(folder, 0o755);
  writeFileSync(files.cert, cert);
  writeFileSync(files.other, other.cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  if (process.getuid?.() === 0) chownSync(files.key, nobody, nobody);
  return files;
}

/** The one line that a start ends with. */
async function refusalOf(t: TestContext, env: Record<string, string>): Promise<string> {
  const [line = ""] = await refusedStarts([{ DATA_DIR: temporaryFolder(t), SECRETS_KEY: secretsKey, ...env }]);
  return line;
}

test("DATABASE_URL with sslmode=verify-full", async (t) => {
  const files = certificateFiles(t);
  const server = await startPostgres(["fsync=off", "ssl=on", `ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`]);
  t.after(() => server.remove());
  const url = (host: string, root: string): string => `${server.url.replace("127.0.0.1", host)}?sslmode=verify-full&sslrootcert=${root}`;

  await t.test("encrypts every connection to a server whose certificate is for the host and of the authority", async (inner) => {
    const service = await startService({ env: { DATABASE_URL: url("localhost", files.cert), SECRETS_KEY: secretsKey } });
    inner.after(() => service.close());
    assert.equal((await service.ask("POST", "/categories", { body: { name: "Dogs" } })).status, 201);
    const connections = await service.db.query<{ ssl: boolean }>(
      sql`SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'petstore'`,
    );
    assert.ok(connections.length > 2 && connections.every(({ ssl }) => ssl), JSON.stringify(connections));
  });

  await t.test("ends the start with one line where the certificate is for another host", async (inner) => {
    const line = await refusalOf(inner, { DATABASE_URL: url("127.0.0.1", files.cert) });
    assert.match(line, /^petstore: PostgreSQL at 127\.0\.0\.1:\d+\/postgres refuses: .*127\.0\.0\.1 is not in the cert's list/);
  });

  await t.test("ends the start with one line where the certificate is of another authority", async (inner) => {
    const line = await refusalOf(inner, { DATABASE_URL: url("localhost", files.other) });
    assert.match(line, /^petstore: PostgreSQL at localhost:\d+\/postgres refuses: .*certificate/);
    assert.ok(!line.includes("password"), line);
  });

  await t.test("ends the start with one line where a file is not there, or a parameter is not known", async (inner) => {
    const parameters = ["sslmode=verify-full&sslrootcert=/nowhere", "sslmode=verify_full", "sslrootca=x", `sslkey=${files.cert}`];
    const DATA_DIR = temporaryFolder(inner);
    const lines = await refusedStarts(
      parameters.map((one) => ({ DATA_DIR, SECRETS_KEY: secretsKey, DATABASE_URL: `${server.url}?${one}` })),
    );
    for (const line of lines) assert.match(line, /^petstore: DATABASE_URL="\(secret\)" is not allowed: /);
  });
});

test("sslmode=verify-full ends the start with one line where the server knows no TLS", async (t) => {
  const database = await newDatabase();
  t.after(() => database.drop());
  const line = await refusalOf(t, { DATABASE_URL: `${database.url}?sslmode=verify-full` });
  assert.match(line, /^petstore: PostgreSQL at \S+ refuses: The server does not support SSL connections/);
});

test("a rediss:// REDIS_URL", async (t) => {
  const files = certificateFiles(t);
  const redis = await startRedis({ tls: files, password: "redis-secret" });
  t.after(() => redis.remove());
  const url = redis.url.replace("127.0.0.1", "localhost");

  await t.test("counts in a Redis whose certificate is for the host and of REDIS_CA_FILE", async (inner) => {
    const service = await startService({ env: { REDIS_URL: url, REDIS_CA_FILE: files.cert } });
    inner.after(() => service.close());
    const { body } = await ask<string>(`${service.address}/metrics`, "GET");
    assert.match(body, /^petstore_limiter_mode\{mode="shared"\} 1$/m);
  });

  for (const [what, env, reason] of [
    ["is for another host", { REDIS_URL: redis.url, REDIS_CA_FILE: files.cert }, /127\.0\.0\.1 is not in the cert's list/],
    ["is of another authority", { REDIS_URL: url, REDIS_CA_FILE: files.other }, /certificate/],
    ["is of none that Node knows", { REDIS_URL: url }, /certificate/],
  ] as const) {
    await t.test(`says once in the log that a certificate ${what}, and shows it no password`, async (inner) => {
      const server = spawnServer(inner, temporaryFolder(inner), { ...env });
      await ask(`${await addressOf(server)}/healthz`, "GET");
      await server.logged(({ msg }) => msg?.startsWith("Redis cannot be reached") ?? false);
      const lines = server.log().filter(({ msg }) => msg?.startsWith("Redis cannot be reached"));
      assert.equal(lines.length, 1);
      assert.match((lines[0] as unknown as { reason: string }).reason, reason);
      assert.ok(!server.out().includes("redis-secret"));
    });
  }

  await t.test("ends the start with one line where REDIS_CA_FILE is set without it", async (inner) => {
    const line = await refusalOf(inner, { REDIS_URL: "redis://localhost:1", REDIS_CA_FILE: files.cert });
    assert.match(line, /^petstore: REDIS_CA_FILE=.* is not allowed: it must be set together with a rediss:\/\/ REDIS_URL/);
  });
});
