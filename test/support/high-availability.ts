import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import pg from "pg";
import { attempt } from "../../src/platform/parse.ts";
import { newSecretsKey } from "../../src/platform/secrets.ts";
import { inherited } from "./process.ts";
import { programNamed } from "./programs.ts";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const recipe = join(root, "deploy/high-availability");
/** PostgreSQL and Patroni refuse to run as root. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const passwords = { SUPERUSER_PASSWORD: "s1", REPLICATION_PASSWORD: "r2", DATABASE_PASSWORD: "d3", REDIS_PASSWORD: "k4" };

type Program = "etcd" | "patroni" | "redis" | "sentinel" | "haproxy" | "petstore";

/** One of the three machines of `docs/high-availability.md`: an address of this one, with the ports of the recipe. */
export type Machine = {
  address: string;
  /** Where clients send requests. */
  balancer: string;
  node: string;
  start: (program: Program) => void;
  /** Ends a program at once; `patroni` with its PostgreSQL. Resolves when it is gone. */
  kill: (program: Program) => Promise<void>;
  /** Ends PostgreSQL at once, and leaves Patroni. */
  killPostgres: () => void;
  /** The environment of a command of the service. */
  env: Record<string, string>;
  /** Reads from its PostgreSQL. */
  query: <R extends pg.QueryResultRow>(database: string, text: string) => Promise<R[]>;
  /** Whether its PostgreSQL or Redis takes writes. */
  isPrimary: () => Promise<boolean>;
  isMaster: () => boolean;
};

export type HighAvailability = { machines: Machine[]; close: () => Promise<void> };

/**
 * Starts the recipe as its files and its page have it, on three addresses of this machine. Replaced are the values that an operator chooses, and
 * the folders.
 */
export async function startHighAvailability(): Promise<HighAvailability> {
  const network = `127.${randomInt(2, 250)}.${randomInt(2, 250)}`;
  const folder = mkdtempSync("/tmp/petstore-ha-"); // short, because the path of a socket is
  chmodSync(folder, 0o755);
  const machines = [1, 2, 3].map((number) => openMachine(network, number, join(folder, `${number}`)));
  const close = async (): Promise<void> => {
    for (const { kill } of machines) for (const program of programs) await kill(program);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await startAll(machines);
  } catch (error) {
    await close();
    throw error;
  }
  return { machines, close };
}

const programs: Program[] = ["petstore", "haproxy", "sentinel", "redis", "patroni", "etcd"];

/** In the order of the page. */
async function startAll(machines: ReturnType<typeof openMachine>[]): Promise<void> {
  const [first] = machines;
  const all = (program: Program): void => machines.forEach(({ start }) => start(program));
  all("etcd");
  all("patroni");
  all("redis");
  await until(async () => (await Promise.all(machines.map(({ isPrimary }) => isPrimary()))).includes(true));
  await until(() => machines.every(({ answersRedis }) => answersRedis()));
  for (const { run } of machines.slice(1)) assert.ok(run("redis-cli -h THIS_ADDRESS"));
  all("sentinel");
  all("haproxy");
  await until(() => first!.run("psql "));
  all("petstore");
  for (const { node, balancer } of machines)
    for (const address of [node, balancer])
      await until(async () => (await fetch(`${address}/readyz`).catch(() => undefined))?.status === 200);
}

function openMachine(network: string, number: number, folder: string) {
  const address = `${network}.${number}`;
  const filled = fillerOf(network, number, folder);
  writeFiles(folder, filled);
  const commands = commandsIn(folder);
  const running = new Map<Program, ChildProcess>();

  function start(program: Program): void {
    const { command, env = {}, asRoot } = commands[program];
    const [name = "", ...args] = command;
    const log = openSync(join(folder, `${program}.log`), "a");
    const user = isRoot && !asRoot ? { uid: nobody, gid: nobody } : {};
    const child = spawn(name, args, { cwd: folder, env: { ...inherited(), HOME: folder, ...env }, stdio: ["ignore", log, log], ...user });
    closeSync(log);
    running.set(program, child);
  }

  async function kill(program: Program): Promise<void> {
    const child = running.get(program);
    running.delete(program);
    if (!child) return;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await gone;
    if (program === "patroni") killPostgres(folder);
  }

  const redis = (...words: string[]): string => redisAnswer(address, words);
  /** Runs the commands of the page that have these words, and returns whether all did their work. */
  const run = (words: string): boolean =>
    commandsOf(filled, filled(words)).every((line) => spawnSync("sh", ["-c", line], { stdio: "ignore" }).status === 0);
  return {
    address,
    balancer: `http://${address}:8000`,
    node: `http://${address}:8080`,
    env: commands.petstore.env!,
    start,
    kill,
    killPostgres: () => killPostgres(folder),
    run,
    answersRedis: () => redis("ping").includes("PONG"),
    isMaster: () => redis("info", "replication").includes("role:master"),
    isPrimary: () => takesWrites(address),
    query: <R extends pg.QueryResultRow>(database: string, text: string) => queryAt<R>(address, database, text),
  };
}

