import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Category } from "./models.ts";
import { addressOf, createAccount, spawnServer } from "./process.ts";
import { ask } from "./service.ts";

type Readiness = { status: string; reason?: string; warnings?: string[]; faults?: string[] };
type Starting = { key?: string; under?: string[]; env?: Record<string, string> };

/** A service in its own process, and the faults that it reports. */
export async function openFaultyShop(t: TestContext, dataDir: string, { key, under, env }: Starting = {}) {
  const known = key ?? (await createAccount(dataDir));
  const server = spawnServer(t, dataDir, env, under);
  const address = await addressOf(server);
  const send = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    ask<T>(`${address}/v1${path}`, method, { key: known, body, ...(headers && { headers }) });
  const added: string[] = [];
  let tried = 0;
  const add = async (prefix = "Category"): Promise<number> => {
    const name = `${prefix} ${tried++}`;
    const { status } = await send("POST", "/categories", { name });
    if (status === 201) added.push(name);
    return status;
  };
  const names = async (): Promise<string[]> => {
    const all: string[] = [];
    for (let path = "/categories?limit=100"; path !== "";) {
      const page = await send<Category[]>("GET", path);
      all.push(...page.body.map(({ name }) => name));
      path = /<\/v1([^>]*)>/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
    }
    return all;
  };
  return {
    server,
    address,
    key: known,
    send,
    add,
    added,
    names,
    ready: () => ask<Readiness>(`${address}/readyz`, "GET"),
    fault: async (name: string) => {
      const { body } = await ask<string>(`${address}/metrics`, "GET");
      return Number(new RegExp(`^petstore_fault\\{fault="${name}"\\} (\\d)$`, "m").exec(body)?.[1]);
    },
    /** The process still runs, and stops as it should. */
    async stop() {
      assert.equal((await ask(`${address}/healthz`, "GET")).status, 200);
      server.kill("SIGTERM");
      assert.equal(await server.ended, 0, server.out());
      assert.equal(server.err(), "");
    },
  };
}

export type Faulty = Awaited<ReturnType<typeof openFaultyShop>>;
