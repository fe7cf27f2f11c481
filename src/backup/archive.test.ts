import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { endMarker, gnuLong, paxHeader, rawEntry, rawHeader } from "../../test/support/tar-bytes.ts";
import { checkArchive } from "./archive-check.ts";
import { archiveOf, sealed, type Entry } from "./archive.ts";
import { ArchiveError, headerName, manifestName } from "./manifest.ts";

const header = rawEntry({ name: headerName }, JSON.stringify({ format: 1, program: "1.2.0" }));
const manifest = rawEntry({ name: manifestName }, "{}");
const records = (count: number) => Array.from({ length: count }, (_, key) => [key.toString(36), ""] as const);
const small = paxHeader([["mtime", "1.5"]]);

const hostile: [pieces: Buffer[], reason: RegExp][] = [
  [[paxHeader(records(20_000), "g"), small], /^is damaged or incomplete: it has a global pax header of more than 64 KiB$/],
  [[small, small, manifest], /it has more than one pax header for an entry/],
  [[gnuLong("n".repeat(70_000)), manifest], /it has a long name of more than 64 KiB/],
  [[paxHeader(records(65)), manifest], /it has a pax header with more than 64 keys/],
  [[endMarker, manifest], /it has other data behind its end/],
  [[rawHeader({ name: manifestName, size: Buffer.alloc(12, 0xff) })], /it has a header with a number that makes no sense/],
  [[rawEntry({ name: manifestName, checksumError: 1 })], /it has a header with a wrong checksum/],
  [[rawEntry({ name: manifestName, type: "2", linkname: "/etc/passwd" })], /^is not a backup of this program$/],
  [[paxHeader([["path", "../evil"]]), manifest], /^is not a backup of this program$/],
];

test("a backup whose seal is right and whose headers are hostile is refused with the reason", async () => {
  const refused = (bytes: Buffer, reason: RegExp): Promise<void> =>
    assert.rejects(
      checkArchive(sealed(Readable.from([bytes])), undefined),
      (error) => error instanceof ArchiveError && reason.test(error.message),
      String(reason),
    );
  for (const [pieces, reason] of hostile) await refused(gzipSync(Buffer.concat([header, ...pieces, endMarker])), reason);
  await refused(gzipSync(Buffer.concat([header, manifest.subarray(0, 513)])), /it breaks off/);
  await refused(gzipSync(gzipSync(header)), /it is compressed twice/);
  await refused(gzipSync(header).subarray(0, -1), /it is not a complete gzip file/);
});

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
