import { createWriteStream } from "node:fs";
import { run, type EventData } from "node:test";
import { spec } from "node:test/reporters";

type Reported = { type: "test:fail"; data: Partial<EventData.TestFail> } | { type: "test:summary"; data: EventData.TestSummary };

/*
 * Runs the files of a job in this process: run-job.ts REPORT FILE…
 * `node --test` would do the same, but enables its watch of asynchronous resources before any module can limit it (untracked-promises.ts).
 */
const [report = "", ...files] = process.argv.slice(2);
const setup = async (): Promise<void> => void (await import("./leaks.ts"));
const events = run({ files, isolation: "none", setup });
events.on("test:summary", ({ success }) => {
  if (!success) process.exitCode = 1;
});
events.compose(spec).pipe(process.stdout);
events.compose(jobReport).pipe(createWriteStream(report));

/** A reporter for `jobs.ts`: a line with the path of the file of each test that fails, and a last one with the counts as JSON. */
async function* jobReport(reported: AsyncIterable<Reported>): AsyncGenerator<string> {
  for await (const { type, data } of reported) {
    if (type === "test:fail" && data.file !== undefined) yield `${data.file}\n`;
    if (type === "test:summary" && data.file === undefined) {
      const { tests, passed, skipped } = data.counts;
      yield `${JSON.stringify({ tests, passed, skipped })}\n`;
    }
  }
}
