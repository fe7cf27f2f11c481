import { createHash } from "node:crypto";
import { ArchiveError } from "./manifest.ts";

/**
 * The seal of an archive: an empty gzip member (RFC 1952) whose comment is the SHA-256 of all bytes before it. gzip ignores some bits of
 * its own format and everything after its data, so its checksum alone would not notice each changed byte.
 */
const begin = Buffer.from([0x1f, 0x8b, 0x08, 0x10, 0, 0, 0, 0, 0, 0xff]);
const end = Buffer.from([0, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const label = "sha256=";
const sealBytes = begin.length + label.length + 64 + end.length;

function sealOf(sha256: string): Buffer {
  return Buffer.concat([begin, Buffer.from(label + sha256, "latin1"), end]);
}

/** Appends the seal. */
export async function* sealed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  yield sealOf(hash.digest("hex"));
}

/** Checks and removes the seal. Ends with an error if any byte differs or is absent. @throws ArchiveError */
export async function* unsealed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let kept: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const all = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    const ready = Math.max(0, all.length - sealBytes);
    kept = Buffer.from(all.subarray(ready));
    if (ready === 0) continue;
    const passed = all.subarray(0, ready);
    hash.update(passed);
    yield passed;
  }
  if (!kept.equals(sealOf(hash.digest("hex")))) throw new ArchiveError("is not a complete backup of this program: its checksum is wrong");
}
