import { readFileSync } from "node:fs";

/** CPU ms that a service has used so far, by its own metrics: to the microsecond, where `/proc` counts in steps of 10 ms. */
export async function cpuMs(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const seconds = /^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error(`${origin}/metrics shows no CPU time`);
  return Number(seconds) * 1_000;
}

/** Resident memory of a process (proc(5)). */
export function residentMiB(pid: number): number {
  return statusMiB(pid, "VmRSS");
}

function statusMiB(pid: number, name: "VmRSS" | "RssAnon" | "RssFile"): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}
