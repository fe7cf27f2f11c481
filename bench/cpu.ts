import { readdirSync, readFileSync } from "node:fs";

/** CPU ms that a service has used so far, from its metrics. They count microseconds, while `/proc` counts in steps of 10 ms. */
export async function cpuMs(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const seconds = /^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error(`${origin}/metrics shows no CPU time`);
  return Number(seconds) * 1_000;
}

/** CPU ms (user and system, in steps of 10 ms) that a process and its descendants have used so far, even those that ended (proc(5)). */
export function cpuMsOf(pid: number): number {
  let ticks = 0;
  for (const one of treeOf(pid)) for (const count of statOf(one)?.slice(11, 15) ?? []) ticks += count;
  return ticks * 10;
}

/** Resident memory of a process (proc(5)). */
export function residentMiB(pid: number): number {
  return statusMiB(pid, "VmRSS");
}

/** Anonymous resident memory (backed by no file) of a process and its descendants. */
export function anonymousMiBOf(pid: number): number {
  return treeOf(pid).reduce((sum, one) => sum + statusMiB(one, "RssAnon"), 0);
}

function statusMiB(pid: number, name: "VmRSS" | "RssAnon"): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

/** A process and its descendants. */
function treeOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) parents.set(Number(name), statOf(Number(name))?.[1] ?? 0);
  const isBelow = (one: number): boolean => one === pid || (one !== 0 && isBelow(parents.get(one) ?? 0));
  return [...parents.keys()].filter(isBelow);
}

/** The fields of `/proc/PID/stat` from the third on: the state (NaN here), then numbers. Undefined once the process has ended. */
function statOf(pid: number): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text
      .slice(text.lastIndexOf(") ") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return undefined;
  }
}
