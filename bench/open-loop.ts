/**
 * Sends requests at a rate that does not depend on the answers, in a separate process, and prints the 99th percentile (ms) of their
 * latency. Latency counts from the time at which a request is due, not from when a connection is free for it: otherwise a slow server
 * would hide its slowness by delaying requests (coordinated omission). Requests arrive at random, independently of each other.
 */
import { connect, type Socket } from "node:net";

export type OpenLoad = { url: string; key: string; path: string; idsMax: number; isOrder: boolean; perSecond: number; seconds: number };

const connections = 64;
/** The most requests that may wait for a connection. With more, the server is saturated, and a percentile has no meaning. */
const waitingMax = 50_000;
const drainMsMax = 20_000;

const { url, key, path, idsMax, isOrder, perSecond, seconds } = JSON.parse(process.env["LOAD"] ?? "") as OpenLoad;
const { hostname, port, host } = new URL(url);
const waits: number[] = [];
const due: number[] = [];
const idle: Socket[] = [];
let open = 0;

for (let number = 0; number < connections; number++) idle.push(await connection());
// A service accepts one connection in each turn of its event loop. The measurement begins when it has accepted all.
for (const socket of idle.splice(0)) send(socket, performance.now());
while (idle.length < connections) await new Promise((resolve) => setTimeout(resolve, 10));
waits.length = 0;

let nextAt = performance.now();
const endsAt = nextAt + seconds * 1_000;
loop();

function loop(): void {
  const now = performance.now();
  for (; nextAt <= now && nextAt < endsAt; nextAt += (-Math.log(1 - Math.random()) * 1_000) / perSecond) due.push(nextAt);
  if (due.length > waitingMax || now > endsAt + drainMsMax)
    throw new Error(`the server does not keep up with ${perSecond} requests a second`);
  while (due.length > 0 && idle.length > 0) send(idle.pop()!, due.shift()!);
  if (now < endsAt || due.length > 0 || open > 0) return loopLater(nextAt - now);
  const sorted = waits.toSorted((a, b) => a - b);
  console.log(sorted[Math.floor(sorted.length * 0.99)]);
  process.exit();
}

/** Loops again in the next turn, or just before the next request is due: the load takes no CPU that it does not need. */
function loopLater(ms: number): void {
  if (ms > 2) setTimeout(loop, ms - 1);
  else setImmediate(loop);
}

function send(socket: Socket, dueAt: number): void {
  open += 1;
  const id = 1 + Math.floor(Math.random() * idsMax);
  const body = isOrder ? `{"petId":${id},"quantity":1}` : "";
  const head = isOrder ? `POST ${path}` : `GET ${path}/${id}`;
  const more = isOrder ? `content-type: application/json\r\ncontent-length: ${body.length}\r\n` : "";
  socket.write(`${head} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n${more}\r\n${body}`, "latin1");
  let text = "";
  const onData = (chunk: string): void => {
    text += chunk;
    const end = text.indexOf("\r\n\r\n");
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
    if (end < 0 || text.length < end + 4 + length) return;
    if (!/^HTTP\/1\.1 20[01] /.test(text)) throw new Error(text.slice(0, end));
    socket.off("data", onData);
    waits.push(performance.now() - dueAt);
    open -= 1;
    idle.push(socket);
  };
  socket.on("data", onData);
}

function connection(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(socket));
    socket.setEncoding("latin1").on("error", reject);
  });
}
