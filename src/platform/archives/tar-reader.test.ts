import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { growthOf } from "../../../test/support/cpu.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { endMarker, gnuLong, paxHeader, paxRecord, rawEntry, rawHeader } from "../../../test/support/tar-bytes.ts";
import { UnreadableArchive } from "./archive-bytes.ts";
import { gunzipped } from "./byte-reader.ts";
import { readTar } from "./tar-reader.ts";

const file = rawEntry({ name: "a.txt" }, "a");
const kiB = 1_024;

/** The bytes in pieces of a length that no block begins at, and at once. */
const sources = (bytes: Buffer): AsyncIterable<Buffer>[] => [
  Readable.from([bytes]),
  Readable.from(Array.from({ length: Math.ceil(bytes.length / 997) }, (_, i) => bytes.subarray(i * 997, (i + 1) * 997))),
];

type Read = { name: string; type: string; text: string };

async function read(source: AsyncIterable<Uint8Array>, entriesMax?: number): Promise<Read[]> {
  const entries: Read[] = [];
  for await (const { name, type, content } of readTar(source, entriesMax)) {
    entries.push({ name, type, text: Buffer.concat(await Array.fromAsync(content)).toString() });
  }
  return entries;
}

async function readAll(...pieces: Buffer[]): Promise<Read[]> {
  const [whole, inPieces] = await Promise.all(sources(Buffer.concat(pieces)).map((source) => read(source)));
  assert.deepEqual(inPieces, whole);
  return whole!;
}

async function refused(pieces: Buffer[], reason: RegExp): Promise<void> {
  for (const source of sources(Buffer.concat(pieces)))
    await assert.rejects(read(source), (error) => error instanceof UnreadableArchive && reason.test(error.message), String(reason));
}

for (const format of ["v7", "ustar", "pax", "gnu"]) {
  test(`archives of the system's tar are read: --format=${format}`, async (t: TestContext) => {
    const folder = temporaryFolder(t);
    const long = `${"deep/".repeat(17)}${"x".repeat(format === "ustar" ? 80 : 120)}.txt`;
    const paths = ["a.txt", "größe.txt", "empty", ...(format === "v7" ? [] : [long])];
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), path === "empty" ? "" : path);
    }
    const entries = await readAll(execFileSync("tar", [`--format=${format}`, "-c", "-C", folder, "."]));
    assert.deepEqual(
      new Set(entries.filter(({ type }) => type !== "directory").map(({ name }) => name)),
      new Set(paths.map((path) => `./${path}`)),
    );
    for (const { name, type, text } of entries) assert.equal(text, type === "directory" || name === "./empty" ? "" : name.slice(2));
    assert.ok(entries.some(({ type }) => type === "directory"));
  });
}

test("a pax header for each of 2,000 files, as Python and macOS write them, is no reason to refuse an archive", async () => {
  const python = (index: number): Buffer =>
    Buffer.concat([paxHeader([["mtime", `1764075600.${index}`]]), rawEntry({ name: `f/${index}.txt` }, `${index}`)]);
  const macos = (index: number): Buffer => {
    const own = [
      ["mtime", "1764075600.25"],
      ["LIBARCHIVE.creationtime", "1764075600"],
    ] as const;
    const attributes = [
      "LIBARCHIVE.xattr.com.apple.quarantine",
      "SCHILY.xattr.com.apple.provenance",
      "SCHILY.xattr.com.apple.lastuseddate#PS",
    ];
    const records = [...own, ...attributes.map((key) => [key, Buffer.from([0, 0x81, 10, 61, 0xff])] as const)];
    return Buffer.concat([
      paxHeader(own),
      rawEntry({ name: `./._${index}.txt` }, "\0\x05\x16\x07"),
      paxHeader(records),
      rawEntry({ name: `./${index}.txt` }, `${index}`),
    ]);
  };
  const indexes = Array.from({ length: 2_000 }, (_, index) => index);
  assert.equal((await readAll(...indexes.map(python), endMarker)).length, 2_000);
  const entries = await readAll(...indexes.map(macos), endMarker);
  assert.deepEqual(entries.at(-1), { name: "./1999.txt", type: "file", text: "1999" });
});

