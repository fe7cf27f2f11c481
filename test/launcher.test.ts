import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const command = join(root, "bin", "petstore.mjs");
const { NODE_COMPILE_CACHE } = process.env;
/** Removes `process.execve`, which Node before 22.15 does not have. */
const withoutExecve = ["--import", "data:text/javascript,process.execve = undefined"];

/** Starts the command on a Node that is not the pinned one and cannot replace its process. */
function launch(t: TestContext, ...args: string[]) {
  const folder = temporaryFolder(t);
  const otherNode = join(folder, "node");
  copyFileSync(process.execPath, otherNode);
  const child = spawn(otherNode, [...withoutExecve, command, ...args], {
    env: { NODE_COMPILE_CACHE, DATA_DIR: join(folder, "data"), PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

/** Resolves once the service says that it has started. */
async function started({ stdout }: ReturnType<typeof launch>): Promise<void> {
  let out = "";
  for await (const chunk of stdout.setEncoding("utf8").iterator({ destroyOnReturn: false }))
    if ((out += chunk).includes('"msg":"started"')) return;
  throw new Error(`the service ended: ${out}`);
}

test("when a launcher is killed, the service ends too, so that it does not hold the data folder", async (t) => {
  const child = launch(t, "serve");
  await started(child);
  // the service holds the other end of the pipe: it closes when both are gone
  const closed = once(child.stdout.resume(), "close");
  child.kill("SIGKILL");
  await closed;
});

test("a launcher forwards SIGTERM to the service, and ends with the service's exit status", async (t) => {
  const child = launch(t, "serve");
  await started(child);
  child.stdout.resume();
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "close"), [0, null]);
});

test("when npm is killed, the service shuts down in order", async (t) => {
  const folder = temporaryFolder(t);
  const script = 'node "$0" serve; true'; // the shell stands for npm; `true` keeps it from replacing itself with the service
  const npm = spawn("/bin/sh", ["-c", script, command], {
    env: {
      NODE_COMPILE_CACHE,
      PATH: dirname(process.execPath),
      npm_lifecycle_event: "start",
      DATA_DIR: join(folder, "data"),
      PORT: "0",
      EDGE_HTTP_PORT: "0",
      EDGE_HTTPS_PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => npm.kill("SIGKILL"));
  await started(npm);
  npm.kill("SIGKILL");
  assert.match(await text(npm.stdout), /"msg":"stopped"/);
});

test("a launcher returns the output and the exit code of its command", async (t) => {
  const child = launch(t, "settings", "--json");
  const ended = once(child, "close");
  assert.match(await text(child.stdout), /^\{"settings":\[.*\]\}\n$/);
  assert.deepEqual(await ended, [0, null]);
  const refused = launch(t, "nothing");
  refused.stdout.resume();
  assert.deepEqual(await once(refused, "close"), [2, null]);
});

/** Runs the command in a folder whose installed Node does not run, as on a system with another C library. */
function withBrokenNode(t: TestContext) {
  const folder = temporaryFolder(t);
  for (const name of ["src", "client", "migrations", "package.json"]) symlinkSync(join(root, name), join(folder, name));
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  const pinned = join(folder, "node_modules", ".bin", "node");
  writeFileSync(pinned, Uint8Array.of(0x7f, 0x45, 0x4c, 0x46), { mode: 0o755 });
  cpSync(join(root, "bin"), join(folder, "bin"), { recursive: true });
  return (...flags: string[]) =>
    spawnSync(process.execPath, [...flags, join(folder, "bin", "petstore.mjs"), "settings", "--json"], {
      env: { NODE_COMPILE_CACHE },
      encoding: "utf8",
    });
}

test("if the installed Node cannot run, the user's Node 26 runs the command, and an older Node is refused in one line", (t) => {
  const run = withBrokenNode(t);
  const own = run();
  assert.deepEqual([own.status, own.stderr], [0, ""]);
  assert.match(own.stdout, /^\{"settings":/);
  const older = run("--import", "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.20.0'})");
  assert.equal(older.status, 1);
  assert.match(older.stderr, /^petstore: the Node 26 that npm installed does not run on this system: [^\n]+\n$/);
});
