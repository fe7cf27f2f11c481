import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import { packed, petstore, site } from "./support/archives.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { hostileArchive } from "./support/hostile-archives.ts";
import { newDatabase } from "./support/postgres.ts";
import { addressOf, createAccount, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask, engine, secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

const kills = runs(2, 60);
const killEveryMs = 1_000;
const projects = 4;

test(`every upload ends ready or failed, though the process is killed every second, ${kills} times`, async (t) => {
  const dataDir = temporaryFolder(t);
  const env: Record<string, string> = { KEEP_DEPLOYMENTS: "1000" };
  if (engine === "postgres") {
    const { url, drop } = await newDatabase();
    t.after(drop);
    Object.assign(env, { DATABASE_URL: url, SECRETS_KEY: secretsKey });
  }
  const key = await createAccount(dataDir, env);
  let server: ServerProcess;
  let address = "";
  const start = async (): Promise<void> => {
    server = spawnServer(t, dataDir, env);
    address = await addressOf(server);
  };
  const send = <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    ask<T>(`${address}/v1${path}`, method, { key, headers, ...(body !== undefined && { body }) });
  await start();
  const accepted: string[] = [];
  const over = new AbortController();
  async function uploadTo(path: string): Promise<void> {
    while (!over.signal.aborted) {
      const archive = random(0, 3) === 0 ? await packed([petstore, site]) : hostileArchive(random).packed;
      const sent = await send<Deployment>("POST", path, archive, { "content-type": "application/gzip" }).catch(() => undefined);
      if (sent?.status === 202) accepted.push(`${path}/${sent.body.id}`);
      else await sleep(20); // it was killed, or has enough to do
    }
  }
  const paths: string[] = [];
  for (let number = 0; number < projects; number++) {
    const { body: project } = await send<{ id: number }>("POST", "/projects", { name: "Rex", slug: `rex-${number}` });
    paths.push(`/projects/${project.id}/deployments`);
  }
  const uploading = Promise.all(paths.map(uploadTo));
  for (let kill = 0; kill < kills; kill++) {
    await sleep(killEveryMs);
    server!.kill("SIGKILL");
    await server!.ended;
    await start();
  }
  over.abort();
  await uploading;
  const ends = { ready: 0, failed: 0, ended: 0 };
  for (const path of accepted) {
    let deployment: Deployment | undefined;
    await until(async () => {
      deployment = (await send<Deployment>("GET", path)).body;
      return deployment.status !== "queued";
    });
    const { status, error } = deployment!;
    assert.ok(status === "ready" ? error === null : (error ?? "") !== "", path);
    ends[status === "ready" ? "ready" : error?.startsWith("The service ended twice") ? "ended" : "failed"] += 1;
  }
  t.diagnostic(`${accepted.length} uploads: ${JSON.stringify(ends)}`);
  assert.ok(accepted.length > 0);
  const left = () => (engine === "sqlite" ? readdirSync(join(dataDir, "uploads")) : []);
  await until(() => left().length === 0);
});
