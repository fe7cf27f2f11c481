import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { run, type EventData } from "node:test";
import { spec } from "node:test/reporters";

type Reported = { type: "test:fail"; data: Partial<EventData.TestFail> } | { type: "test:summary"; data: EventData.TestSummary };

/*
 * Runs the files of a job in this process: run-job.ts REPORT [--in-turn] FILE…
 * `node --test` would do the same, but enables its watch of asynchronous resources before any module can limit it (untracked-promises.ts).
 */
const [report = "", ...words] = process.argv.slice(2);
const isInTurn = words[0] === "--in-turn";
const files = isInTurn ? words.slice(1) : words;
const setup = async (): Promise<void> => void (await import("./leaks.ts"));
/** A test that hangs fails alone, by its name; the searches of `test:faults` take as long as they need. */
const timeout = process.env["PETSTORE_TEST_FAULTS"] === "all" ? Infinity : 10 * 60_000;
const events = run({ files: isInTurn ? [resolve(import.meta.dirname, "in-turn.ts")] : files, isolation: "none", setup, timeout });
events.on("test:summary", ({ success }) => {
  if (!success) process.exitCode = 1;
});
events.compose(spec).pipe(process.stdout);
events.compose(jobReport).pipe(createWriteStream(report));

/** A reporter for `jobs.ts`: a line with the path of the file of each test that fails, and a last one with the counts as JSON. */
async function* jobReport(reported: AsyncIterable<Reported>): AsyncGenerator<string> {
  for await (const { type, data } of reported) {
    if (type === "test:fail" && data.file !== undefined) yield `${isFile(data) ? resolve(data.name!) : data.file}\n`;
    if (type === "test:summary" && data.file === undefined) {
      const { tests, passed, skipped } = data.counts;
      yield `${JSON.stringify({ tests, passed, skipped })}\n`;
    }
  }
}

/** Whether this is not a test but a file of a job in turn, which also fails if its hooks do or if it does not load. */
function isFile({ nesting, name = "" }: Partial<EventData.TestFail>): boolean {
  return isInTurn && nesting === 0 && files.includes(name);
}
