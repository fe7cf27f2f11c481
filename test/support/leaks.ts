import { readdirSync, readFileSync } from "node:fs";
import { after } from "node:test";

const graceMs = 60_000;

/*
 * Loaded before the files of a job. A process that still runs after its last test holds something open: that is a failure, and would
 * otherwise make the run wait for ever. Processes that a failed test leaves behind end with the job. An error that nothing catches fails
 * it, which node:test only warns of if the test that caused it has ended.
 */
const endAfterGrace = (when: string): void => {
  const end = (): void => {
    console.error(`still open after ${when}:`, process.getActiveResourcesInfo());
    process.exit(1);
  };
  setTimeout(end, graceMs).unref();
};
after(() => endAfterGrace("the last test"));
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.once(event, (error: unknown) => {
    console.error("nothing caught this:", error);
    process.exitCode = 1;
    endAfterGrace("an error that nothing caught"); // the test that caused it may wait for ever
  });
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

/** The ids of this process' children; none where the system does not list them. */
function children(): number[] {
  try {
    const lists = readdirSync("/proc/self/task").map((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8"));
    return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
  } catch {
    return [];
  }
}
