import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { archiveOf, type Entry } from "./archive-writer.ts";

const bytes = 4_000_000;

test("a reader that stops while an entry waits for its content, as on a full disk, ends the archive without another error", async () => {
  const stopped = new EventTarget();
  async function* waiting(): AsyncGenerator<Uint8Array> {
    yield randomBytes(bytes / 2);
    await once(stopped, "stop");
    yield randomBytes(bytes / 2);
  }
  async function* entries(): AsyncGenerator<Entry> {
    yield { name: "file", bytes, content: waiting() };
  }
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on("uncaughtException", note);
  for await (const chunk of archiveOf(entries(), 0, undefined)) if (chunk.length > 0) break;
  stopped.dispatchEvent(new Event("stop"));
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  process.off("uncaughtException", note);
  assert.deepEqual(uncaught, []);
});
