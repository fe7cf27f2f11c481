import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsOf } from "./support/backups.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Import } from "./support/imports.ts";
import { addressOf, createAccount, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { until } from "./support/until.ts";

const animals = 3_000;
const callMax = 1_000;

test("an undo whose process is killed goes on after the restart, and takes back every animal once", async (t) => {
  const env = await settingsOf(temporaryFolder(t));
  const key = await createAccount(env["DATA_DIR"]!, env);
  let server: ServerProcess;
  let address = "";
  const start = async (): Promise<void> => {
    server = spawnServer(t, env["DATA_DIR"]!, { ...env, DNS_SERVERS: "127.0.0.1:9" });
    address = await addressOf(server);
  };
  const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await ask<T>(`${address}/v1${path}`, method, { key, ...(body !== undefined && { body }) });
    assert.ok(reply.status < 300, JSON.stringify(reply.body));
    return reply.body;
  };
  const used = async () => (await send<{ records: { used: number } }>("GET", "/account")).records.used;
  await start();
  const { id: categoryId } = await send<{ id: number }>("POST", "/categories", { name: "Dogs" });
  const { id } = await send<Import>("POST", "/imports", { source: "Register", fileName: "animals.csv" });
  const rows = Array.from({ length: animals }, (_, i) => ({ sourceId: `${i}`, pet: { name: "Rex", categoryId }, quantity: 1 }));
  for (let from = 0; from < animals; from += callMax) await send("POST", `/imports/${id}/rows`, rows.slice(from, from + callMax));
  await send("POST", `/imports/${id}/undo`);
  let killedMidway = 0;
  for (let kill = 0; kill < runs(2, 20); kill++) {
    const before = await used();
    const some = random(1, 300);
    await until(async () => (await used()) <= Math.max(1, before - some));
    if ((await used()) > 1) killedMidway += 1;
    server!.kill("SIGKILL");
    await server!.ended;
    await start();
  }
  await until(async () => (await send<Import>("GET", `/imports/${id}`)).status === "undone");
  assert.ok(killedMidway > 0);
  assert.equal(await used(), 1, "the category");
  const ends = (): Promise<object[]> => send("GET", "/events?types=import.undone");
  await until(async () => (await ends()).length > 0); // on PostgreSQL an event gets its place after its change
  assert.equal((await ends()).length, 1);
  const { stays } = await send<Import>("GET", `/imports/${id}`);
  assert.deepEqual(stays, { count: 0, pets: [] });
  const [first] = await send<{ outcome: string }[]>(
    "POST",
    `/imports/${(await send<Import>("POST", "/imports", { source: "Register", fileName: "a" })).id}/rows`,
    rows.slice(0, 1),
  );
  assert.equal(first!.outcome, "created");
});