test("extended headers name the next entry alone, and pax overrides GNU's", async () => {
  const long = "n".repeat(300);
  const sized = Buffer.concat([rawHeader({ name: "sized", size: 0 }), Buffer.from("abc".padEnd(512, "\0"))]);
  const entries = await readAll(
    gnuLong(long),
    gnuLong("a link", "K"),
    file,
    file,
    gnuLong(long),
    paxHeader([
      ["path", "päx"],
      ["path", "päx 2"],
    ]),
    file,
    paxHeader([["size", "3"]]),
    sized,
    paxHeader([["comment", "no path"]], "g"),
    paxHeader([["path", ""]]),
    file,
    endMarker,
  );
  assert.deepEqual(
    entries.map(({ name }) => name),
    [long, "a.txt", "päx 2", "sized", "a.txt"],
  );
  assert.equal(entries[3]?.text, "abc");
});

test("each entry has at most one pax header, long name and long link, each of 64 KiB, and 64 keys", async () => {
  const records = (count: number) => Array.from({ length: count }, (_, i): [string, string] => [`k${i}`, "v"]);
  const filled = (bytes: number) => paxHeader([["comment", "x".repeat(bytes - paxRecord("comment", "x".repeat(65_500)).length + 65_500)]]);
  await readAll(paxHeader(records(64)), file, filled(64 * kiB), file, gnuLong("x".repeat(64 * kiB - 1)), file, endMarker);
  await refused([paxHeader(records(65)), file, endMarker], /more than 64 keys/);
  await refused([filled(64 * kiB + 1), file, endMarker], /pax header of more than 64 KiB/);
  await refused([gnuLong("x".repeat(64 * kiB)), file, endMarker], /long name of more than 64 KiB/);
  await refused([gnuLong("x".repeat(64 * kiB), "K"), file, endMarker], /long link of more than 64 KiB/);
  const twice = (header: Buffer): Buffer[] => [header, paxHeader([["comment", "global"]], "g"), header, file, endMarker];
  await refused(twice(paxHeader(records(1))), /more than one pax header for an entry/);
  await refused(twice(gnuLong("n")), /more than one long name/);
  await refused(twice(gnuLong("n", "K")), /more than one long link/);
  await refused([file, paxHeader(records(1)), endMarker], /breaks off/);
});

test("an archive has at most 16 global pax headers, whose records take 64 KiB together", async () => {
  const global = (key: string, bytes: number) => paxHeader([[key, "x".repeat(bytes)]], "g");
  const same = Array.from({ length: 16 }, () => global("comment", 60_000));
  await readAll(...same, file, endMarker);
  await refused([...same, global("comment", 1), file, endMarker], /more than 16 global pax headers/);
  await refused([global("a", 40_000), global("b", 40_000), file, endMarker], /global pax headers of more than 64 KiB together/);
  await refused([global("a", 70_000), file, endMarker], /global pax header of more than 64 KiB/);
  for (const key of ["path", "linkpath", "size", "GNU.sparse.name"]) await refused([global(key, 1), file, endMarker], /of a single entry/);
});

test("all extended headers have at most 8 MiB together", async () => {
  const one = Buffer.concat([paxHeader([["comment", "x".repeat(64 * kiB - 16)]]), file]);
  await readAll(...Array.from({ length: 128 }, () => one), endMarker);
  await refused([...Array.from({ length: 129 }, () => one), endMarker], /extended headers of more than 8 MiB together/);
});

test("an archive has at most as many entries as its reader accepts, folders included", async () => {
  const folder = rawEntry({ name: "d/", type: "5" });
  assert.equal((await read(Readable.from([file, folder, file, endMarker]), 3)).length, 3);
  await assert.rejects(read(Readable.from([file, folder, file, folder, endMarker]), 3), /has more than 3 entries/);
});

