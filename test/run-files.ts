import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { finished } from "node:stream/promises";
import { globalSetup, globalTeardown } from "./support/global-setup.ts";

/*
 * Runs test files in the order of its arguments, which `node --test` would sort:
 * `run-files.ts FILES_AT_ONCE FILES_A_PROCESS FILE_MS_MAX REPEATED_MAX FILE…`. With one file a process, so many processes run at once; otherwise
 * one runs after another. Files that fail run once more by themselves if there are at most REPEATED_MAX of them, and that run decides
 * (docs/decisions/0087). test/run.ts starts it.
 */
const [atOnce, filesAProcess, fileMsMax, repeatedMax] = process.argv.slice(2, 6).map(Number) as [number, number, number, number];
const files = process.argv.slice(6).map((path) => relative(process.cwd(), path));
const preloads = ["--import=./test/support/untracked-promises.ts", "--import=./test/support/leaks.ts"];

await globalSetup();
try {
  let failed = await (filesAProcess === 1 ? failedAlone(files, atOnce) : failedTogether(files));
  const areFiles = failed.every((file) => files.includes(file)); // a test may also be declared in a file that others import
  if (areFiles && failed.length > 0 && failed.length <= repeatedMax) {
    console.log(`FAILED ONCE, and now repeated alone: ${failed.join(", ")}`);
    failed = await failedAlone(failed, 1);
  }
  if (failed.length > 0) process.exitCode = 1;
} finally {
  await globalTeardown();
}

/** Runs each file in a process of its own, so many at once, and reports them. Returns those that failed. */
async function failedAlone(some: string[], concurrency: number): Promise<string[]> {
  const failed = new Set<string>();
  const results = run({ files: some, concurrency, timeout: fileMsMax, execArgv: preloads });
  results.on("test:fail", ({ file, name }) => failed.add(relative(process.cwd(), file ?? name)));
  const report = results.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  return [...failed];
}

/** Runs the files of each process one after another, and reports them. Returns those that failed. */
async function failedTogether(some: string[]): Promise<string[]> {
  const failed: string[] = [];
  for (let at = 0; at < some.length; at += filesAProcess) failed.push(...(await failedInOneProcess(some.slice(at, at + filesAProcess))));
  return failed;
}

/** That process is not this one, in which the PostgreSQL server would look like something that a test left open. */
async function failedInOneProcess(some: string[]): Promise<string[]> {
  const list = join(tmpdir(), `failed-files-${process.pid}`);
  const reporters = ["spec", "stdout", "./test/support/failed-files.ts", list].map(
    (value, index) => `--test-reporter${index % 2 === 0 ? "" : "-destination"}=${value}`,
  );
  const child = spawn(process.execPath, ["--test", "--test-isolation=none", ...reporters, ...preloads, ...some], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return [];
  const named = new Set(readFileSync(list, "utf8").split("\n").slice(0, -1));
  return named.size === 0 ? some : [...named].map((path) => relative(process.cwd(), path));
}
