import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);
const runMsMax = 120_000;
const stopMsMax = 20_000;

/** The core of each side, so that the load generator takes no CPU from the measured server. */
const cores = { server: 0, load: 1 } as const;

/** Binds a command to the core of its side, if there is more than one core. Needs Linux. */
function pinned(side: keyof typeof cores, command: string[]): [program: string, args: string[]] {
  const [program = "", ...args] = availableParallelism() > 1 ? ["taskset", "-c", String(cores[side]), ...command] : command;
  return [program, args];
}

/** Starts a measured server, on the core of servers. */
export function spawnServer(command: string[], options: SpawnOptions): ChildProcess {
  return spawn(...pinned("server", command), options);
}

/** Starts a load generator, on the core of load generators. */
export function spawnLoad(command: string[], options: SpawnOptions): ChildProcess {
  return spawn(...pinned("load", command), options);
}

/** Runs a load generator on the core of load generators, and returns its output. Ends it after two minutes. */
export function runLoad(command: string[], env: Record<string, string> = {}): Promise<string> {
  return runOn("load", command, env);
}

/** Runs the baseline of a server on the core of servers, and returns its output. Ends it after two minutes. */
export function runOnServerCore(command: string[], env: Record<string, string>): Promise<string> {
  return runOn("server", command, env);
}

async function runOn(side: keyof typeof cores, command: string[], env: Record<string, string>): Promise<string> {
  const bounds = { timeout: runMsMax, killSignal: "SIGKILL", maxBuffer: 64 * 1_048_576 } as const;
  const { stdout } = await run(...pinned(side, command), { ...bounds, env: { ...process.env, ...env } });
  return stdout;
}

/** Returns the first line that a process prints. @throws Error if the process ends first */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the child's output is not piped");
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`a server ended with ${code} before it listened`)));
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string];
  return line;
}

/** Ends a process; kills it if it has not ended after 20 seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
  await exit;
  clearTimeout(timer);
}
