import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const bench = fileURLToPath(new URL("../bench/bench.ts", import.meta.url));

test("the measurements write their table and nothing else, so nothing where no suite has the name; that is one line on stderr", async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // as a reader runs it, and not as part of a test
  const child = spawn(process.execPath, [bench, "speed"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  const [[code], out, err] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /^there is no suite speed: there are store, [^\n]+\n$/);
});
