import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { rawZip, type RawZipEntry } from "../../../test/support/zip-bytes.ts";
import { UnreadableArchive } from "./archive-bytes.ts";
import { readZip } from "./zip-reader.ts";

type Read = { name: string; type: string; text: string };

async function read(bytes: Buffer, entriesMax = Infinity): Promise<Read[]> {
  const reader = { size: bytes.length, read: async (at: number, count: number) => bytes.subarray(at, at + count) };
  const entries: Read[] = [];
  for (const { name, type, content } of await readZip(reader, entriesMax)) {
    entries.push({ name, type, text: Buffer.concat(await Array.fromAsync(content)).toString() });
  }
  return entries;
}

async function refused(zip: Buffer | RawZipEntry[], reason: RegExp): Promise<void> {
  const bytes = Buffer.isBuffer(zip) ? zip : rawZip(zip);
  await assert.rejects(read(bytes), (error) => error instanceof UnreadableArchive && reason.test(error.message), String(reason));
}

const a: RawZipEntry = { name: "a.txt", content: "a".repeat(1_000) };

test("deflated and stored files, sizes before and behind the content, zip64 and comments make no difference", async () => {
  const expected = [{ name: "a.txt", type: "file", text: "a".repeat(1_000) }];
  for (const method of [0, 8])
    for (const follow of [false, true])
      for (const long of [false, true]) {
        assert.deepEqual(await read(rawZip([{ ...a, method, follow, long }], { long, comment: "PK\u0005\u0006 by hand" })), expected);
      }
  assert.deepEqual(await read(rawZip([])), []);
});

test("names are UTF-8 with or without the flag, or of code page 437, and folders are separated by backslashes on Windows", async () => {
  const unicode = Buffer.from("größe.txt");
  const short = Buffer.from("gr_e.txt");
  const field = Buffer.concat([Buffer.from([0x75, 0x70, 5 + unicode.length, 0, 1]), Buffer.alloc(4), unicode]);
  field.writeUInt32LE(crc32(short), 5);
  const names: [RawZipEntry, string][] = [
    [{ name: unicode, flags: 0x800 }, "größe.txt"],
    [{ name: unicode, system: 19 }, "größe.txt"],
    [{ name: Buffer.from("gr\x94\xe1e.txt", "latin1"), system: 0 }, "größe.txt"],
    [{ name: short, extra: field }, "größe.txt"],
    [{ name: "img\\dot.png", system: 0 }, "img/dot.png"],
  ];
  for (const [entry, name] of names) assert.equal((await read(rawZip([entry])))[0]?.name, name);
});

test("folders, links and devices are said to be such", async () => {
  const kinds: RawZipEntry[] = [
    { name: "d/", method: 0, mode: 0o040755 },
    { name: "w\\", method: 0, system: 0 },
    { name: "l", content: "/etc/passwd", mode: 0o120777 },
    { name: "p", mode: 0o010644 },
  ];
  const types = (await read(rawZip(kinds))).map(({ type }) => type);
  assert.deepEqual(types, ["directory", "directory", "symlink", "fifo"]);
});

test("what a reader of the directory and a reader of the entries would see differently is refused", async () => {
  await refused([{ ...a, own: { name: "b.txt" } }], /two headers of "a.txt" differ/);
  await refused([{ ...a, own: { method: 0 } }], /two headers of "a.txt" differ/);
  await refused([{ ...a, own: { size: 1 } }], /two headers of "a.txt" differ/);
  await refused([{ ...a, claims: { position: 3 } }], /cannot be found/);
  await refused(rawZip([a], { count: 2 }), /directory is damaged/);
  await refused(rawZip([a, a], { count: 1 }), /other data in it/);
  await refused(Buffer.concat([rawZip([a]), Buffer.from("x")]), /other data behind its end/);
});

test("entries that share bytes with each other or with the directory are refused", async () => {
  await refused([a, { ...a, claims: { position: 0 } }], /entries overlap/);
  await refused([{ ...a, method: 0, claims: { size: 2_000, packedSize: 2_000 }, follow: true }], /overlap its directory/);
});

test("encrypted files, other methods and damaged content are refused, and no file is larger than it says", async () => {
  for (const flags of [1, 0x41, 0x2000]) await refused([{ ...a, flags }], /"a.txt" is encrypted/);
  for (const method of [9, 12, 14, 93, 99]) await refused([{ ...a, method }], /method other than deflate/);
  for (const claims of [{ size: 10 }, { size: 2_000 }, { crc: 1 }]) await refused([{ ...a, claims, follow: true }], /"a.txt" is damaged/);
  const padded = Buffer.concat([deflateRawSync("a"), Buffer.from("hidden")]);
  const hidden = rawZip([{ name: "a.txt", content: padded, method: 0, follow: true }]);
  for (const at of [8, hidden.lastIndexOf("PK\u0001\u0002") + 10]) hidden.writeUInt16LE(8, at);
  hidden.writeUInt32LE(1, hidden.lastIndexOf("PK\u0001\u0002") + 24);
  hidden.writeUInt32LE(crc32("a"), hidden.lastIndexOf("PK\u0001\u0002") + 16);
  await refused(hidden, /"a.txt" is damaged/);
  await refused([{ name: "d/", content: "x" }], /folder with content/);
});

test("a zip file that breaks off anywhere is refused, and one with too many entries before they are read", async () => {
  const whole = rawZip([a, { ...a, name: "b.txt" }]);
  for (let bytes = 0; bytes < whole.length; bytes += 7) await refused(whole.subarray(0, bytes), /breaks off/);
  await assert.rejects(read(whole, 1), /has more than 1 entries/);
});
