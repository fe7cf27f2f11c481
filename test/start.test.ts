import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";
import type { LoadedModules } from "./support/loaded-modules.ts";
import { addressOf, keyIn, spawnServer } from "./support/process.ts";

const preload = fileURLToPath(new URL("support/loaded-modules.ts", import.meta.url));
const command = fileURLToPath(new URL("../bin/petstore.mjs", import.meta.url));

/** Of the whole start and the first read, the preload of the test included: also the declarations of all operations and event types. */
const modulesMax = 440;
/**
 * What a start with the embedded engine needs. Everything else is imported where it is first used: PostgreSQL, Redis, ACME, DNS, archives,
 * backups, CSV, YAML, and the description.
 */
const packagesOfAStart = ["fast-querystring", "find-my-way", "pino", "sql-template-tag", "tldts"];

test("a start loads only the packages that each request needs, from a compile cache that a killed service has left", async (t) => {
  const dataDir = temporaryFolder(t);
  const cache = temporaryFolder(t);
  const env = { NODE_COMPILE_CACHE: cache };
  const killed = spawnServer(t, dataDir, env, [], command);
  await addressOf(killed);
  const key = keyIn(killed.out());
  killed.kill("SIGKILL");
  await killed.ended;
  assert.ok(globSync("**/*", { cwd: cache }).length > 400);

  const server = spawnServer(t, dataDir, { ...env, NODE_OPTIONS: `--import=${preload}` }, [], command);
  const read = await fetch(`${await addressOf(server)}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(read.status, 200);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  const { modules, packages, options, arenas } = loadedIn(server.err());
  assert.deepEqual(packages, packagesOfAStart);
  t.diagnostic(`${modules} modules`);
  assert.ok(modules <= modulesMax, `${modules} modules`);
  assert.deepEqual(options, ["--max-semi-space-size=8"]);
  assert.equal(arenas, "1");
});

test("a bound of V8's new space in NODE_OPTIONS is kept", async (t) => {
  const env = { NODE_OPTIONS: `--max-semi-space-size=16 --import=${preload}` };
  const server = spawnServer(t, temporaryFolder(t), env, [], command);
  await addressOf(server);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  assert.deepEqual(loadedIn(server.err()).options, []);
});

function loadedIn(err: string): LoadedModules {
  return JSON.parse(/^loaded (.*)$/m.exec(err)?.[1] ?? "") as LoadedModules;
}
