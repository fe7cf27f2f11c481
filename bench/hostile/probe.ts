/**
 * Asks for `/healthz` every few milliseconds, in a process of its own, so that no wait of the load generator counts. When its
 * input ends, it prints the longest wait: the time that passed, or the CPU time that its event loop had meanwhile where that is
 * less, because it then waited for a processor that others had.
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

console.log("asking");
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
