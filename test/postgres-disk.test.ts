import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test } from "node:test";
import { openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPostgres } from "./support/postgres-process.ts";
import { createAccount } from "./support/process.ts";
import { secretsKey } from "./support/service.ts";
import { mountSmallDisk } from "./support/small-disk.ts";
import { until } from "./support/until.ts";

test("a full disk of PostgreSQL: the first write that it refuses makes /readyz 503 with the reason; with room again writes succeed", async (t) => {
  const disk = mountSmallDisk(t, 192 << 20);
  chmodSync(disk.path, 0o755);
  const flags = ["fsync=off", "min_wal_size=32MB", "max_wal_size=48MB"];
  const server = await startPostgres(flags, { programs: "system", within: disk.path });
  t.after(() => server.remove());
  const dataDir = temporaryFolder(t);
  const env = { DATABASE_URL: server.url, SECRETS_KEY: secretsKey };
  const shop = await openFaultyShop(t, dataDir, { key: await createAccount(dataDir, env), env });
  assert.equal(await shop.add(), 201);
  assert.equal((await shop.ready()).status, 200);
  disk.fill();
  let last = await shop.send("POST", "/categories", { name: "First" });
  for (let i = 0; i < 5_000 && last.status === 201; i++) last = await shop.send("POST", "/categories", { name: `Until it is full ${i}` });
  assert.equal(last.status, 503);
  assert.ok(last.headers.has("retry-after"));
  const { status, body } = await shop.ready();
  assert.equal(status, 503);
  assert.match(body.reason ?? "", /^the database takes no writes: .*No space left on device/);
  assert.equal(await shop.fault("database_writes"), 1);
  assert.ok((await shop.names()).includes("Category 0"));

  disk.empty();
  await until(async () => (await shop.ready()).status === 200);
  assert.equal(await shop.add(), 201);
  assert.equal(await shop.fault("database_writes"), 0);
  await shop.stop();
});
