// Bundles the command line for services on other machines into dist/command, for `npm pack ./dist/command`. Installs the packages of the
// pages, which include the bundler, then runs web/command.mjs. Plain JavaScript for Node 20 and later.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

process.exitCode = run("bin/install.mjs", "--production", "--pages") || run("web/command.mjs");

/** Runs another script of the project and returns its exit code. */
function run(script, ...args) {
  return spawnSync(process.execPath, [join(root, script), ...args], { stdio: "inherit" }).status ?? 1;
}
