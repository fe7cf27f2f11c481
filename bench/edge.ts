import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { throwAwayCertificate } from "../test/support/test-edge.ts";
import { cpuMsOf } from "./cpu.ts";
import { serve } from "./custom-domains.ts";
import { startCaddy, startNginx, type Content, type WebServer } from "./edge/web-servers.ts";
import { ofPairs, type Figure } from "./figures.ts";
import { runLoad } from "./processes.ts";

const rounds = 5;
const names = Array.from({ length: 1_000 }, (_, index) => `www.shop-${index}.example`);
const fileName = "photo.jpg";
const connections = 32;
const handshakes = 1_500;

/** The three servers, which are measured in turn. */
type Servers = { edge: WebServer; caddy: WebServer; nginx: WebServer };
type Row = {
  id: string;
  what: string;
  /** Ours / Caddy's, and ours / nginx's. */
  goals: { caddy: string; nginx: string };
  /** Requests or handshakes in a round. */
  count: number;
  load: (server: WebServer, count: number) => Promise<void>;
};

/** Options of `h2load` for each protocol. Over HTTP/2, each connection has 10 requests at once. */
const http1 = ["--h1"];
const http2 = ["-m", "10"];
const rows: Row[] = [
  {
    id: "edge-http1",
    what: "CPU of a published file of 10 KiB over HTTP/1.1",
    goals: { caddy: "≤ 0.4", nginx: "≤ 3" },
    count: 12_000,
    load: ({ httpPort }, count) => getFile(`http://bench.petstore.localhost:${httpPort}`, httpPort, count, http1),
  },
  {
    id: "edge-https1",
    what: "CPU of the same over HTTPS with HTTP/1.1",
    goals: { caddy: "≤ 0.6", nginx: "≤ 3" },
    count: 10_000,
    load: ({ httpsPort }, count) => getFile(`https://${names[7]}:${httpsPort}`, httpsPort, count, http1),
  },
  {
    id: "edge-https2",
    what: "CPU of the same over HTTPS with HTTP/2",
    goals: { caddy: "≤ 0.8", nginx: "≤ 4" },
    count: 10_000,
    load: ({ httpsPort }, count) => getFile(`https://${names[7]}:${httpsPort}`, httpsPort, count, http2),
  },
  {
    id: "edge-handshake",
    what: `CPU of a full TLS handshake, ${names.length.toLocaleString("en")} certificates`,
    goals: { caddy: "≤ 1.2", nginx: "≤ 2" },
    count: handshakes,
    load: ({ httpsPort }, count) => shake(httpsPort, count),
  },
];

/** Compares the edge's CPU for a visit with Caddy's and nginx's, with the same file, names and keys. All three write an access log. */
export async function* measureEdge(): AsyncGenerator<Figure> {
  const folders = ["caddy", "nginx"].map((name) => mkdtempSync(join(tmpdir(), `petstore-${name}-`)));
  const content: Content = {
    fileName,
    file: randomBytes(10 * 1_024),
    pairs: new Map(names.map((name) => [name, throwAwayCertificate(name)])),
  };
  const open: WebServer[] = [];
  const start = async (server: Promise<WebServer>): Promise<WebServer> => {
    open.push(await server);
    return server;
  };
  try {
    const servers: Servers = {
      edge: await start(startEdge(content)),
      caddy: await start(startCaddy(folders[0]!, content)),
      nginx: await start(startNginx(folders[1]!, content)),
    };
    for (const row of rows) yield* await compare(servers, row);
  } finally {
    for (const server of open) await server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

/** The whole service, as people start it. */
async function startEdge({ file, pairs }: Content): Promise<WebServer> {
  const { shop, folder, httpPort, port } = await serve(names.length, { files: { [fileName]: file, "petstore.json": "{}" }, pairs });
  const stop = async (): Promise<void> => {
    await shop.stop();
    folder.remove();
  };
  return { pid: shop.pid, httpPort, httpsPort: port, stop };
}

/** Measures the servers in turn, after one warm-up round. */
async function compare(servers: Servers, { id, what, goals, count, load }: Row): Promise<Figure[]> {
  const measured: Record<keyof Servers, number>[] = [];
  const microseconds = async (server: WebServer): Promise<number> => {
    const before = cpuMsOf(server.pid);
    await load(server, count);
    return ((cpuMsOf(server.pid) - before) * 1_000) / count;
  };
  for (let round = 0; round <= rounds; round++) {
    const [caddy, edge, nginx] = [await microseconds(servers.caddy), await microseconds(servers.edge), await microseconds(servers.nginx)];
    if (round > 0) measured.push({ edge, caddy, nginx });
  }
  return (["caddy", "nginx"] as const).map((other) => ({
    id: `${id}-${other}`,
    what: `${what} / ${other === "caddy" ? "Caddy" : "nginx"}`,
    ...ofPairs(measured.map((one) => [one.edge, one[other]])),
    unit: "µs",
    goal: goals[other],
  }));
}

/** @throws Error if a request was not answered with 200 */
async function getFile(origin: string, port: number, count: number, options: string[]): Promise<void> {
  const url = `${origin}/${fileName}`;
  const load = ["h2load", "-c", String(connections), "-n", String(count), ...options, "--connect-to", `127.0.0.1:${port}`, url];
  const out = await runLoad(load);
  if (!out.includes(`status codes: ${count} 2xx`)) throw new Error(`${url} gave an unexpected answer:\n${out}`);
}

async function shake(port: number, count: number): Promise<void> {
  await runLoad([process.execPath, join(import.meta.dirname, "edge", "handshakes.ts"), String(port), String(count), ...names]);
}
