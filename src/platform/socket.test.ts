import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Problem } from "./problem.ts";
import { callSocket, NobodyListensError, openSocket, type Operations } from "./socket.ts";

const operations: Operations = {
  echo: async (input) => ({ input }),
  refuse: async () => {
    throw new Problem("not_found", "There is no account 7.");
  },
  fail: async () => {
    throw new Error("secret detail");
  },
  never: () => new Promise(() => {}),
};

async function openScene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const path = join(folder, "petstore.sock");
  const errors: unknown[] = [];
  const socket = await openSocket(path, operations, (error) => errors.push(error));
  t.after(async () => {
    await socket.close();
    rmSync(folder, { recursive: true });
  });
  return { path, errors, socket };
}

test("an operation runs with its input, and only the owner can open the socket", async (t) => {
  const { path } = await openScene(t);
  assert.deepEqual(await callSocket(path, "echo", { name: "Fünf", n: [1] }), { input: { name: "Fünf", n: [1] } });
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a refusal arrives as the same Problem", async (t) => {
  const { path, errors } = await openScene(t);
  await assert.rejects(callSocket(path, "refuse", {}), { name: "Problem", code: "not_found", message: "There is no account 7." });
  await assert.rejects(callSocket(path, "constructor", {}), { name: "Problem", code: "not_found" });
  assert.deepEqual(errors, []);
});

test("an unexpected error is logged and not shown to the caller", async (t) => {
  const { path, errors } = await openScene(t);
  await assert.rejects(callSocket(path, "fail", {}), (error: unknown) => error instanceof Problem && !error.message.includes("secret"));
  assert.deepEqual(errors, [new Error("secret detail")]);
});

test("a body over the bound is refused, by the sender and by the receiver", async (t) => {
  const { path } = await openScene(t);
  const large = "x".repeat(1 << 20);
  await assert.rejects(callSocket(path, "echo", large), { name: "Problem", code: "payload_too_large" });

  const ended = new Promise<string>((resolve) => {
    const req = request({ socketPath: path, path: "/echo", method: "POST" }, (res) => resolve(String(res.statusCode)));
    req.on("error", () => resolve("closed")).end(JSON.stringify(large));
  });
  assert.match(await ended, /^(413|closed)$/);
  assert.deepEqual(await callSocket(path, "echo", 1), { input: 1 });
});

test("the caller stops waiting for an answer that does not arrive in time", async (t) => {
  const { path } = await openScene(t);
  await assert.rejects(callSocket(path, "never", {}, 20), /did not answer within 0.02 seconds/);
});

test("the file of a dead process is replaced; without a process the call fails", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "petstore.sock");
  await assert.rejects(callSocket(path, "echo", 1), NobodyListensError);
  writeFileSync(path, "");
  await assert.rejects(callSocket(path, "echo", 1), NobodyListensError);
  const socket = await openSocket(path, operations, assert.ifError);
  assert.deepEqual(await callSocket(path, "echo", 1), { input: 1 });
  await socket.close();
  await assert.rejects(callSocket(path, "echo", 1), NobodyListensError);
});

test("a folder may have a path that is too long for a socket; other systems than Linux refuse it in one line that says what to set", async (t) => {
  const parent = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, "d".repeat(100), "e".repeat(200));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "petstore.sock");
  const opened = openSocket(path, operations, assert.ifError);
  if (process.platform !== "linux") return assert.rejects(opened, /^Error: [^\n]*too long[^\n]*DATA_DIR/);
  const socket = await opened;
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(await callSocket(path, "echo", 1), { input: 1 });
  await socket.close();
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(callSocket(path, "echo", 1), NobodyListensError);
  return undefined;
});
