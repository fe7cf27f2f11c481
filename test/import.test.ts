import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import type { Report } from "../src/importing/report.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const sample = fileURLToPath(new URL("../examples/longbeach-sample.csv", import.meta.url));
const longbeach = fileURLToPath(new URL("../examples/longbeach.mapping.json", import.meta.url));

type Pet = { id: number; name: string; categoryId: number; status: string };
type Shop = { key: string; folder: string };
type Run = { code: number | null; out: string; err: string };

let dataFolder: string;
let service: ChildProcess;
let url: string;

before(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), "petstore-import-"));
  service = spawn(process.execPath, [main, "serve"], { env: { DATA_DIR: join(dataFolder, "data"), PORT: "0", LOG_LEVEL: "silent" } });
  service.stderr?.resume();
  let printed = "";
  for await (const chunk of service.stdout ?? []) {
    printed += String(chunk);
    url = /http:\/\/localhost:[1-9]\d*/.exec(printed)?.[0] ?? "";
    if (url !== "") break;
  }
});
after(async () => {
  service.kill();
  if (service.exitCode === null) await once(service, "exit");
  await rm(dataFolder, { recursive: true });
});

function start(args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [main, ...args], {
    env: { DATA_DIR: join(dataFolder, "data"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function petstore(args: string[], env: Record<string, string> = {}): Promise<Run> {
  const child = start(args, env);
  const [[code], out, err] = await Promise.all([once(child, "close") as Promise<[number]>, text(child.stdout!), text(child.stderr!)]);
  return { code, out, err };
}

/** An account of its own, and a folder for its files. */
async function openShop(t: TestContext): Promise<Shop> {
  const { out, err } = await petstore(["accounts", "create", "--name", t.name.slice(0, 60), "--plan", "business", "--json"]);
  assert.equal(err, "");
  const folder = await mkdtemp(join(tmpdir(), "petstore-import-"));
  t.after(() => rm(folder, { recursive: true }));
  return { key: (JSON.parse(out) as { key: string }).key, folder };
}

const environment = (shop: Shop, at = url) => ({ PETSTORE_URL: at, PETSTORE_KEY: shop.key });

async function importing(shop: Shop, file: string, ...more: string[]): Promise<Report> {
  const state = join(shop.folder, "state.json");
  const args = ["import", file, "--mapping", longbeach, "--state", state, "--rejects", join(shop.folder, "rejects.csv"), "--json", ...more];
  const { code, out, err } = await petstore(args, environment(shop));
  assert.equal(code, 0, err);
  return JSON.parse(out) as Report;
}

async function exported<T>(shop: Shop, list: string): Promise<T[]> {
  const { code, out, err } = await petstore(["export", list, "--format", "ndjson"], environment(shop));
  assert.equal(code, 0, err);
  return out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

const namesOf = async (shop: Shop) => (await exported<Pet>(shop, "pets")).map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1));

async function call(shop: Shop, method: string, path: string): Promise<number> {
  return (await fetch(`${url}/v1${path}`, { method, headers: { authorization: `Bearer ${shop.key}` } })).status;
}

/** A file of so many animals, named by their ids, in the shelter's columns. */
async function fileOf(shop: Shop, animals: number, outcome: (n: number) => string = () => ""): Promise<string> {
  const rows = Array.from({ length: animals }, (_, n) => `A${String(n).padStart(6, "0")},,dog,${outcome(n)}`);
  return csvFile(shop, rows);
}

async function csvFile(shop: Shop, rows: string[]): Promise<string> {
  const file = join(shop.folder, "animals.csv");
  await writeFile(file, ["animal_id,animal_name,animal_type,outcome_type", ...rows].join("\n"));
  return file;
}

test("the sample arrives as the mapping says, comes back from the export, and a second run changes nothing", async (t) => {
  const shop = await openShop(t);
  const report = await importing(shop, sample);
  assert.partialDeepStrictEqual(report, { rows: 916, superseded: 131, created: 785, updated: 0, unchanged: 0, rejected: 0 });
  assert.equal(report.categoriesMade.length, 10);

  const last = new Map<string, Record<string, string>>();
  for (const row of parse<Record<string, string>>(await readFile(sample), { columns: true })) last.set(row["animal_id"] ?? "", row);
  const expected = [...last.values()].map((row) => {
    const name = row["animal_name"]?.replaceAll(/^\*+ ?|\*+$/g, "") || row["animal_id"];
    const outcome = row["outcome_type"] ?? "";
    return [name, row["animal_type"], outcome === "" ? "available" : outcome.startsWith("foster") ? "pending" : "sold"].join("|");
  });
  const categories = new Map((await exported<{ id: number; name: string }>(shop, "categories")).map(({ id, name }) => [id, name]));
  const { out } = await petstore(["export", "pets", "--format", "csv"], environment(shop));
  const pets = parse<Record<string, string>>(out, { columns: true });
  const found = pets.map((pet) => [pet["name"], categories.get(Number(pet["categoryId"])), pet["status"]].join("|"));
  assert.deepEqual(found.toSorted(), expected.toSorted());

  assert.partialDeepStrictEqual(await importing(shop, sample), { created: 0, updated: 0, unchanged: 785, categoriesMade: [] });
  assert.equal((await exported(shop, "pets")).length, 785);
});

test("an import that is killed at any batch, before or after the service has done it, leaves nothing out and nothing twice", async (t) => {
  const shop = await openShop(t);
  const file = await fileOf(shop, 3_500);
  const state = join(shop.folder, "state.json");
  for (const [batch, moment] of [
    [1, "before"],
    [1, "after"],
    [1, "after"],
    [2, "before"],
    [2, "after"],
  ] as const) {
    const proxy = await openProxy();
    const child = start(["import", file, "--mapping", longbeach, "--state", state], environment(shop, proxy.url));
    const killed = once(child, "exit") as Promise<[number | null, string | null]>;
    proxy.at(batch, moment, () => child.kill("SIGKILL"));
    assert.deepEqual((await killed)[1], "SIGKILL");
    proxy.close();
  }
  await rename(state, url);
  const report = await importing(shop, file);
  assert.equal(report.rejected, 0);
  const names = await namesOf(shop);
  assert.equal(names.length, 3_500);
  assert.equal(new Set(names).size, 3_500);
});
