import { once } from "node:events";
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import type { CheckpointAnswer, CheckpointRequest } from "./sqlite-checkpoint-thread.ts";
import { readLogState, saveLogState, watchFiles } from "./sqlite-files.ts";

/** Length in pages at which the log is copied into the database file. */
const pagesMax = 1_000;

const thread = new URL("sqlite-checkpoint-thread.ts", import.meta.url);
/** The thread runs one statement, so it needs little memory. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

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
 * @param lock path of the folder's lock, which is watched like the files of the database
 */
export function openWal(file: string, writer: DatabaseSync, flush: Flush, lock: string | undefined) {
  const descriptor = openSync(`${file}-wal`, "r+");
  fdatasyncSync(descriptor); // flushes the commits of opening, so that from here on at most one transaction is not on the disk
  const files = watchFiles(file, lock);
  const look = writer.prepare("PRAGMA wal_checkpoint(NOOP)");
  const checkpoints = openCheckpoints(file);
  const note = openLogNote(file, writer);
  return {
    /** Requires that all files that this process has open are still at their paths. @throws LostFileError */
    requireFiles: () => files.requireAll(),
    /** Resolves when all commits made by now are on the disk, in files that are at their paths. @throws LostFileError */
    async flush(): Promise<void> {
      await flush(descriptor);
      files.requireWritten();
      note.makeNeeded(); // after the flush, so that a power cut never leaves the note without the log; before the answer
    },
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
        await files.aroundCheckpoint(() => checkpoints.run());
      } catch (error) {
        if (isFailedFlush(error)) throw error;
        // A full disk makes later writes fail with their own error. The log is as durable as before.
      }
      return true;
    },
    rescue: () => note.rescue(),
    /** @param keepsLog leaves the log to the next process. Otherwise copies it into the database, so that the connections can remove it. */
    async close({ keepsLog }: { keepsLog: boolean }): Promise<void> {
      closeSync(descriptor);
      await checkpoints.close();
      if (!keepsLog) note.end();
    },
  };
}

/** Notes for the next process whether it needs the log. */
function openLogNote(file: string, writer: DatabaseSync) {
  const copy = writer.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  let state = readLogState(file);

  /** Copies the log into the database, by the open files: it works for a log that was removed too. Returns whether all of it is there. */
  function copyAll(): boolean {
    try {
      const { busy, log, checkpointed } = copy.get() ?? {};
      return busy === 0 && log === checkpointed;
    } catch {
      return false; // a damaged database or a failing disk: the next process finds the log as it is
    }
  }

  return {
    makeNeeded(): void {
      if (state === "needed") return;
      try {
        saveLogState(file, "needed");
        state = "needed";
      } catch {
        // a full disk: the commit is safe, and the next one tries again
      }
    },
    /** Copies a log that was removed into the database, which is in its place, so that nothing is lost. Returns whether it could; no read may be open. */
    rescue(): boolean {
      try {
        if (!copyAll()) return false;
        saveLogState(file, "copied");
        state = "copied";
        return true;
      } catch {
        return false; // the next process reports the loss
      }
    },
    end(): void {
      if (state !== undefined && copyAll()) saveLogState(file, undefined);
    },
  };
}

export type Checkpoints = {
  /** Copies the log into the database file, as far as no reader needs it. @throws the error of SQLite */
  run(): Promise<void>;
  close(): Promise<void>;
};

/** Copies the log of a database into its file on a thread, because that reads and writes megabytes and waits for the disk. The thread starts at the first use. */
export function openCheckpoints(file: string): Checkpoints {
  let worker: Worker | undefined;

  function start(): Worker {
    const started = new Worker(thread, { workerData: file, resourceLimits, execArgv: [], stdin: false });
    started.once("exit", () => void (worker = undefined));
    return started;
  }

  /** Waits for an event after a message to the thread, which only meanwhile keeps the process alive. */
  async function ask(asked: Worker, what: CheckpointRequest, ending: "message" | "exit"): Promise<unknown[]> {
    asked.ref();
    try {
      const ended: Promise<unknown[]> = once(asked, ending);
      asked.postMessage(what);
      return await ended;
    } finally {
      asked.unref();
    }
  }

  return {
    async run() {
      worker ??= start();
      const [failure] = (await ask(worker, "run", "message")) as [CheckpointAnswer];
      if (failure) throw Object.assign(new Error(failure.message), { errcode: failure.errcode });
    },
    async close() {
      if (worker) await ask(worker, "close", "exit");
    },
  };
}
