import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts `probe.ts`. `end` stops it and returns the longest wait for `/healthz` (ms). */
export async function openProbe(origin: string, pid: number): Promise<{ end(): Promise<number> }> {
  const probe = spawn(process.execPath, [join(import.meta.dirname, "probe.ts"), origin, String(pid)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(probe.stdout)[Symbol.asyncIterator]();
  await lines.next();
  return {
    async end() {
      probe.stdin.end();
      return Number((await lines.next()).value);
    },
  };
}
