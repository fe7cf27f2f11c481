import { spawn } from "node:child_process";
import { once } from "node:events";
import { relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { finished } from "node:stream/promises";
import { globalSetup, globalTeardown } from "./support/global-setup.ts";

/*
 * Runs test files in the order of its arguments, which `node --test` would sort: `run-files.ts FILES_AT_ONCE FILE_MS_MAX REPEATED_MAX FILE…`.
 * Each file is a process, unless FILES_AT_ONCE is 0: then one process runs all of them. Files that fail run once more by themselves if there
 * are at most REPEATED_MAX of them, and that run decides (docs/decisions/0087). test/run.ts starts it, once for each engine.
 */
const [atOnce, fileMsMax, repeatedMax, ...files] = process.argv.slice(2);
const preloads = ["--import=./test/support/untracked-promises.ts", "--import=./test/support/leaks.ts"];

await globalSetup();
try {
  if (Number(atOnce) === 0) await runInOneProcess();
  else await runInTheirProcesses();
} finally {
  await globalTeardown();
}

async function runInTheirProcesses(): Promise<void> {
  let failed = await failedOf(files, Number(atOnce));
  if (failed.length > 0 && failed.length <= Number(repeatedMax)) {
    console.log(`FAILED ONCE, and now repeated alone: ${failed.join(", ")}`);
    failed = await failedOf(failed, 1);
  }
  if (failed.length > 0) process.exitCode = 1;
}

/** Runs these files, so many at once, and reports them. Returns those that failed. */
async function failedOf(some: string[], concurrency: number): Promise<string[]> {
  const failed = new Set<string>();
  const results = run({ files: some, concurrency, timeout: Number(fileMsMax), execArgv: preloads });
  results.on("test:fail", ({ file, name }) => failed.add(relative(process.cwd(), file ?? name)));
  const report = results.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  return [...failed];
}

/** That process is not this one, in which the PostgreSQL server would look like something that a test left open. */
async function runInOneProcess(): Promise<void> {
  const args = ["--test", "--test-isolation=none", "--test-reporter=spec", ...preloads, ...files];
  const [code] = (await once(spawn(process.execPath, args, { stdio: "inherit" }), "close")) as [number | null];
  if (code !== 0) process.exitCode = 1;
}
