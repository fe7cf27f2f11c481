import { readFileSync } from "node:fs";
import { attempt } from "./parse.ts";

/** Assumed if the system reports no limit. */
const assumedFiles = 4_096;
const connectionsMost = 10_000;
const connectionsLeast = 64;
/** The share of the process's file limit that the API and the edge each get; a quarter is left for everything else. */
const share = 3 / 8;

/** Returns how many files this process may open: on Linux the soft limit, which Node raises to the hard limit. */
export function fileLimit(): number {
  const limits = attempt(() => readFileSync("/proc/self/limits", "utf8")) ?? "";
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? assumedFiles);
}

/** Returns how many connections the API and the edge may each have if the process may open this many files. */
export function connectionsWithin(files: number): number {
  return Math.min(connectionsMost, Math.max(connectionsLeast, Math.floor(files * share)));
}
