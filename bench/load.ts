import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMsOf } from "./cpu.ts";
import { firstLine, runLoad, spawnServer, stop } from "./processes.ts";

/** The default duration of a load. */
const secondsDefault = 3;

/** `script` is Lua code with which `wrk` makes differing requests. With `isRefused`, no answer may be 2xx or 3xx. */
export type Load = {
  url: string;
  key?: string;
  host?: string;
  connections: number;
  body?: string;
  script?: string;
  isRefused?: boolean;
  seconds?: number;
};

/** The requests a second that a server answers to `wrk`. @throws Error unless all answers are 2xx or 3xx, or with `isRefused` none */
export async function requestsPerSecond(load: Load): Promise<number> {
  return (await send(load)).perSecond;
}

/** The requests that a server answers in a second of its CPU time, which varies less than requests a second on a busy machine. */
export async function requestsPerCpuSecond(pid: number, load: Load): Promise<number> {
  const before = cpuMsOf(pid);
  const { requests } = await send(load);
  return (requests * 1_000) / (cpuMsOf(pid) - before);
}

/** The CPU (µs) that a server takes for a request. */
export async function cpuUsOfRequest(pid: number, load: Load): Promise<number> {
  return 1e6 / (await requestsPerCpuSecond(pid, load));
}

async function send({
  url,
  key,
  host,
  connections,
  body,
  script: lua,
  isRefused = false,
  seconds = secondsDefault,
}: Load): Promise<{ requests: number; perSecond: number }> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-wrk-"));
  const script = join(folder, "request.lua");
  const post = `wrk.method = "POST"; wrk.body = [[${body}]]; wrk.headers["Content-Type"] = "application/json"`;
  writeFileSync(script, lua ?? (body === undefined ? "" : post));
  const headers = [
    ...(key === undefined ? [] : ["-H", `Authorization: Bearer ${key}`]),
    ...(host === undefined ? [] : ["-H", `Host: ${host}`]),
  ];
  try {
    const out = await runLoad(["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, ...headers, "-s", script, url]);
    const figure = (pattern: RegExp): number => Number(pattern.exec(out)?.[1] ?? 0);
    const requests = figure(/(\d+) requests in /);
    const refused = figure(/Non-2xx or 3xx responses: (\d+)/);
    if (requests === 0 || refused !== (isRefused ? requests : 0)) throw new Error(`${url} gave an unexpected answer:\n${out}`);
    return { requests, perSecond: figure(/Requests\/sec:\s*([\d.]+)/) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export type Bare = { url: string; pid: number; stop(): Promise<void> };

type Answer = { status: number; headers: Record<string, string>; body: string };

/** Headers that Node adds itself. */
const automatic = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

/** The answer that a bare server must send to send the same bytes. */
export async function answerOf(response: Response): Promise<Answer> {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !automatic.has(name)));
  return { status: response.status, headers, body: await response.text() };
}

/** Starts a bare `node:http` server that sends this answer. It parses each body as JSON, and flushes it to `durableFile` if given. */
export async function startBare(answer: Answer, durableFile?: string): Promise<Bare> {
  const child = spawnServer([process.execPath, join(import.meta.dirname, "bare-server.ts")], {
    env: { ...process.env, ANSWER: JSON.stringify(answer), ...(durableFile !== undefined && { DURABLE: durableFile }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await firstLine(child);
  return { url, pid: child.pid ?? 0, stop: () => stop(child) };
}
