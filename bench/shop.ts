import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { freePorts } from "../test/support/ports.ts";
import { spawnServer, stop } from "./processes.ts";

const entry = join(import.meta.dirname, "..", "bin", "petstore.mjs");
const unlimited = 1_000_000_000;

export type Shop = {
  /** The URL of the API, with its version. */
  url: string;
  key: string;
  accountId: number;
  dataDir: string;
  pid: number;
  /** Sends a request. Default key: the shop's. */
  ask(method: string, path: string, body?: unknown, otherKey?: string): Promise<Response>;
  stop(): Promise<void>;
};

export type ShopFolder = { dataDir: string; key: string; accountId: number; remove(): void };

/** A data folder with an account whose limits no load reaches. */
export function makeFolder(env: Record<string, string> = {}): ShopFolder {
  const dataDir = mkdtempSync(join(tmpdir(), "shop-"));
  const { account, key } = createAccount(dataDir, {}, env);
  return { dataDir, key, accountId: account.id, remove: () => rmSync(dataDir, { recursive: true }) };
}

/** Creates an account with the command line, whether or not the service runs. Default limits: so high that no load reaches them. */
export function createAccount(
  dataDir: string,
  { perMinute = unlimited, perDay = unlimited }: { perMinute?: number; perDay?: number },
  env: Record<string, string> = {},
): { account: { id: number }; key: string } {
  const limits = ["--per-minute", String(perMinute), "--per-day", String(perDay)];
  const args = [entry, "accounts", "create", "--name", "Bench", "--plan", "enterprise", ...limits, "--json"];
  const made = execFileSync(process.execPath, args, {
    env: { ...process.env, DATA_DIR: dataDir, ...env },
    encoding: "utf8",
    timeout: 60_000,
  });
  return JSON.parse(made) as { account: { id: number }; key: string };
}

/** Puts animals with stock into an empty shop that no service has open. Makes the indexes after the rows, so that many rows need no random writes. */
export function fillWithAnimals({ dataDir, accountId }: Pick<ShopFolder, "dataDir" | "accountId">, animals: number): void {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${animals})`;
  const database = new DatabaseSync(join(dataDir, "petstore.db"));
  const indexes = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('pets', 'inventory')")
    .all() as { name: string; sql: string }[];
  database.exec(`
    PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576; BEGIN;
    CREATE TEMP TABLE planner AS SELECT * FROM sqlite_stat1; -- of an index that is dropped they go too
    ${indexes.map(({ name }) => `DROP INDEX ${name};`).join(" ")}
    INSERT INTO categories (account_id, id, name, name_key, version) VALUES (${accountId}, 1, 'Dogs', 'dogs', 1);
    ${numbers} INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
      SELECT ${accountId}, i, 'Animal ' || i, 'animal ' || i, 1, 'available', 1 FROM n;
    ${numbers} INSERT INTO inventory (account_id, pet_id, quantity, held, status, version) SELECT ${accountId}, i, 1000000, 0, 'available', 1 FROM n;
    INSERT INTO sequences VALUES ('category_ids', 1), ('pet_ids', ${animals}) ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    ${indexes.map(({ sql }) => `${sql};`).join(" ")}
    DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 SELECT * FROM planner;
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
}

/** Starts the service with `petstore serve`, with all its defaults except the folder and the ports. */
export async function openShop({ dataDir, key, accountId }: ShopFolder, env: Record<string, string> = {}): Promise<Shop> {
  const [port] = await freePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const child = spawnServer([process.execPath, entry, "serve"], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0", ...env },
    // the log goes to a file, as under a supervisor, because reading it here would take CPU from the measurement
    stdio: ["ignore", openSync(join(dataDir, "log"), "a"), "inherit"],
  });
  await Promise.race([
    untilAnswers(`${origin}/readyz`),
    once(child, "exit").then(() => Promise.reject(new Error("the service did not start"))),
  ]);
  const url = `${origin}/v1`;
  const ask: Shop["ask"] = (method, path, body, otherKey = key) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${otherKey}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { url, key, accountId, dataDir, pid: child.pid ?? 0, ask, stop: () => stop(child) };
}

/** Waits until a server answers. @throws Error after ten seconds */
export async function untilAnswers(url: string): Promise<void> {
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
