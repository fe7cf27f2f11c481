import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { freePorts } from "../test/support/ports.ts";
import { spawnServer, stop } from "./processes.ts";
import { untilAnswers } from "./shop.ts";

const version = "v0.36.8";
const folder = fileURLToPath(new URL(`../.cache/bench/pocketbase-${version}`, import.meta.url));
const program = join(folder, "base");
const buildMsMax = 20 * 60_000;
const admin = { identity: "bench@example.com", password: "of-the-bench" };

/** PocketBase with pets and orders. `key` is a token of its administrator, which it checks as the service checks a key. */
export type PocketBase = { url: string; key: string; pid: number; stop(): Promise<void> };

/** Builds PocketBase from its Go module, and returns whether that worked: it needs Go. */
export function buildPocketBase(): boolean {
  if (existsSync(program)) return true;
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder, CGO_ENABLED: "0" };
  try {
    const args = ["install", `github.com/pocketbase/pocketbase/examples/base@${version}`];
    execFileSync("go", args, { env, stdio: ["ignore", "ignore", "pipe"], timeout: buildMsMax });
    return existsSync(program);
  } catch (error) {
    console.error(`PocketBase was not built, so its rows are left out: ${(error as Error).message.split("\n")[0]}`);
    return false;
  }
}

/** Starts PocketBase with so many pets, whose ids are `idOf` their numbers. It keeps orders, but no stock, limits or events. */
export async function openPocketBase(dataDir: string, animals: number): Promise<PocketBase> {
  const dir = join(dataDir, "pocketbase");
  const common = ["--dir", dir, "--dev=false"];
  execFileSync(program, ["superuser", "upsert", admin.identity, admin.password, ...common], { stdio: "ignore" });
  const first = await start(common);
  await first.create("pets", [field("name", "text"), field("categoryId", "number"), field("status", "text")]);
  await first.create("orders", [field("petId", "text"), field("quantity", "number"), field("complete", "bool")]);
  await first.stop();
  fill(join(dir, "data.db"), animals);
  const { url, key, pid, stop: end } = await start(common);
  return {
    url,
    key,
    pid,
    async stop() {
      await end();
      rmSync(dir, { recursive: true });
    },
  };
}

/** The id of a pet: PocketBase wants 15 characters. */
export function idOf(number: number): string {
  return `pet${String(number).padStart(12, "0")}`;
}

const field = (name: string, type: string) => ({ name, type });

async function start(common: string[]) {
  const [port] = await freePorts(1);
  const child = spawnServer([program, "serve", "--http", `127.0.0.1:${port}`, ...common], { stdio: ["ignore", "ignore", "inherit"] });
  const api = `http://127.0.0.1:${port}/api`;
  await untilAnswers(`${api}/health`);
  const post = async (path: string, body: object, key = ""): Promise<{ token: string }> => {
    const headers = { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) };
    const answer = await fetch(api + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as { token: string };
  };
  const { token } = await post("/collections/_superusers/auth-with-password", admin);
  return {
    url: `${api}/collections`,
    key: token,
    pid: child.pid ?? 0,
    create: (name: string, fields: object[]) => post("/collections", { name, type: "base", fields }, token),
    stop: () => stop(child),
  };
}

function fill(file: string, animals: number): void {
  const database = new DatabaseSync(file);
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${animals})
    INSERT INTO pets (id, name, categoryId, status) SELECT printf('pet%012d', i), 'Animal ' || i, 1, 'available' FROM n`);
  database.close();
}
