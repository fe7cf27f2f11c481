import { readdirSync, readFileSync } from "node:fs";

/** CPU ms that a service has used so far, by its own metrics: to the microsecond, where `/proc` counts in steps of 10 ms. */
export async function cpuMs(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const seconds = /^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error(`${origin}/metrics shows no CPU time`);
  return Number(seconds) * 1_000;
}

/** CPU ms that any server has used so far, user and system, in steps of 10 ms: a process, those below it, and those of them that ended (proc(5)). */
export function cpuMsOf(pid: number): number {
  let ticks = 0;
  for (const one of treeOf(pid)) for (const count of statOf(one)?.slice(11, 15) ?? []) ticks += count;
  return ticks * 10;
}

/** Resident memory of a process (proc(5)). */
export function residentMiB(pid: number): number {
  return statusMiB(pid, "VmRSS");
}

/** Resident memory of a process and of all below it that no file backs. */
export function anonymousMiBOf(pid: number): number {
  return treeOf(pid).reduce((sum, one) => sum + statusMiB(one, "RssAnon"), 0);
}

function statusMiB(pid: number, name: "VmRSS" | "RssAnon"): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

/** A process and all below it. */
function treeOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) parents.set(Number(name), statOf(Number(name))?.[1] ?? 0);
  const isBelow = (one: number): boolean => one === pid || (one !== 0 && isBelow(parents.get(one) ?? 0));
  return [...parents.keys()].filter(isBelow);
}

/** The fields of `/proc/PID/stat` from the third on, which are numbers but for the state; undefined once the process has ended. */
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
