import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { fileOf, postgresFiles, quickSuites } from "./suites.ts";

/*
 * Runs tests; CONTRIBUTING.md explains the commands.
 *   (nothing)  everything on SQLite, then on PostgreSQL what differs there
 *   FILE…      these files, on SQLite or on the engine that PETSTORE_TEST_ENGINE names
 *   --fast     unit tests and the quick black-box suites, on SQLite
 */
const { values, positionals } = parseArgs({ options: { fast: { type: "boolean" } }, allowPositionals: true });

const unitTests = ["src/**/*.test.ts", "web/**/*.test.ts"];
/** Tests wait more than they compute: four files keep two cores busy. */
const filesAtOnce = 4;
const fileMsMax = 20 * 60_000;

/** Runs these files on an engine. Returns the exit code. */
async function run(files: string[], engine = "sqlite"): Promise<number> {
  const flags = [
    "--test",
    `--test-concurrency=${filesAtOnce}`,
    `--test-timeout=${fileMsMax}`,
    "--import=./test/support/leaks.ts",
    "--test-global-setup=test/support/global-setup.ts",
  ];
  const env = { ...process.env, PETSTORE_TEST_ENGINE: engine };
  const child = spawn(process.execPath, [...flags, ...files], { env, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

async function main(): Promise<number> {
  if (positionals.length > 0) return run(positionals, process.env["PETSTORE_TEST_ENGINE"]);
  if (values.fast) return run([...unitTests, ...quickSuites.map(fileOf)]);
  const onSqlite = await run([...unitTests, "test/**/*.test.ts"]);
  return (await run(postgresFiles(), "postgres")) || onSqlite;
}

process.exitCode = await main();