test("data behind the end marker is refused, in whatever member of the gzip data; padding is not", async () => {
  const tar = Buffer.concat([file, endMarker]);
  const members = (...parts: Buffer[]) => Readable.from([Buffer.concat(parts)]);
  await readAll(tar, Buffer.alloc(9_000));
  await refused([tar, tar], /other data behind its end/);
  await refused([file, Buffer.alloc(512), file, endMarker], /other data behind its end/);
  await assert.rejects(read(gunzipped(members(gzipSync(tar), gzipSync(tar)))), /other data behind its end/);
  await assert.rejects(read(gunzipped(members(gzipSync(tar), Buffer.alloc(3), gzipSync(tar)))), /other data behind its gzip data/);
  await assert.rejects(read(gunzipped(members(gzipSync(tar), Buffer.alloc(70_000), Buffer.from("x")))), /other data behind its gzip data/);
  await assert.rejects(read(gunzipped(members(gzipSync(tar), Buffer.from("x")))), /not a complete gzip file/);
  assert.equal((await read(gunzipped(members(gzipSync(tar.subarray(0, 700)), gzipSync(tar.subarray(700)), Buffer.alloc(600))))).length, 1);
  const apart = Readable.from([gzipSync(tar), Buffer.alloc(3), Buffer.from([1])]);
  await assert.rejects(read(gunzipped(apart)), /other data behind its gzip data/);
});

test("what is no tar, is compressed twice, breaks off or has a number that makes no sense is refused as such", async () => {
  await refused([Buffer.alloc(2_000, "no tar ")], /contains no readable tar archive/);
  await refused([rawEntry({ checksumError: 1 }), endMarker], /contains no readable tar archive/);
  await refused([file, rawEntry({ checksumError: -1 }), endMarker], /a header with a wrong checksum/);
  await assert.rejects(read(gunzipped(Readable.from([gzipSync(gzipSync(Buffer.concat([file, endMarker])))]))), /compressed twice/);
  for (const end of [100, 512, 600, 1_023]) await refused([file, file.subarray(0, end)], /breaks off/);
  const sizes = [
    Buffer.alloc(12, 0xff),
    Buffer.alloc(12, 0xff).fill(0x80, 0, 1),
    Buffer.from("999999999999"),
    Buffer.from("-0000000001\0"),
  ];
  for (const size of sizes) await refused([file, rawHeader({ size }), endMarker], /number that makes no sense/);
  for (const size of ["-1", "1e3", "9".repeat(16), "9".repeat(40), " 1"])
    await refused([paxHeader([["size", size]]), file, endMarker], /number that makes no sense/);
  await refused([rawEntry({ name: "folder/", type: "0" }, "x"), endMarker], /a folder with content/);
  const huge = Buffer.from([0x80, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0]);
  await refused([rawHeader({ size: huge }), endMarker], /breaks off/);
  await refused([rawHeader({ size: huge, type: "x" }), endMarker], /pax header of more than 64 KiB/);
});

test("a pax header that does not keep to its format is refused", async () => {
  const bad = [
    "6 a=b",
    "0 a=b\n",
    "-6 a=b\n",
    "a=b\n",
    "6  a=b\n",
    "6 abc\n",
    "5 =b\n",
    "6 a=b\n\0\0",
    "99 a=b\n",
    "1234567 a=b\n",
    "6\ta=b\n",
    " 6 a=b\n",
  ];
  for (const text of bad) await refused([rawEntry({ type: "x" }, text), file, endMarker], /pax header that cannot be read/);
  await readAll(rawEntry({ type: "x" }, "6 a=b\n5 a=\n7 a==\n\n"), file, endMarker);
});

