import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { CheckpointAnswer, CheckpointRequest } from "./sqlite-checkpoint-thread.ts";

const thread = new URL("sqlite-checkpoint-thread.ts", import.meta.url);
/** The thread runs one statement, so it needs little memory. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

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
