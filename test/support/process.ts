import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommand } from "./commands.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** What a started process needs of this one's environment; the settings of the service are not among it. */
export function inherited(): Record<string, string | undefined> {
  return { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
}

export type LogLine = {
  level: number;
  /** ms since the Unix epoch. */
  time: number;
  msg?: string;
  address?: string;
  requestId?: string;
  method?: string;
  path?: string;
  status?: number;
  fault?: string;
};

export type ServerProcess = {
  /** All that it has written so far. */
  out(): string;
  err(): string;
  log(): LogLine[];
  /** Resolves when a line of the log passes the check. @throws if the process ends before */
  logged(wanted: (line: LogLine) => boolean): Promise<LogLine>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, and null where a signal ended it. */
  ended: Promise<number | null>;
};

/** The owner that stops what was started: a test, or a script. */
export type Ending = Pick<TestContext, "after"> & Partial<Pick<TestContext, "passed" | "diagnostic">>;

/**
 * Starts `petstore serve` as a process of its own, on a data folder and, where `env` names no others, on free ports.
 *
 * @param under a command that runs the one that follows it
 * @param program `src/main.ts` of this checkout or of another release
 */
export function spawnServer(
  t: Ending,
  dataDir: string,
  env: Record<string, string> = {},
  under: string[] = [],
  program: string = main,
): ServerProcess {
  const [command = process.execPath, ...args] = under;
  const child = spawn(command, [...args, ...(under.length > 0 ? [process.execPath] : []), program, "serve"], {
    env: { ...inherited(), DATA_DIR: dataDir, PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  let over = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code]) => {
    over = true;
    return code as number | null;
  });
  t.after(async () => {
    if (t.passed === false) t.diagnostic?.(`${over ? "a server that ended" : "a server that still ran"}: ${lastWords(log(), err)}`);
    child.kill("SIGKILL");
    await ended;
  });

  const log = (): LogLine[] =>
    out
      .slice(0, out.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as LogLine);

  async function logged(wanted: (line: LogLine) => boolean): Promise<LogLine> {
    for (;;) {
      const line = log().find(wanted);
      if (line) return line;
      assert.ok(!over, `the server ended before it logged what was awaited: ${out}${err}`);
      await Promise.race([once(child.stdout, "data"), ended]);
    }
  }

  return { out: () => out, err: () => err, log, logged, kill: (signal) => void child.kill(signal), ended };
}

/** The last lines of the log, without those of requests, and the end of standard error. They may show why a test failed that waited for the server. */
function lastWords(log: LogLine[], err: string): string {
  const lines = log.filter(({ method }) => method === undefined).slice(-10);
  return [...lines.map((line) => JSON.stringify(line)), err.slice(-1_000)].join("\n");
}

/** The address of a server, once it has started. */
export async function addressOf(server: ServerProcess): Promise<string> {
  return (await server.logged(({ msg }) => msg === "started")).address ?? "";
}

/** The line in which the first start, without a terminal, shows what it has made. */
function firstStartIn(text: string): { key?: string; link?: string } {
  const line = text.split("\n").find((one) => one.includes('"msg":"first start"'));
  return JSON.parse(line ?? "{}") as { key?: string; link?: string };
}

/** The sign-in link that the first start printed; empty where it was not the first. */
export function signInLinkIn(text: string): string {
  return firstStartIn(text).link ?? "";
}

/** The key that the first start printed; empty where it was not the first. */
export function keyIn(text: string): string {
  return firstStartIn(text).key ?? "";
}

/** A server that has started, and how it ends. */
export type StartedServer = {
  address: string;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Asks it to stop, and resolves when its log says that it does. */
  terminate(): Promise<void>;
  /** The exit code; null after a kill. */
  ended: Promise<number | null>;
};

/** Starts `petstore serve` on a data folder. @throws with what it printed when it ends before it listens */
export async function startServer(t: TestContext, dataDir: string): Promise<StartedServer> {
  const server = spawnServer(t, dataDir);
  return {
    address: await addressOf(server),
    async kill() {
      server.kill("SIGKILL");
      await server.ended;
    },
    async terminate() {
      server.kill("SIGTERM");
      await server.logged(({ msg }) => msg === "stopping");
    },
    ended: server.ended,
  };
}

/** Makes an account whose limits no test reaches, in a data folder that no server holds, and gives its key. */
export async function createAccount(dataDir: string, env: Record<string, string> = {}): Promise<string> {
  const figures = ["--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000"];
  const words = ["accounts", "create", "--name", "Shop", ...figures, "--json"];
  const { out } = await runCommand(words, { DATA_DIR: dataDir, ...env });
  return (JSON.parse(out) as { key: string }).key;
}