/** Fills the recipe's files, and makes the folders that Debian's packages have. */
function writeFiles(folder: string, filled: (text: string) => string): void {
  for (const path of [folder, ...["etcd", "redis", "petstore"].map((name) => join(folder, name))]) {
    mkdirSync(path, { mode: 0o755 });
    if (isRoot) chownSync(path, nobody, nobody);
  }
  for (const name of readdirSync(recipe)) {
    const path = join(folder, name === "etcd" ? "etcd.env" : name);
    writeFileSync(path, filled(readFileSync(join(recipe, name), "utf8")));
    if (isRoot) chownSync(path, nobody, nobody);
  }
}

type Command = { command: string[]; env?: Record<string, string>; asRoot?: true };

/** How Debian's units start the programs. HAProxy begins as root, and goes on as the user of its file. */
function commandsIn(folder: string): Record<Program, Command> {
  const file = (name: string): string => join(folder, name);
  return {
    etcd: { command: ["etcd"], env: parseEnv(readFileSync(file("etcd.env"), "utf8")) as Record<string, string> },
    patroni: { command: ["patroni", file("patroni.yaml")] },
    redis: { command: ["redis-server", file("redis.conf")] },
    sentinel: { command: ["redis-sentinel", file("sentinel.conf")] },
    haproxy: { command: [programNamed(["haproxy"]) ?? "haproxy", "-db", "-f", file("haproxy.cfg")], asRoot: true },
    petstore: {
      command: [process.execPath, join(root, "src/main.ts"), "serve"],
      env: { ENV_FILE: file("petstore.env"), DATA_DIR: file("petstore") },
    },
  };
}

function killPostgres(folder: string): void {
  const pid = attempt(() => readFileSync(join(folder, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
  if (pid !== undefined) attempt(() => process.kill(Number(pid), "SIGKILL")); // it may have ended
}

const secret = newSecretsKey();

/** Replaces the values of `values.sed`, and the folders. */
function fillerOf(network: string, number: number, folder: string): (text: string) => string {
  const chosen: Record<string, string> = {
    THIS_NAME: `petstore-${number}`,
    THIS_ADDRESS: `${network}.${number}`,
    ...Object.fromEntries([1, 2, 3].map((one) => [`ADDRESS_${one}`, `${network}.${one}`])),
    ...passwords,
    NETWORK: "127.0.0.0/8",
    NODES_SECRET: secret,
    PUBLIC_ADDRESS: `http://${network}.1:8000`,
  };
  const names = [...readFileSync(join(recipe, "values.sed"), "utf8").matchAll(/^s[/|]([A-Z_0-9]+)[/|]/gm)].map(([, name]) => name!);
  const folders: [string, string][] = [
    ["/var/lib/etcd/petstore", join(folder, "etcd")],
    ["/var/lib/postgresql/15/petstore", join(folder, "postgres")],
    ["/var/run/postgresql", folder],
    ["/var/lib/redis", join(folder, "redis")],
    ["/etc/haproxy/", `${folder}/`],
  ];
  return (text) => {
    const valued = names.reduce((rest, name) => rest.replaceAll(name, () => chosen[name]!), text);
    return folders.reduce((rest, [from, to]) => rest.replaceAll(from, to), valued);
  };
}

/** The commands of the page, filled, that begin so. */
function commandsOf(filled: (text: string) => string, beginning: string): string[] {
  const page = filled(readFileSync(join(root, "docs/high-availability.md"), "utf8"));
  const lines = [...page.matchAll(/^# (.+)$/gm)]
    .map(([, line]) => line!)
    .filter((line) => line.includes(beginning) && !line.startsWith(" "));
  if (lines.length === 0) throw new Error(`docs/high-availability.md has no command ${beginning}`);
  return lines;
}

function redisAnswer(address: string, words: string[]): string {
  const args = ["-h", address, "-a", passwords.REDIS_PASSWORD, "--no-auth-warning", ...words];
  return spawnSync("redis-cli", args, { encoding: "utf8", timeout: 2_000 }).stdout ?? "";
}

/** Whether a PostgreSQL acknowledges a commit, which waits for the standby. */
async function takesWrites(address: string): Promise<boolean> {
  try {
    await queryAt(address, "postgres", "SELECT pg_logical_emit_message(true, 'probe', '')");
    return true;
  } catch {
    return false;
  }
}

async function queryAt<R extends pg.QueryResultRow>(host: string, database: string, text: string): Promise<R[]> {
  const { SUPERUSER_PASSWORD: password } = passwords;
  const timeouts = { connectionTimeoutMillis: 1_000, query_timeout: 5_000 };
  const client = new pg.Client({ host, port: 5432, user: "postgres", password, database, ...timeouts });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
