import assert from "node:assert/strict";
import { test } from "node:test";
import type { RewindReport } from "../src/backup/repeated-ids.ts";
import { readMemory } from "../src/platform/nodes/rewinds.ts";
import { runCommand } from "./support/commands.ts";
import { openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPostgres } from "./support/postgres-process.ts";
import { administer, columnOf } from "./support/postgres.ts";
import { createAccount } from "./support/process.ts";
import { secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";
import { startReceiver } from "./support/webhooks.ts";

/** PostgreSQL numbers up to 32 ids ahead in its log, so that a standby repeats only those beyond. */
const lostCount = 60;
const namedMax = 20;

test("after a failover that lost writes `petstore verify` names ids that are given out twice, and events that are gone although endpoints have them", async (t) => {
  const primary = await startPostgres(["fsync=off"], { programs: "system" });
  t.after(() => primary.remove());
  const standby = await primary.standby();
  t.after(() => standby.remove());
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const hosts = `${new URL(primary.url).host},${new URL(standby.url).host}`;
  const url = primary.url.replace(new URL(primary.url).host, hosts);
  const dataDir = temporaryFolder(t);
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey, WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9" };
  const shop = await openFaultyShop(t, dataDir, { key: await createAccount(dataDir, env), env });
  const verify = async (...words: string[]): Promise<string> => {
    const { code, out, error } = await runCommand(["verify", ...words], { DATA_DIR: dataDir, ...env });
    assert.equal(code, 0, error);
    return out;
  };
  assert.equal((await shop.send("POST", "/webhooks", { url: receiver.url, types: ["category.created"] })).status, 201);
  assert.equal(await shop.add("Kept"), 201);
  await until(async () => (await columnOf(standby.url, "SELECT id FROM categories")).length === 1);
  await administer(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
  await administer(standby.url, "SELECT pg_reload_conf()");
  await until(async () => (await columnOf(primary.url, "SELECT pid FROM pg_stat_replication")).length === 0);
  for (let i = 0; i < lostCount; i++) assert.equal(await shop.add("Lost"), 201);
  const last = Number((await columnOf(primary.url, "SELECT MAX(id) FROM categories"))[0]);
  await until(() => readMemory(dataDir)?.ids["category_ids"] === last);
  await until(() => receiver.got.length > lostCount);
  await primary.kill();
  await standby.promote();
  await until(async () => (await shop.fault("database_rewound")) === 1);
  await until(async () => (await columnOf(standby.url, "SELECT node FROM database_losses")).length === 1);

  const before = await verify();
  const ids = new RegExp(
    `^ {2}Ids of categories: (\\d+) to ${last} were given out before the loss; none of them is in use again yet\\.$`,
    "m",
  );
  const first = Number(ids.exec(before)?.[1]);
  assert.ok(first > 1 && first < last - namedMax, before);
  const sent = /^ {2}Webhook endpoints have events that are gone: evt_\S+ \(position \d+ of account 1\) at endpoint 1, .*, and 40 more\.$/m;
  assert.match(before, sent);

  assert.equal((await runCommand(["accept-state", "--yes"], { DATA_DIR: dataDir, ...env })).code, 0);
  await until(async () => (await shop.ready()).status === 200 && (await shop.add("Again")) === 201);
  for (let i = 0; i < namedMax; i++) assert.equal(await shop.add("Again"), 201);
  const again = await columnOf(standby.url, `SELECT id FROM categories WHERE id >= ${first} ORDER BY id`);
  const [rewind] = (JSON.parse(await verify("--json")) as { rewinds: RewindReport[] }).rewinds;
  assert.deepEqual(
    rewind!.ids.find(({ table }) => table === "categories"),
    {
      table: "categories",
      from: first,
      to: last,
      used: again.slice(0, namedMax).map(Number),
      usedCount: again.length,
    },
  );
  const used = `in use again: ${again.slice(0, namedMax).join(", ")}, and ${again.length - namedMax} more.`;
  assert.ok((await verify()).includes(`were given out before the loss; ${used}\n`));
});
