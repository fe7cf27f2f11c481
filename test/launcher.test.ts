import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";

const command = fileURLToPath(new URL("../bin/petstore.mjs", import.meta.url));
/** What a Node before 22.15 lacks. */
const withoutExecve = ["--import", "data:text/javascript,process.execve = undefined"];

/** The command as a Node starts it that is not the pinned one, and cannot become it. */
function launch(t: TestContext, ...args: string[]) {
  const folder = temporaryFolder(t);
  const otherNode = join(folder, "node");
  copyFileSync(process.execPath, otherNode);
  const child = spawn(otherNode, [...withoutExecve, command, ...args], {
    env: { DATA_DIR: join(folder, "data"), PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" },
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
  throw new Error(`it ended: ${out}`);
}

test("a launcher that is killed takes the service with it, which would hold the data folder", async (t) => {
  const child = launch(t, "serve");
  await started(child);
  // the service holds the other end of the pipe: it closes when both are gone
  const closed = once(child.stdout.resume(), "close");
  child.kill("SIGKILL");
  await closed;
});

test("a launcher that is asked to stop lets the service stop, and ends as it did", async (t) => {
  const child = launch(t, "serve");
  await started(child);
  child.stdout.resume();
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "close"), [0, null]);
});

test("npm that is killed takes the service with it, which stops in order", async (t) => {
  const folder = temporaryFolder(t);
  const script = 'node "$0" serve; true'; // `true` keeps the shell, in npm's place, from becoming the service
  const npm = spawn("/bin/sh", ["-c", script, command], {
    env: {
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

test("a launcher answers with the output and the exit code of its command", async (t) => {
  const child = launch(t, "settings", "--json");
  const ended = once(child, "close");
  assert.match(await text(child.stdout), /^\{"settings":\[.*\]\}\n$/);
  assert.deepEqual(await ended, [0, null]);
  const refused = launch(t, "nothing");
  refused.stdout.resume();
  assert.deepEqual(await once(refused, "close"), [2, null]);
});
