import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "./support/folder.ts";
import { administer, newDatabase } from "./support/postgres.ts";
import { addressOf, keyIn, spawnServer } from "./support/process.ts";
import { ask, secretsKey } from "./support/service.ts";

/** The environment of a process whose clock is this many hours off. */
function offBy(hours: number): Record<string, string> {
  const patch = `const now = Date.now; Date.now = () => now() + ${hours} * 3_600_000;`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(patch)}` };
}

test("a service whose clock is hours behind the data warns in one line and serves; later starts do not warn", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const ahead = spawnServer(t, dataDir, offBy(5)); // as after a restore of what a machine with a wrong clock wrote
  await addressOf(ahead);
  const key = keyIn(ahead.out());
  ahead.kill("SIGTERM");
  assert.equal(await ahead.ended, 0);

  const server = spawnServer(t, dataDir);
  const address = await addressOf(server);
  const lines = server.log().filter(({ msg }) => msg?.startsWith("the clock"));
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg?.replace(/\d{4}-\S+Z/, "TIME")]),
    [[40, "the clock is 5.0 hours behind the newest data, of TIME: set it, or new rows are dated before old ones"]],
  );
  assert.equal((await ask(`${address}/v1/categories`, "POST", { key, body: { name: "Dogs" } })).status, 201);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);

  const later = spawnServer(t, dataDir, offBy(6));
  await addressOf(later);
  assert.doesNotMatch(later.out(), /the clock/);
});

test("a node whose clock is hours off that of PostgreSQL does not start, and changes nothing", async (t) => {
  const { url, drop } = await newDatabase();
  t.after(drop);
  const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey };
  for (const [hours, side] of [
    [5, "ahead of"],
    [-5, "behind"],
  ] as const) {
    const server = spawnServer(t, join(temporaryFolder(t), "data"), { ...env, ...offBy(hours) });
    assert.equal(await server.ended, 1);
    const line = `petstore: the clock of this machine is 5.0 hours ${side} that of PostgreSQL: set the wrong one before the start\n`;
    assert.equal(server.err(), line);
  }
  assert.equal(await administer(url, "SELECT FROM pg_tables WHERE schemaname = 'public'"), 0);
});
