import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { picture } from "../../../test/support/pictures.ts";
import { until } from "../../../test/support/until.ts";
import { encodeInProcess, pictureLimits, type Encoded } from "./picture-encoding.ts";

const photo = { bytes: await picture("teal"), format: "jpeg", purpose: "photo" } as const;
const widthOf = (encoded: Encoded) => "answer" in encoded && "width" in encoded.answer && encoded.answer.width;

test("a picture may use 512 MiB and 5 seconds of CPU time", () => {
  assert.deepEqual([pictureLimits.memoryBytesMax, pictureLimits.cpuMsMax], [536_870_912, 5_000]);
});

test("a process that uses too much memory or time is ended, and the next picture gets another one", async () => {
  const beyond = { memory: { memoryBytesMax: 32 * 1_048_576 }, "cpu time": { cpuMsMax: 20 }, time: { msMax: 1 } };
  for (const [ended, limit] of Object.entries(beyond)) {
    let pid = 0;
    const encoded = await encodeInProcess(photo, { ...pictureLimits, ...limit }, (its) => (pid = its));
    assert.deepEqual(encoded, { ended });
    assert.throws(() => process.kill(pid, 0), "the process has ended");
  }
  assert.equal(widthOf(await encodeInProcess(photo)), 800);
});

test("a picture whose process is killed is encoded by another one, once", async () => {
  const pids: number[] = [];
  const killed = (times: number) => (pid: number) => {
    if (pids.push(pid) <= times) process.kill(pid, "SIGKILL");
  };
  assert.equal(widthOf(await encodeInProcess(photo, pictureLimits, killed(1))), 800);
  assert.equal(new Set(pids.splice(0)).size, 2);
  assert.deepEqual(await encodeInProcess(photo, pictureLimits, killed(5)), { ended: "killed" });
  assert.equal(pids.length, 2);
});

test("a picture that crashes the decoder is not tried again", async () => {
  const pids: number[] = [];
  const encoded = await encodeInProcess(photo, pictureLimits, (pid) => {
    pids.push(pid);
    process.kill(pid, "SIGSEGV");
  });
  assert.deepEqual([encoded, pids.length], [{ ended: "crash" }, 1]);
});

test("the process gives way to all others: it is the first that a system without memory kills", async () => {
  let pid = 0;
  const encoding = encodeInProcess(
    { ...photo, bytes: await picture("teal", { width: 3_000, height: 2_000 }) },
    pictureLimits,
    (its) => (pid = its),
  );
  await until(() => readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim() === "1000");
  assert.equal(getPriority(pid), 5);
  assert.equal(widthOf(await encoding), 1_600);
});

test("the process ends with the service", async () => {
  const script = fileURLToPath(new URL("picture-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, "photo", "jpeg", String(photo.bytes.length)], { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(photo.bytes);
  assert.deepEqual(await once(child, "close"), [null, "SIGKILL"]);
});
