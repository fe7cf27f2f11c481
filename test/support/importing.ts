import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Report } from "../../src/importing/report.ts";
import { runCommand, type Ended } from "./commands.ts";
import { newMember } from "./dashboard.ts";
import { temporaryFolder } from "./folder.ts";
import { inherited } from "./process.ts";
import { startService, type TestService } from "./service.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
export const sample = fileURLToPath(new URL("../../examples/longbeach-sample.csv", import.meta.url));
export const longbeach = fileURLToPath(new URL("../../examples/longbeach.mapping.json", import.meta.url));

export type Pet = { id: number; name: string; categoryId: number; status: string };
/** An account of its own, a folder for its files, and the address at which it calls the service. */
type Shop = {
  key: string;
  folder: string;
  url: string;
  allowRecords: (records: number) => Promise<unknown>;
  setCurrency: (currency: string) => Promise<void>;
};
type Killed = Omit<Ended, "code"> & { code: number | null; signal: string | null };

// One service for all tests of the file that imports this; each test has an account of its own.
let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** What `petstore` reads of its environment to call the service with the shop's key. */
const environmentOf = ({ url, key }: Shop) => ({ PETSTORE_URL: url, PETSTORE_KEY: key });

/** Starts `petstore` with the shop's key in a process of its own, which a test can kill. */
export function start(shop: Shop, args: string[]): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [main, ...args], { env: { ...inherited(), ...environmentOf(shop) }, stdio: ["ignore", "pipe", "pipe"] });
}

/** How a process ended, and all that it wrote. */
export async function ended(child: ReturnType<typeof start>): Promise<Killed> {
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  const [[code, signal], out, error] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, signal, out, error };
}

/** Runs `petstore` with the shop's key in this process. */
export const petstore = (shop: Shop, ...args: string[]): Promise<Ended> => runCommand(args, environmentOf(shop));

/** An account on plan `business`, and a folder that is removed when the test ends. */
export async function openShop(t: TestContext): Promise<Shop> {
  const { id, key } = await service.newAccount("business");
  const allowRecords = (records: number) => service.administration["accounts.setPlan"]({ id, plan: "business", records });
  const setCurrency = async (currency: string): Promise<void> => {
    const owner = await newMember(service, { account: id, email: `owner${id}@shop.example`, role: "owner" });
    assert.equal((await owner.ask("PATCH", "/account", { currency })).status, 200);
  };
  return { key, folder: temporaryFolder(t), url: service.address, allowRecords, setCurrency };
}

/** The command line of an import whose state and rejects are in the shop's folder. */
export function importOf(shop: Shop, file: string): string[] {
  const more = ["--state", join(shop.folder, "state.json"), "--rejects", join(shop.folder, "rejects.csv"), "--json"];
  return ["import", file, "--mapping", longbeach, ...more];
}

/** Runs an import that must be carried out, and gives its report. */
export async function importing(shop: Shop, file: string, ...more: string[]): Promise<Report> {
  const { code, out, error } = await petstore(shop, ...importOf(shop, file), ...more);
  assert.equal(code, 0, error);
  return JSON.parse(out) as Report;
}

/** Runs a command that must be refused, and gives the one line that says why. */
export async function refusal(shop: Shop, ...args: string[]): Promise<string> {
  const { code, out, error } = await petstore(shop, ...args);
  assert.ok([2, 3, 4, 5].includes(code), error);
  assert.equal(out, "");
  assert.match(error, /^petstore: .+\n$/);
  return error;
}

/** The rows of a list, as `petstore export` writes them. */
export async function exported<T>(shop: Shop, list: string): Promise<T[]> {
  const { code, out, error } = await petstore(shop, "export", list, "--format", "ndjson");
  assert.equal(code, 0, error);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

export const namesIn = async (shop: Shop): Promise<string[]> => (await exported<Pet>(shop, "pets")).map(({ name }) => name);

/** Deletes animals in the shop, behind the import's back. */
export async function deleteAll(shop: Shop, pets: Pet[]): Promise<void> {
  for (const { id } of pets) {
    const response = await fetch(`${service.address}/v1/pets/${id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${shop.key}` },
    });
    assert.equal(response.status, 204);
  }
}

/** A file in the shelter's columns. */
export async function fileOf(shop: Shop, rows: string[]): Promise<string> {
  const file = join(shop.folder, "animals.csv");
  await writeFile(file, ["animal_id,animal_name,animal_type,outcome_type", ...rows].join("\n"));
  return file;
}

/** So many animals without a name, so that they are called by their ids. */
export const nameless = (animals: number): string[] => Array.from({ length: animals }, (_, n) => `A${String(n).padStart(6, "0")},,dog,`);

export type Moment = "before" | "after";
type Proxy = { url: string; on: (batch: number, moment: Moment, act: () => void) => void };

/**
 * A proxy between the command and the service, which acts before it passes on a batch or its answer, and keeps that answer. It refuses larger bodies
 * than `bytesMax`, as proxies do.
 */
export async function openProxy(t: TestContext, bytesMax = Infinity): Promise<Proxy> {
  let batches = 0;
  let plan: { batch: number; moment: Moment; act: () => void } | undefined;
  const server = createServer((request, response) => {
    const isBatch = /^\/v1\/imports\/\d+\/rows$/.test(request.url ?? "");
    if (isBatch) batches += 1;
    const acts = (moment: Moment) => plan !== undefined && isBatch && plan.batch === batches && plan.moment === moment;
    if (acts("before")) return plan?.act();
    if (Number(request.headers["content-length"] ?? 0) > bytesMax) return void response.writeHead(413, { connection: "close" }).end();
    const onward = forward(service.address + request.url, { method: request.method, headers: request.headers }, (answer) => {
      if (acts("after")) answer.resume().on("end", () => plan?.act());
      else answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
    });
    request.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const on: Proxy["on"] = (batch, moment, act) => {
    batches = 0;
    plan = { batch, moment, act };
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, on };
}
