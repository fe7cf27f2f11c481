import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { openBounds } from "../src/platform/bounds.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { Problem } from "../src/platform/problem.ts";
import { unpackArchive } from "../src/publishing/projects/archive.ts";
import { localContent } from "../src/publishing/projects/shared-content.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { hostileArchive } from "./support/hostile-archives.ts";

const archives = runs(100, 10_000);
const turnMsMax = 50;
/** The allocator keeps some of what the largest archives took: runs of one seed end between 420 and 570 MiB. */
const memoryMiBMax = 750;

/** Measures the CPU time of each turn of this thread's event loop, which other processes do not add to. */
function watchTurns(): { longestMs: () => number; stop: () => void } {
  let longest = 0;
  let isOver = false;
  let before = process.threadCpuUsage();
  const next = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return { longestMs: () => longest, stop: () => (isOver = true) };
}

test(`each of ${archives} generated archives is unpacked or refused with a reason, in turns of at most ${turnMsMax} ms`, async (t) => {
  const folder = temporaryFolder(t);
  const db = openSqlite(join(folder, "test.db"));
  t.after(() => db.close());
  const content = localContent(db, folder, openBounds());
  const { signal } = new AbortController();
  const ends = { ready: 0, failed: 0 };
  let longest = { ms: 0, kind: "" };
  for (let count = 0; count < archives; count++) {
    const { kind, packed } = hostileArchive(random);
    const turns = watchTurns();
    try {
      const unpacking = { content, claim: async () => undefined, compressInTurn: <T>(compress: () => Promise<T>) => compress(), signal };
      await unpackArchive(Readable.from([packed]), unpacking);
      ends.ready += 1;
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === "invalid_request", `${kind}: ${String(error)}`);
      assert.match(error.message, /^\S.*\.$/s, kind);
      ends.failed += 1;
    } finally {
      turns.stop();
    }
    if (turns.longestMs() > longest.ms) longest = { ms: turns.longestMs(), kind };
    assert.deepEqual(readdirSync(join(folder, "incoming")), [], kind);
  }
  t.diagnostic(`${JSON.stringify(ends)}; longest turn ${longest.ms.toFixed(1)} ms (${longest.kind})`);
  assert.ok(ends.ready > 0 && ends.failed > 0, JSON.stringify(ends));
  assert.ok(longest.ms <= turnMsMax, `${longest.kind}: ${longest.ms} ms`);
  assert.ok(process.memoryUsage.rss() / 2 ** 20 <= memoryMiBMax);
});