for (const form of [
  "--format=gnu",
  "--format=posix --sparse-version=0.0",
  "--format=posix --sparse-version=0.1",
  "--format=posix --sparse-version=1.0",
])
  test(`sparse files of the system's tar get their holes back: ${form}`, async (t) => {
    const folder = temporaryFolder(t);
    const names = ["holes.bin", "many.bin", "end.bin"];
    const [holes, many, end] = names.map((name) => openSync(join(folder, name), "w"));
    writeSync(holes!, "begin", 0);
    writeSync(holes!, "end", 1_000_000);
    for (let piece = 0; piece < 30; piece++) writeSync(many!, `piece ${piece}`, piece * 100_000);
    ftruncateSync(end!, 300_000);
    for (const descriptor of [holes, many, end]) closeSync(descriptor!);
    const packed = execFileSync("tar", [...form.split(" "), "-cS", "-C", folder, ...names]);
    assert.ok(packed.length < 600_000, "the holes are not in the archive");
    for (const source of sources(packed)) {
      const found: string[] = [];
      for await (const { name, type, size, content } of readTar(source)) {
        const bytes = Buffer.concat(await Array.fromAsync(content));
        assert.ok(bytes.equals(readFileSync(join(folder, name))) && bytes.length === size && type === "file", name);
        found.push(name);
      }
      assert.deepEqual(found, names);
    }
  });

test("a sparse file whose map makes no sense is refused, and so is an unknown form", async () => {
  const pax = (...records: [string, string][]) => paxHeader([["GNU.sparse.realsize", "10"], ...records]);
  const data = rawEntry({ name: "a" }, "12345");
  for (const map of ["0,6", "6,5", "0,2,1,3", "5,2,0,3", "0,2", "x,5", "0", `0,${"9".repeat(17)}`])
    await refused([pax(["GNU.sparse.map", map]), data, endMarker], /has a sparse file whose map makes no sense/);
  for (const content of ["2\n0\n", "9999\n", "x\n", "1\n0\n99\n"])
    await refused(
      [pax(["GNU.sparse.major", "1"]), rawEntry({ name: "a" }, content.padEnd(512, "\0") + "12345"), endMarker],
      /sparse file whose map/,
    );
  await refused([pax(["GNU.sparse.major", "2"]), data, endMarker], /has a sparse file of an unknown form/);
});

test("contiguous files are ordinary ones, and types that nobody knows are said to be such", async () => {
  const [contiguous, unknown] = await readAll(rawEntry({ name: "a", type: "7" }, "x"), rawEntry({ name: "b", type: "Z" }, ""), endMarker);
  assert.deepEqual([contiguous?.type, contiguous?.text, unknown?.type], ["file", "x", "unknown"]);
});

test("an entry's content may be left unread, in part or whole", async () => {
  const large = rawEntry({ name: "large" }, Buffer.alloc(3_000_000, "x"));
  const names: string[] = [];
  for await (const { name, content } of readTar(Readable.from([Buffer.concat([large, file, large, file, endMarker])]))) {
    if (names.push(name) === 1) for await (const _ of content) break;
  }
  assert.deepEqual(names, ["large", "a.txt", "large", "a.txt"]);
});

test("headers are parsed in linear time, and a long archive gives the event loop turns", async () => {
  const growth = await growthOf((count) => {
    const header = paxHeader(
      Array.from({ length: count }, (_, i) => [i.toString(36), ""] as const),
      "g",
    );
    return () => read(Readable.from([header, file, endMarker]));
  }, 1_800);
  assert.ok(growth < 8, `four times the records take ${growth} times as long`);
  const archive = Buffer.concat([...Array.from({ length: 20_000 }, () => Buffer.concat([paxHeader([["mtime", "1.5"]]), file])), endMarker]);
  let turns = 0;
  let over = false;
  const count = (): void => void (over || (turns++, setImmediate(count)));
  count();
  const begun = performance.now();
  await read(Readable.from([archive]));
  over = true;
  const ms = performance.now() - begun;
  assert.ok(turns >= ms / 40, `${turns} turns in ${ms} ms`);
});
