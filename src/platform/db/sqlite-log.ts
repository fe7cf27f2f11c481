import { closeSync, fdatasync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";

/** Length in pages at which the log is carried into the database file. */
const pagesMax = 1_000;

/** Makes durable what was written to an open file. */
export type Flush = (descriptor: number) => Promise<void>;

export const fdatasyncInPool: Flush = promisify(fdatasync);

/**
 * The log that commits are written to (https://sqlite.org/wal.html). The engine leaves them in the system's cache
 * (`synchronous=NORMAL`); the flush runs on a thread of the pool, so the event loop does not wait for the disk.
 *
 * @param writer the connection that commits; it has read the database, so the file of the log exists
 */
export function openLog(file: string, writer: DatabaseSync, flush: Flush) {
  const descriptor = openSync(`${file}-wal`, "r+");
  const look = writer.prepare("PRAGMA wal_checkpoint(NOOP)");
  const checkpoint = writer.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  return {
    /** Resolves when all that is committed by now is on the disk. */
    flush: (): Promise<void> => flush(descriptor),
    /** Carries a long log into the database file, whole unless a snapshot is held, so that the next commit begins it anew. */
    shorten(): void {
      try {
        if (Number(look.get()?.["log"]) >= pagesMax) checkpoint.get();
      } catch {
        // A disk that is full refuses writes, which say so; the log is as durable as before.
      }
    },
    close: () => closeSync(descriptor),
  };
}
