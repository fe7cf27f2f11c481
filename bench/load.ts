import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const seconds = 3;

/** `script` is the Lua by which `wrk` makes the requests, where they are not all the same. */
export type Load = { url: string; key?: string; host?: string; connections: number; body?: string; script?: string };

/** Requests a second that `wrk` gets answered, every one of them 2xx. */
export async function requestsPerSecond({ url, key, host, connections, body, script: lua }: Load): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-wrk-"));
  const script = join(folder, "request.lua");
  const post = `wrk.method = "POST"; wrk.body = [[${body}]]; wrk.headers["Content-Type"] = "application/json"`;
  writeFileSync(script, lua ?? (body === undefined ? "" : post));
  const headers = [
    ...(key === undefined ? [] : ["-H", `Authorization: Bearer ${key}`]),
    ...(host === undefined ? [] : ["-H", `Host: ${host}`]),
  ];
  try {
    const { stdout } = await run("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, ...headers, "-s", script, url]);
    if (stdout.includes("Non-2xx")) throw new Error(`${url} refused requests:\n${stdout}`);
    return Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export type Bare = { url: string; stop(): Promise<void> };

/** A bare `node:http` server in a process of its own that answers these bytes; given a body, it parses it as JSON. */
export async function startBare(answer: { status: number; headers: Record<string, string>; body: string }): Promise<Bare> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "bare-server.ts")], {
    env: { ...process.env, ANSWER: JSON.stringify(answer) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await firstLine(child);
  return { url, stop: () => stop(child) };
}

export async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the child's output is not piped");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return line;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
