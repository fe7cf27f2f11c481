import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { freePorts } from "../test/support/pebble.ts";
import { stop } from "./load.ts";

const entry = join(import.meta.dirname, "..", "bin", "petstore.mjs");
const plenty = ["--per-minute", "1000000000", "--per-day", "1000000000"];

export type Shop = {
  /** Of the API, with its version. */
  url: string;
  key: string;
  accountId: number;
  dataDir: string;
  pid: number;
  ask(method: string, path: string, body?: unknown): Promise<Response>;
  stop(): Promise<void>;
};

export type ShopFolder = { dataDir: string; key: string; accountId: number; remove(): void };

/** A data folder with an account whose limits no load reaches. */
export function makeFolder(env: Record<string, string> = {}): ShopFolder {
  const dataDir = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const args = [entry, "accounts", "create", "--name", "Bench", "--plan", "enterprise", ...plenty, "--json"];
  const made = execFileSync(process.execPath, args, { env: { ...process.env, DATA_DIR: dataDir, ...env }, encoding: "utf8" });
  const { account, key } = JSON.parse(made) as { account: { id: number }; key: string };
  return { dataDir, key, accountId: account.id, remove: () => rmSync(dataDir, { recursive: true }) };
}

/** The service as people start it, in a process of its own, with all its defaults but the folder and the port. */
export async function openShop({ dataDir, key, accountId }: ShopFolder, env: Record<string, string> = {}): Promise<Shop> {
  const [port] = await freePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [entry, "serve"], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0", ...env },
    // its log goes to a file, as a supervisor has it: a reader here would take the processor from what is measured
    stdio: ["ignore", openSync(join(dataDir, "log"), "a"), "inherit"],
  });
  await Promise.race([answers(`${origin}/readyz`), once(child, "exit").then(() => Promise.reject(new Error("the service did not start")))]);
  const url = `${origin}/v1`;
  const ask = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { url, key, accountId, dataDir, pid: child.pid ?? 0, ask, stop: () => stop(child) };
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const ready = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} does not answer`);
}
