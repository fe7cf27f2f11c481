/**
 * Visits hosts of the edge over several connections until the time is over, and prints how long the answers took. In a separate process, so
 * that delays of other load generators do not count. Prints a first line when every connection has had an answer. With `pid`, waits for a busy processor do not count either: neither those of this process,
 * nor those of the service, whose event loop got less CPU time than the answer took. `LOAD` has its options as JSON.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import type { Visits, VisitorLoad } from "./visitors.ts";

const { port, hosts, path, connections, addresses, everyMs, seconds, headers, pid } = JSON.parse(process.env["LOAD"] ?? "") as VisitorLoad;
const until = performance.now() + seconds * 1_000;
const waits: number[] = [];
const statuses: Record<string, number> = {};
let nth = 0;
let answered = 0;
/** What a request takes besides the service's event loop, such as the network and the thread pool (ms). */
const ownMs = 2;

await Promise.all(Array.from({ length: connections }, (_, index) => visit(addresses[index % addresses.length]!)));
waits.sort((a, b) => a - b);
const at = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
const visits: Visits = { statuses, p50: at(0.5), p99: at(0.99), longest: at(1) };
console.log(JSON.stringify(visits));

/** Sends one request after another on one connection. */
async function visit(localAddress: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isFirst = true;
  while (performance.now() < until) {
    const [begunAt, before] = [performance.now(), busyMs()];
    const host = hosts[nth++ % hosts.length]!;
    const status = await answerOf({
      agent,
      localAddress,
      headers: { host, ...headers },
      path: path.replace("*", Math.random().toString(36)),
    });
    const [waitMs, after] = [performance.now() - begunAt, busyMs()];
    waits.push(pid === undefined ? waitMs : Math.min(waitMs - (after.here - before.here), after.service - before.service + ownMs));
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (isFirst && ++answered === connections) console.log("all connections have had an answer");
    isFirst = false;
    if (everyMs > 0 || status === 0) await new Promise((resolve) => setTimeout(resolve, Math.max(1, everyMs)));
  }
  agent.destroy();
}

/** Returns the status of the answer, or 0 if there is none. */
function answerOf(options: { agent: Agent; localAddress: string; path: string; headers: Record<string, string> }): Promise<number> {
  return new Promise((resolve) => {
    request({ host: "127.0.0.1", port, ...options }, (response) => {
      response.resume().once("close", () => resolve(response.statusCode ?? 0));
    })
      .once("error", () => resolve(0))
      .end();
  });
}

/** For how long this process has waited for a processor, and for how long the service's event loop has had one (proc_pid_schedstat(5), ns). */
function busyMs(): { here: number; service: number } {
  const figures = (of: string): string[] => (pid === undefined ? [] : readFileSync(`/proc/${of}/schedstat`, "utf8").split(" "));
  return { here: Number(figures("self")[1] ?? 0) / 1e6, service: Number(figures(`${pid}/task/${pid}`)[0] ?? 0) / 1e6 };
}
