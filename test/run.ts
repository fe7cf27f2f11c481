import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { faultSuites, fileOf, postgresFiles, quickSuites } from "./suites.ts";

/*
 * Runs tests; CONTRIBUTING.md explains the commands.
 *   (nothing)  everything on SQLite, then on PostgreSQL what differs there
 *   FILE…      these files, on SQLite or on the engine that PETSTORE_TEST_ENGINE names
 *   --fast     unit tests and the quick black-box suites, on SQLite
 *   --faults   every try of the suites that search for faults, on both engines
 */
const { values, positionals } = parseArgs({ options: { fast: { type: "boolean" }, faults: { type: "boolean" } }, allowPositionals: true });

const unitTests = ["src/**/*.test.ts", "web/**/*.test.ts"];
/** Tests wait more than they compute: four files keep two cores busy. */
const filesAtOnce = 4;
const fileMsMax = 20 * 60_000;
/** Each file is a process, and some start others: what Node makes of the sources is kept for the next. */
const compileCache = fileURLToPath(new URL("../node_modules/.cache/tests", import.meta.url));

/** Runs these files on an engine. Returns the exit code. */
async function run(files: string[], engine = "sqlite"): Promise<number> {
  const flags = [
    "--test",
    `--test-concurrency=${filesAtOnce}`,
    `--test-timeout=${fileMsMax}`,
    "--import=./test/support/leaks.ts",
    "--test-global-setup=test/support/global-setup.ts",
  ];
  const env = { ...process.env, PETSTORE_TEST_ENGINE: engine, NODE_COMPILE_CACHE: compileCache };
  const child = spawn(process.execPath, [...flags, ...files], { env, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

async function main(): Promise<number> {
  if (positionals.length > 0) return run(positionals, process.env["PETSTORE_TEST_ENGINE"]);
  if (values.fast) return run([...unitTests, ...quickSuites.map(fileOf)]);
  if (values.faults) process.env["PETSTORE_TEST_FAULTS"] = "all";
  const onPostgres = postgresFiles();
  const searches = faultSuites.map(fileOf);
  const onSqlite = await run(values.faults ? searches : [...unitTests, "test/**/*.test.ts"]);
  return (await run(values.faults ? searches.filter((file) => onPostgres.includes(file)) : onPostgres, "postgres")) || onSqlite;
}

process.exitCode = await main();
