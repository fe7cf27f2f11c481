import { readdirSync, readFileSync } from "node:fs";
import { after } from "node:test";

const graceMs = 60_000;

/*
 * Loaded before each file of a run. A file whose process goes on after its last test still holds something: that is a
 * failure, where the run would otherwise stand still. Processes that a failed test leaves behind end with the file: they hold its
 * output open, for which the run would wait. Only the processes of files have a context, and the one that runs all unit tests has none.
 */
if (process.env["NODE_TEST_CONTEXT"] !== undefined || process.execArgv.includes("--test-isolation=none")) {
  const endAfterGrace = (when: string): void => {
    const end = (): void => {
      console.error(`still open after ${when}:`, process.getActiveResourcesInfo());
      process.exit(1);
    };
    setTimeout(end, graceMs).unref();
  };
  after(() => endAfterGrace("the last test"));
  if (process.env["NODE_TEST_CONTEXT"] !== undefined) {
    for (const event of ["uncaughtException", "unhandledRejection"]) {
      process.once(event, (error: unknown) => {
        // it fails the file, and the test that it belongs to may wait for ever
        console.error("nothing caught this:", error);
        endAfterGrace("an error that nothing caught");
      });
    }
  }
  process.on("exit", () => {
    for (const child of children()) {
      try {
        process.kill(child, "SIGKILL");
      } catch {
        // it has ended
      }
    }
  });
}

/** The ids of this process' children; none where the system does not list them. */
function children(): number[] {
  try {
    const lists = readdirSync("/proc/self/task").map((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8"));
    return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
  } catch {
    return [];
  }
}
