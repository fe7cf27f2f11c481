import { open } from "node:fs/promises";
import type { Faults } from "./check-database.ts";
import { countersName } from "./manifest.ts";

/** Checks that each line of the limits' counters can be read. The file may be absent. */
export async function checkCounters(path: string, faults: Faults): Promise<void> {
  const file = await open(path).catch((error: NodeJS.ErrnoException): undefined => {
    if (error.code !== "ENOENT") throw error;
  });
  if (file === undefined) return;
  let unreadable = 0;
  for await (const line of file.readLines()) if (!isCounter(line)) unreadable += 1;
  if (unreadable > 0) faults.add(`${countersName} has ${unreadable} lines that cannot be read: their counters begin anew`);
}

function isCounter(line: string): boolean {
  try {
    const fields: unknown = JSON.parse(line);
    return Array.isArray(fields) && fields.length === 4;
  } catch {
    return false;
  }
}
