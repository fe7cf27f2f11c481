import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { openCheckpoints } from "./sqlite-checkpoints.ts";

/** Length in pages at which the log is copied into the database file. */
const pagesMax = 1_000;

/** Makes the writes to an open file durable. */
export type Flush = (descriptor: number) => Promise<void>;

export const fdatasyncInPool: Flush = promisify(fdatasync);

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. */
const failedFlushCodes = new Set([1034, 1290]);

/** Whether the disk failed while SQLite itself flushed a file, which it does when it restarts the log and in a checkpoint. */
export function isFailedFlush(error: unknown): boolean {
  return failedFlushCodes.has((error as { errcode?: number }).errcode ?? 0);
}

/**
 * The log that commits are written to (https://sqlite.org/wal.html). The engine leaves them in the system's cache
 * (`synchronous=NORMAL`); the flush runs on a thread of the pool, so the event loop does not wait for the disk.
 *
 * @param writer the connection that commits; it has read the database, so the file of the log exists
 */
export function openWal(file: string, writer: DatabaseSync, flush: Flush) {
  const descriptor = openSync(`${file}-wal`, "r+");
  fdatasyncSync(descriptor); // flushes the commits of opening, so that from here on at most one transaction is not on the disk
  const look = writer.prepare("PRAGMA wal_checkpoint(NOOP)");
  const checkpoints = openCheckpoints(file);
  return {
    /** Resolves when all commits made by now are on the disk. */
    flush: (): Promise<void> => flush(descriptor),
    /**
     * Copies a long log into the database file, or any log if `isWanted`. Unless a commit or an older snapshot comes between, it copies all of it.
     * The next commit then restarts the log if no snapshot begins before the copy has ended.
     *
     * @returns whether it tried to
     * @throws if the disk fails to flush the log or the database file
     */
    async shorten(isWanted: boolean): Promise<boolean> {
      if (!isWanted && Number(look.get()?.["log"]) < pagesMax) return false;
      try {
        await checkpoints.run();
      } catch (error) {
        if (isFailedFlush(error)) throw error;
        // A full disk makes later writes fail with their own error. The log is as durable as before.
      }
      return true;
    },
    async close(): Promise<void> {
      closeSync(descriptor);
      await checkpoints.close();
    },
  };
}
