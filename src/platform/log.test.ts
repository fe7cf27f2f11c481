import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { fileOutput, type LogOutput, openLog, readableLine } from "./log.ts";

/** A log whose output takes `room` characters and then no more; `room` may grow. */
function openScene(t: TestContext, { level = "info" }: { level?: string } = {}) {
  const scene = { room: Infinity, written: "" };
  const output: LogOutput = {
    write(lines) {
      if (scene.written.length + lines.length > scene.room) return lines.split("\n").length - 1;
      scene.written += lines;
      return 0;
    },
    writeNow: (lines) => void (scene.written += lines),
    isFull: () => false,
    reason: () => "standard output cannot be written (ENOSPC)",
  };
  t.mock.timers.enable({ apis: ["setInterval"] });
  const opened = openLog(level, "json", output);
  t.after(() => opened.close());
  const lines = () =>
    scene.written
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg?: string; lines?: number; level: number });
  return { ...opened, scene, lines, later: () => t.mock.timers.tick(200) };
}

test("lines that the disk does not take are counted, and the log says how many as soon as there is room", (t) => {
  const { log, scene, lines, later, lost } = openScene(t);
  log.info("before");
  later();
  scene.room = scene.written.length;
  for (let i = 0; i < 3; i++) log.info("while it is full");
  later();
  const whileFull = { lines: 3, isLosing: true, reason: "standard output cannot be written (ENOSPC)" };
  assert.deepEqual(lost(), whileFull);
  later();
  assert.deepEqual(lost(), whileFull, "an idle log does not count its own attempts");
  scene.room = Infinity;
  later();
  log.info("after");
  later();
  assert.deepEqual(lost(), { ...whileFull, isLosing: false });
  assert.deepEqual(
    lines().map(({ msg, lines: missing, level }) => [msg, missing, level]),
    [
      ["before", undefined, 30],
      ["log lines were lost", 3, 40],
      ["after", undefined, 30],
    ],
  );
});

test("a file without room loses whole lines: one that was cut is finished first", (t) => {
  const path = join(temporaryFolder(t), "log");
  const descriptor = openSync(path, "w");
  t.after(() => closeSync(descriptor));
  const full = openSync("/dev/full", "w");
  t.after(() => closeSync(full));
  const onFull = fileOutput(full);
  assert.equal(onFull.write("one\ntwo\n"), 2);
  assert.equal(onFull.reason(), "standard output cannot be written (ENOSPC)");
  assert.throws(() => onFull.writeNow("key\n"), /standard output cannot be written \(ENOSPC\)/);
  const output = fileOutput(descriptor);
  assert.equal(output.write("one\ntwo\n"), 0);
  output.writeNow("three\n");
  assert.equal(readFileSync(path, "utf8"), "one\ntwo\nthree\n");
});

test("lines for people show time, level and what happened, and no control character of a request", () => {
  const time = new Date(2026, 10, 22, 14, 5, 2, 7).getTime();
  const line = (fields: object): string => readableLine(JSON.stringify({ level: 30, time, ...fields }));
  assert.equal(line({ msg: "started", address: "http://127.0.0.1:8080" }), "14:05:02.007 INFO  started address=http://127.0.0.1:8080\n");
  assert.equal(
    line({ requestId: "a-1", method: "GET", host: "shop.example", path: "/x\u001b[2J\u009b", status: 200, ms: 1.5 }),
    String.raw`14:05:02.007 INFO  GET shop.example/x\x1b[2J\x9b 200 1.5 ms requestId=a-1` + "\n",
  );
  const failed = readableLine(
    JSON.stringify({ level: 50, time, msg: "it failed", err: { message: "no", stack: "Error: no\n  at x\u0007" } }),
  );
  assert.equal(failed, "14:05:02.007 ERROR it failed\n    Error: no\n      at x\\x07\n");
});
