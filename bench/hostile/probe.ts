/**
 * Requests `/healthz` every few milliseconds, in a separate process, so that delays of the load generator do not count. When its input
 * ends, it prints the longest wait. If the service's event loop got less CPU time than a wait took, that CPU time counts as the wait,
 * because the rest was spent waiting for a busy processor.
 */
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";

const [, , origin, pid] = process.argv;
/** proc(5) counts in steps of 10 ms. */
const tickMs = 10;

const everyMs = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const url = `${origin}/healthz`;
let longestMs = 0;
const over = new AbortController();
process.stdin.resume().once("end", () => over.abort());

console.log("ready");
while (!over.signal.aborted) {
  longestMs = Math.max(longestMs, await waitMs());
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}
agent.destroy();
console.log(longestMs);

function waitMs(): Promise<number> {
  const [start, cpuBefore] = [performance.now(), cpuMs()];
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.resume().once("end", () => resolve(Math.min(performance.now() - start, cpuMs() - cpuBefore + tickMs)));
    });
    request.once("error", reject);
  });
}

function cpuMs(): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
