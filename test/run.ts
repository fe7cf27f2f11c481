import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeRunFolder } from "./support/run-folder.ts";
import { fileOf, postgresFiles } from "./suite-engines.ts";
import { faultSuites, longestFirst, quickSuites, sharingSuites } from "./suites.ts";

/*
 * Runs tests; CONTRIBUTING.md explains the commands.
 *   (nothing)  everything but the files of `npm run check` on SQLite, and at the same time on PostgreSQL what differs there
 *   FILE…      these files, on SQLite or on the engine that PETSTORE_TEST_ENGINE names
 *   --fast     unit tests and the quick black-box suites, on SQLite
 *   --faults   every try of the suites that search for faults, on both engines
 *   --repeat   as (nothing), and repeats up to three files of each engine that failed, for a machine that others use
 */
const { values, positionals } = parseArgs({
  options: { fast: { type: "boolean" }, faults: { type: "boolean" }, repeat: { type: "boolean" } },
  allowPositionals: true,
});

const unitTests = ["src/**/*.test.ts", "web/**/*.test.ts"];
/** Tests wait more than they compute: three files of one engine, two of the other, and one of those that share a process, keep two cores busy. */
const filesAtOnce = 3;
const filesAtOnceBeside = 2;
/** Each opens a service of its own, on PostgreSQL with its connections. */
const servicesAProcess = 10;
/** What `npm run check` runs. */
const checkFiles = new Set(["layout", "suites", "regexes", "recipes", "spectral"].map(fileOf));
const sharing = new Set(sharingSuites.map(fileOf));
/** More files than these have a cause that they share. */
const repeatedMax = values.repeat ? 3 : 0;
const fileMsMax = 20 * 60_000;
/** A run that takes longer is ended with everything that it started, and what it wrote is shown. */
const runMsMax = (values.faults ? 240 : 40) * 60_000;
const runner = fileURLToPath(new URL("run-files.ts", import.meta.url));
/** Each file is a process, and some start others: what Node makes of the sources is kept for the next. */
const compileCache = fileURLToPath(new URL("../node_modules/.cache/tests", import.meta.url));
const runFolder = makeRunFolder();
/** One for all files, so that a repeated file makes the same choices. */
process.env["PETSTORE_TEST_SEED"] ??= String(randomInt(2 ** 31));

type Ended = { code: number; output: Buffer };

/** Runs these files on an engine. Returns the exit code. */
async function run(files: string[], engine = "sqlite"): Promise<number> {
  return (await start(files, engine, filesAtOnce, 1, "inherit")).code;
}

/** Runs these files on an engine while others run, and keeps the output, which would mix with theirs. */
async function runBeside(files: string[], engine: string): Promise<Ended> {
  return start(files, engine, filesAtOnceBeside, 1, "pipe");
}

/** Runs suites that share processes beside others, on one engine after the other. */
async function runSharing(onPostgres: string[], onSqlite: string[]): Promise<Ended> {
  const first = await start(onPostgres, "postgres", 1, servicesAProcess, "pipe");
  const second = await start(onSqlite, "sqlite", 1, servicesAProcess, "pipe");
  return { code: first.code || second.code, output: Buffer.concat([first.output, second.output]) };
}

/** Runs the unit tests beside others, in one process: most of them take less time than their imports, which a process does once. */
async function runUnitTests(): Promise<Ended> {
  return start(unitTests, "sqlite", 1, Infinity, "pipe");
}

/** Runs these files, so many processes at once, each with so many files. */
async function start(files: string[], engine: string, atOnce: number, aProcess: number, output: "inherit" | "pipe"): Promise<Ended> {
  const found = longestFirst(files.flatMap((pattern) => globSync(pattern)));
  if (found.length === 0) throw new Error(`no file is named ${files.join(" or ")}`);
  const args = [runner, ...[atOnce, aProcess, fileMsMax, repeatedMax].map(String), ...found];
  const env = { ...process.env, PETSTORE_TEST_ENGINE: engine, NODE_COMPILE_CACHE: compileCache, TMPDIR: runFolder };
  // In a group of its own, so that whatever a file leaves running ends with the run and keeps no pipe open.
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", output, output], detached: true });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const endGroup = (): void => endProcessGroup(child.pid!);
  const timer = setTimeout(() => {
    console.error(`The tests on ${engine} took longer than ${runMsMax / 60_000} minutes and were ended.`);
    endGroup();
  }, runMsMax);
  process.on("exit", endGroup);
  child.once("exit", endGroup);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  process.off("exit", endGroup);
  return { code: code ?? 1, output: Buffer.concat(chunks) };
}

function endProcessGroup(id: number): void {
  try {
    process.kill(-id, "SIGKILL");
  } catch {
    // it has ended
  }
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(code));

async function main(): Promise<number> {
  if (positionals.length > 0) return run(positionals, process.env["PETSTORE_TEST_ENGINE"]);
  if (values.fast) return last(run(quickSuites.map(fileOf)), runUnitTests());
  if (values.faults) process.env["PETSTORE_TEST_FAULTS"] = "all";
  const searches = faultSuites.map(fileOf);
  const filesOnPostgres = postgresFiles().filter((file) => !values.faults || searches.includes(file));
  if (values.faults) return last(run(searches), runBeside(filesOnPostgres, "postgres"));
  const isSharing = (file: string): boolean => sharing.has(file);
  const alone = globSync("test/**/*.test.ts").filter((file) => !checkFiles.has(file) && !isSharing(file));
  const onPostgres = runBeside(
    filesOnPostgres.filter((file) => !isSharing(file)),
    "postgres",
  );
  const unit = onPostgres.then(runUnitTests); // not while the longest files run
  return last(run(alone), unit, onPostgres, runSharing(filesOnPostgres.filter(isSharing), [...sharing]));
}

/** Shows what was run beside others when all have ended. Returns the first exit code that is not 0. */
async function last(shown: Promise<number>, ...beside: Promise<Ended>[]): Promise<number> {
  const code = await shown;
  const others = await Promise.all(beside);
  for (const { output } of others) process.stdout.write(output);
  return code || (others.find((other) => other.code !== 0)?.code ?? 0);
}

process.exitCode = await main();
