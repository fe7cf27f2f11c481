import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export type LogLine = {
  level: number;
  time: string;
  msg?: string;
  address?: string;
  requestId?: string;
  method?: string;
  path?: string;
  status?: number;
};

export type ServerProcess = {
  /** All that it has written so far. */
  out(): string;
  err(): string;
  log(): LogLine[];
  /** Resolves when a line of the log is as wanted. @throws when the process ends before */
  logged(wanted: (line: LogLine) => boolean): Promise<LogLine>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, and null where a signal ended it. */
  ended: Promise<number | null>;
};

/** Starts `petstore serve` as a process of its own, on a data folder and, unless told, on free ports. */
export function spawnServer(t: TestContext, dataDir: string, env: Record<string, string> = {}): ServerProcess {
  const child = spawn(process.execPath, [main, "serve"], {
    env: { DATA_DIR: dataDir, PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0", ...env },
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

/** The address of a server, once it has started. */
export async function addressOf(server: ServerProcess): Promise<string> {
  return (await server.logged(({ msg }) => msg === "started")).address ?? "";
}

/** The key that the first start printed. */
export function keyIn(text: string): string {
  return /^ {2}(psk_\w+)$/m.exec(text)?.[1] ?? "";
}
