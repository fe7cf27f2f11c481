import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { openEdge } from "../src/publishing/edge/edge.ts";
import { throwAwayCertificate } from "../src/publishing/edge/edge.fixture.ts";
import type { KeyPair, Site } from "../src/publishing/edge/site.ts";

export type EdgeFigures = {
  /** Requests per second of a 10 KiB file, and of a bare `node:http` answer of the same bytes. */
  filePerSecond: number;
  barePerSecond: number;
  /** CPU of the server's thread per full handshake, with one domain and with many asked for by Zipf's law. */
  handshakeMsOne: number;
  handshakeMsMany: number;
  domains: number;
  /** Resident memory after the handshakes of the many. */
  residentMiB: number;
};

type Load = { kind: "requests"; port: number; host: string; seconds: number } | { kind: "handshakes"; port: number; names: string[] };
const body = randomBytes(10 * 1024);
const connections = 32;

/** Measures the edge on this machine. The clients run on a thread of their own; figures are of the server's thread. */
export async function measureEdge({ domains = 10_000, handshakes = 6_000, seconds = 2 } = {}): Promise<EdgeFigures> {
  const folder = await mkdtemp(join(tmpdir(), "bench-edge-"));
  await writeFile(join(folder, "page"), body);
  const file = { hash: "page", size: body.length, type: "text/html; charset=utf-8", encodings: {} };
  const site: Site = { status: "live", manifest: new Map([["index.html", file]]) };
  const pairs = new Map<string, KeyPair>();
  const certified = new Map<string, string>();
  const edge = await openEdge({
    http: { host: "127.0.0.1", port: 0 },
    https: { host: "127.0.0.1", port: 0 },
    sites: { get: () => site },
    certificates: { current: (host) => certified.get(host), load: (id) => Promise.resolve(pairs.get(id)) },
    challenges: { http: () => undefined, tlsAlpn: () => undefined },
    openContent: (hash) => open(join(folder, hash)),
    ticketSecret: randomBytes(32),
    log: console,
    clock: Date.now,
  });
  const bare = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": file.type, "Content-Length": body.length });
    response.end(body);
  }).listen(0, "127.0.0.1");
  await once(bare, "listening");

  const rate = (port: number) => run({ kind: "requests", port, host: "shop.localhost", seconds });
  const rates = { file: [] as number[], bare: [] as number[] };
  for (let round = 0; round < 3; round += 1) {
    rates.bare.push(await rate((bare.address() as AddressInfo).port));
    rates.file.push(await rate(edge.addresses.http.port));
  }

  const names = Array.from({ length: domains }, (_, index) => `www.shop-${index}.example`);
  const pair = throwAwayCertificate(names[0]!);
  for (const name of names) {
    certified.set(name, name);
    pairs.set(name, { cert: String(Buffer.from(pair.cert)), key: String(Buffer.from(pair.key)) });
  }
  const port = edge.addresses.https!.port;
  const cpuPerHandshake = async (asked: string[]): Promise<number> => {
    const before = process.threadCpuUsage();
    await run({ kind: "handshakes", port, names: asked });
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 / asked.length;
  };
  await cpuPerHandshake(Array.from({ length: 500 }, () => names[0]!));
  const handshakeMsOne = await cpuPerHandshake(Array.from({ length: handshakes }, () => names[0]!));
  await cpuPerHandshake(zipf(names, handshakes)); // The caches as they are in operation, not at a start.
  const handshakeMsMany = await cpuPerHandshake(zipf(names, handshakes));
  const residentMiB = process.memoryUsage.rss() / 2 ** 20;

  await edge.close(0);
  bare.closeAllConnections();
  bare.close();
  await rm(folder, { recursive: true });
  return { filePerSecond: median(rates.file), barePerSecond: median(rates.bare), handshakeMsOne, handshakeMsMany, domains, residentMiB };
}

/** Names drawn by Zipf's law: the n-th of them n times as rarely as the first. */
function zipf(names: string[], count: number): string[] {
  const sums: number[] = [];
  for (let rank = 1; rank <= names.length; rank += 1) sums.push((sums.at(-1) ?? 0) + 1 / rank);
  return Array.from({ length: count }, () => {
    const point = Math.random() * sums.at(-1)!;
    return names[sums.findIndex((sum) => sum >= point)]!;
  });
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function run(load: Load): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const [result] = (await once(worker, "message")) as [number];
  await worker.terminate();
  return result;
}

async function makeRequests({ port, host, seconds }: Extract<Load, { kind: "requests" }>): Promise<number> {
  const request = `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
  let answered = 0;
  for (const socket of sockets) {
    let expected = 0;
    socket.on("connect", () => socket.write(request));
    socket.on("data", (chunk) => {
      if (expected === 0) expected = chunk.indexOf("\r\n\r\n") + 4 + body.length;
      expected -= chunk.length;
      if (expected > 0) return;
      expected = 0;
      answered += 1;
      socket.write(request);
    });
  }
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(500);
  const before = answered;
  const started = performance.now();
  await wait(seconds * 1000);
  const rate = ((answered - before) * 1000) / (performance.now() - started);
  for (const socket of sockets) socket.destroy();
  return rate;
}

async function makeHandshakes({ port, names }: Extract<Load, { kind: "handshakes" }>): Promise<number> {
  const queue = names.values();
  const client = async (): Promise<void> => {
    for (const servername of queue) {
      const socket = connectTls({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
      await once(socket, "secureConnect");
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return names.length;
}

if (!isMainThread) {
  const load = workerData as Load;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(await (load.kind === "requests" ? makeRequests(load) : makeHandshakes(load)));
} else if (import.meta.main) {
  const figures = await measureEdge();
  console.log({
    ...figures,
    fileOverBare: figures.filePerSecond / figures.barePerSecond,
    handshakeManyOverOne: figures.handshakeMsMany / figures.handshakeMsOne,
  });
}
