import { chownSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../platform/files.ts";
import { attempt } from "../platform/parse.ts";
import { lastBackupName } from "./manifest.ts";

/**
 * Records when a complete backup was made, in the data folder, where the service reads it for its metrics. Does nothing if there is no such
 * folder, as on a machine that only backs up a PostgreSQL database.
 */
export async function recordBackup(dataDir: string, at: number): Promise<void> {
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true) return;
  const path = join(dataDir, lastBackupName);
  await writeDurably(path, `${JSON.stringify({ at })}\n`);
  if (process.getuid?.() === 0) chownSync(path, folder.uid, folder.gid); // the service refuses files of another user
}

/** The time (ms) of the last complete backup that was recorded; undefined if none was. */
export function lastBackupAt(dataDir: string): number | undefined {
  const at = attempt(() => (JSON.parse(readFileSync(join(dataDir, lastBackupName), "utf8")) as { at?: unknown }).at);
  return typeof at === "number" && Number.isSafeInteger(at) ? at : undefined;
}
