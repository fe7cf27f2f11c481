import { createWriteStream } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import jobReport from "./job-report.ts";

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
