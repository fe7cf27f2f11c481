import { closeSync, copyFileSync, fdatasyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { scanLog, type LogScan } from "./sqlite-log-scan.ts";

/** Acknowledged transactions in the log cannot be read. The message is one line: which log, how many transactions, what to do. */
export class DamagedLogError extends Error {
  constructor(path: string, { validBytes, lostCommits }: LogScan) {
    super(
      `${path} is damaged at byte ${validBytes}: at least ${lostCommits} acknowledged transactions cannot be read. ` +
        "Restore the folder from a backup, or go on without them: `npm run petstore -- repair --yes`",
    );
    this.name = "DamagedLogError";
  }
}

/** The path of the copy that is kept of a damaged log. */
export function damagedLogPath(file: string): string {
  return `${file}-wal.damaged`;
}

const chunkBytes = 1 << 20;

/**
 * Makes the log that a process left behind durable, before anything is read from it or added to it. After a failed flush its pages may be
 * only in the system's cache, marked as clean, so that no further flush would write them. So this rewrites every byte, in place because a
 * backup may be reading the database. After a clean stop there is no log, and nothing to do.
 *
 * Cuts off the transaction that a kill or a power cut left unfinished, which SQLite would not recover, so that its frames cannot be
 * mistaken for later ones.
 *
 * @param file path of the database
 * @param cutDamaged also cuts off acknowledged transactions, and keeps a copy of the log at `damagedLogPath`
 * @returns how many acknowledged transactions are lost, at least
 * @throws DamagedLogError unless `cutDamaged` is set
 */
export function recoverLog(file: string, { cutDamaged = false } = {}): number {
  const path = `${file}-wal`;
  const log = openIfThere(path);
  if (log === undefined) return 0;
  try {
    const scan = scanLog(log);
    if (scan.lostCommits > 0) {
      if (!cutDamaged) throw new DamagedLogError(path, scan);
      copyFileSync(path, damagedLogPath(file));
    }
    rewrite(log, scan.validBytes);
    ftruncateSync(log, scan.validBytes);
    flush(log, path);
    return scan.lostCommits;
  } finally {
    closeSync(log);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function rewrite(log: number, bytes: number): void {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; at < bytes;) {
    const length = readSync(log, chunk, 0, Math.min(chunkBytes, bytes - at), at);
    if (length === 0) throw new Error("the log became shorter while it was read");
    for (let written = 0; written < length;) written += writeSync(log, chunk, written, length - written, at + written);
    at += length;
  }
}

function flush(log: number, path: string): void {
  try {
    fdatasyncSync(log);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be made durable (${code}): the disk fails to keep what is written to it`, { cause: error });
  }
}
