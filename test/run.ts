import { randomInt } from "node:crypto";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runJobs, type Job, type JobReport } from "./jobs.ts";
import { browserFiles, fileOf, postgresFiles } from "./suite-engines.ts";
import { faultSuites, longestFirst, onDemandSuites, quickSuites, sharingSuites } from "./suites.ts";
import { globalSetup, globalTeardown } from "./support/global-setup.ts";
import { makeRunFolder } from "./support/run-folder.ts";

/*
 * Runs tests; CONTRIBUTING.md explains the commands.
 *   (nothing)  everything on SQLite but the files of `npm run check` and of `onDemandSuites`, and on PostgreSQL what differs there
 *   FILE…      these files, on SQLite or on the engine that PETSTORE_TEST_ENGINE names
 *   --fast     unit tests and the quick black-box suites, on SQLite
 *   --faults   every try of the suites that search for faults, on both engines
 *   --repeat   as (nothing), and repeats up to six files of each engine that failed, for a machine that others use
 */
const { values, positionals } = parseArgs({
  options: { fast: { type: "boolean" }, faults: { type: "boolean" }, repeat: { type: "boolean" } },
  allowPositionals: true,
});

const unitTests = ["src/**/*.test.ts", "web/**/*.test.ts"];
/** Tests wait more than they compute: so many processes keep two cores busy. */
const jobsAtOnce = 6;
/** Most take a second or two, of which their imports would be a half. */
const servicesAProcess = 16;
/** Each takes up to a minute. */
const browserFilesAProcess = 7;
/** What `npm run check` runs. */
const checkFiles = new Set(["layout", "flows", "loop-turns", "suites", "regexes", "recipes", "spectral"].map(fileOf));
const onDemand = new Set(onDemandSuites.map(fileOf));
const sharing = new Set(sharingSuites.map(fileOf));
const inBrowser = new Set(browserFiles());
const jobMsMax = (values.faults ? 240 : 20) * 60_000;

/** All jobs of this run, those that take longest first: a long job that starts last leaves a core idle at the end. */
function jobsOfRun(): Job[] {
  if (positionals.length > 0) return jobsAlone(filesOf(positionals), process.env["PETSTORE_TEST_ENGINE"] ?? "sqlite");
  if (values.fast) return [...unitJobs(), ...jobsAlone(quickSuites.map(fileOf), "sqlite")];
  const onPostgres = postgresFiles();
  if (values.faults) {
    const searches = faultSuites.map(fileOf);
    const searchesOnPostgres = onPostgres.filter((file) => searches.includes(file));
    return [...jobsAlone(searches, "sqlite"), ...jobsAlone(searchesOnPostgres, "postgres")];
  }
  const alone = [
    ...jobsAlone(
      globSync("test/**/*.test.ts").filter((file) => ![checkFiles, onDemand, sharing, inBrowser].some((others) => others.has(file))),
      "sqlite",
    ),
    ...jobsAlone(
      onPostgres.filter((file) => !sharing.has(file)),
      "postgres",
    ),
  ];
  return longestFirst([
    ...sharedJobs([...inBrowser], "sqlite", browserFilesAProcess),
    ...serviceJobs([...sharing], "sqlite"),
    ...serviceJobs(
      onPostgres.filter((file) => sharing.has(file)),
      "postgres",
    ),
    ...unitJobs(),
    ...alone,
  ]);
}

/** Most unit tests take less time than their imports, which each of these processes does once. */
function unitJobs(): Job[] {
  const parts = [/^src\/callers\/limits\/redis/, /^src\/callers\//, /^src\/publishing\//, /^(src\/platform|web)\//];
  const partOf = (file: string): number => parts.findIndex((part) => part.test(file));
  return Object.values(Object.groupBy(filesOf(unitTests), partOf)).map((files = []) => ({ engine: "sqlite", files, isRepeatable: true }));
}

function jobsAlone(files: string[], engine: string): Job[] {
  return files.map((file) => ({ engine, files: [file], isRepeatable: true }));
}

/** Each file's services end with its tests, so that they do not work in the background while those of the others are tested. */
function serviceJobs(files: string[], engine: string): Job[] {
  return sharedJobs(files, engine, servicesAProcess).map((job) => ({ ...job, isInTurn: true }));
}

/** Deals the files out in turn: those of like names, which stand together, take about as long. */
function sharedJobs(files: string[], engine: string, filesAProcess: number): Job[] {
  const count = Math.ceil(files.length / filesAProcess);
  const groups = Array.from({ length: count }, (_, place) => files.filter((_file, at) => at % count === place));
  return groups.map((group) => ({ engine, files: group, isRepeatable: true }));
}

function filesOf(patterns: string[]): string[] {
  const files = patterns.flatMap((pattern) => globSync(pattern)).map((path) => path.replaceAll("\\", "/"));
  if (files.length === 0) throw new Error(`no file is named ${patterns.join(" or ")}`);
  return files;
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(code));

/** All jobs use these: the compile cache keeps what Node makes of the sources, and a repeated file makes the same random choices. */
function prepareEnvironment(): void {
  process.env["NODE_COMPILE_CACHE"] = fileURLToPath(new URL("../node_modules/.cache/tests", import.meta.url));
  process.env["TMPDIR"] = makeRunFolder();
  process.env["PETSTORE_TEST_SEED"] ??= String(randomInt(2 ** 31));
  if (values.faults) process.env["PETSTORE_TEST_FAULTS"] = "all";
}

async function main(): Promise<void> {
  const jobs = jobsOfRun();
  prepareEnvironment();
  await globalSetup();
  const startedAt = Date.now();
  const options = { atOnce: jobsAtOnce, jobMsMax, repeatedMax: values.repeat ? 6 : 0 };
  try {
    report(await runJobs(jobs, { ...options, write: (text) => process.stdout.write(text) }), Date.now() - startedAt);
  } finally {
    await globalTeardown();
  }
}

/** Shows the counts in the form of Node's own reporter, and sets the exit code. */
function report({ tests, passed, skipped, failed }: JobReport, ms: number): void {
  if (failed.length > 0) console.log(`Failed: ${failed.join(", ")}`);
  const sums = { tests, pass: passed, fail: tests - passed - skipped, skipped, duration_ms: ms };
  for (const [name, sum] of Object.entries(sums)) console.log(`ℹ ${name} ${sum}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

await main();
