import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

export type CheckpointRequest = "run" | "close";

/** What the thread answers to "run": nothing, or the error of SQLite. */
export type CheckpointAnswer = { message: string; errcode: number | undefined } | undefined;

/* The thread of `sqlite-log.ts`: copies the log of a database into its file whenever it is asked to. */
let checkpoint: StatementSync | undefined;
const connection = new DatabaseSync(workerData as string, { open: false, timeout: 5_000 });

parentPort!.on("message", (asked: CheckpointRequest) => {
  if (asked === "run") return parentPort!.postMessage(answer());
  if (connection.isOpen) connection.close();
  parentPort!.close();
});

function answer(): CheckpointAnswer {
  try {
    checkpoint ??= open();
    checkpoint.get();
    return undefined;
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    return { message, errcode };
  }
}

function open(): StatementSync {
  if (!connection.isOpen) connection.open();
  connection.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -64; PRAGMA mmap_size = 0");
  return connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
}
