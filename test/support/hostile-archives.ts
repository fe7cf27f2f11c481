import { gzipSync } from "node:zlib";
import { endMarker, gnuLong, paxHeader, rawEntry, rawHeader, type RawHeader } from "./tar-bytes.ts";
import { rawZip, type RawZipEntry } from "./zip-bytes.ts";

/** Returns an integer from `least` on, below `least + range`. */
export type Random = (least: number, range: number) => number;

type Make = (random: Random) => Buffer;

const kiB = 1_024;
const petstore = rawEntry({ name: "petstore.json" }, "{}");
const page = rawEntry({ name: "index.html" }, "<h1>hostile</h1>");
const tar = (...pieces: Buffer[]): Buffer => Buffer.concat([petstore, page, ...pieces, endMarker]);
const times = (count: number, make: (index: number) => Buffer): Buffer => Buffer.concat(Array.from({ length: count }, (_, i) => make(i)));
const oneOf = <T>(random: Random, items: readonly T[]): T => items[random(0, items.length)]!;
/** A small number most times, now and then a large one. */
const some = (random: Random, most: number): number => (random(0, 4) > 0 ? random(0, 20) : random(0, most));
const text = (random: Random, length: number): string => String.fromCharCode(...Array.from({ length }, () => random(0x21, 0x5d)));
const records = (count: number, value: string): [string, string][] => Array.from({ length: count }, (_, i) => [i.toString(36), value]);
const file = (random: Random, name: string): Buffer => rawEntry({ name }, text(random, some(random, 600)));

/** One tar archive of each kind, from petty to gross; some of them are fine. */
const tars: Record<string, Make> = {
  pax: (random) =>
    tar(times(some(random, 2_100), (i) => Buffer.concat([paxHeader(records(random(1, 3), text(random, 9))), file(random, `f/${i}`)]))),
  paxKeys: (random) => tar(paxHeader(records(some(random, 12_000), "")), page),
  paxBytes: (random) => tar(paxHeader([["comment", "x".repeat(some(random, 6_000) * kiB)]]), page),
  paxText: (random) => tar(rawEntry({ type: oneOf(random, ["x", "g"]) }, text(random, some(random, 100_000))), file(random, "a")),
  paxSize: (random) =>
    tar(paxHeader([["size", oneOf(random, ["-1", "0", "1", "1e9", "9".repeat(15), "9".repeat(99), "0x10"])]]), file(random, "a")),
  paxPath: (random) =>
    tar(
      paxHeader([["path", oneOf(random, ["../a", "/a", "a\0b", "a/".repeat(9_000), "é".repeat(700), "e\u0301".repeat(20_000), "\xff"])]]),
      page,
    ),
  paxMany: (random) =>
    tar(
      times(some(random, 300), () => paxHeader(records(2, "v"))),
      page,
    ),
  global: (random) =>
    tar(
      paxHeader(records(some(random, 400_000), ""), "g"),
      times(some(random, 100), (i) => file(random, `f${i}`)),
    ),
  globals: (random) =>
    tar(
      times(some(random, 40), (i) => paxHeader([[`k${random(0, i + 1)}`, "x".repeat(some(random, 70_000))]], "g")),
      file(random, "a"),
    ),
  gnu: (random) => tar(gnuLong("n/".repeat(some(random, 40_000)), oneOf(random, ["L", "K"])), file(random, "a")),
  gnuMany: (random) =>
    tar(
      times(some(random, 300), () => gnuLong(text(random, 200), oneOf(random, ["L", "K"]))),
      file(random, "a"),
    ),
  sparse: (random) =>
    random(0, 2) === 0
      ? tar(rawEntry({ name: "s", type: "S", format: "gnu" }, text(random, 100)))
      : tar(
          paxHeader([
            ["GNU.sparse.major", "1"],
            ["GNU.sparse.realsize", "9".repeat(random(1, 18))],
          ]),
          file(random, "s"),
        ),
  repeated: (random) => times(random(2, 5), () => tar(file(random, "a"))),
  behindEnd: (random) => Buffer.concat([tar(), Buffer.alloc(random(0, 9) * 512), file(random, "late"), endMarker]),
  oneZeroBlock: (random) => Buffer.concat([petstore, Buffer.alloc(512), file(random, "late"), endMarker]),
  sameNames: (random) => tar(times(random(2, 900), (i) => file(random, oneOf(random, ["a", "A", "a/b", `n${i}`])))),
  folders: (random) => tar(times(some(random, 11_000), (i) => rawHeader({ name: `d${i}/`, type: "5" }))),
  entries: (random) => tar(times(some(random, 12_000), (i) => rawHeader({ name: `${oneOf(random, ["", "._", "__MACOSX/"])}${i}` }))),
  types: (random) => tar(rawEntry({ name: "t", type: String.fromCharCode(random(0, 128)), linkname: "/etc/passwd" }, text(random, 9))),
  sizes: (random) => tar(rawHeader({ name: "s", size: sizeField(random) }), Buffer.alloc(random(0, 4) * 512)),
  checksums: (random) => tar(rawEntry({ name: "c", checksumError: random(-3, 7) }, "x")),
  noise: (random) => Buffer.from(Uint8Array.from({ length: some(random, 20_000) }, () => random(0, 256))),
  empty: () => endMarker,
  nothing: () => Buffer.alloc(0),
  nested: (random) => nestedGzip(tar(), random(1, 20)),
  bomb: (random) => tar(rawEntry({ name: oneOf(random, ["b", "._b"]) }, Buffer.alloc(random(1, 64) * kiB * kiB))),
  zeros: (random) => Buffer.concat([tar(), Buffer.alloc(random(1, 48) * kiB * kiB)]),
};

const zipPage: RawZipEntry[] = [
  { name: "petstore.json", content: "{}" },
  { name: "index.html", content: "<h1>hostile</h1>" },
];

/** One zip file of each kind. */
const zips: Record<string, Make> = {
  zipNumbers: (random) => {
    const number = (): number => oneOf(random, [0, 1, 20, 1_000, 2 ** 31, 2 ** 32 - 1]);
    const claims = { size: number(), packedSize: number(), crc: number(), position: number() };
    const fields = Object.entries(claims).filter(() => random(0, 3) === 0);
    const follow = random(0, 2) === 0;
    return rawZip([
      ...zipPage,
      { name: "a", content: text(random, 50), follow, long: random(0, 4) === 0, claims: Object.fromEntries(fields) },
    ]);
  },
  zipNames: (random) =>
    rawZip([
      ...zipPage,
      { name: oneOf(random, ["../a", "/a", "a\0", "a\\..\\..\\b", "C:\\a", "", "/", "\xff", "a/".repeat(9_000)]), system: random(0, 20) },
    ]),
  zipHeaders: (random) =>
    rawZip([
      ...zipPage,
      {
        name: "a",
        content: "a",
        flags: 1 << random(0, 15),
        method: oneOf(random, [0, 8, random(0, 100)]),
        mode: random(0, 0x10000),
        own: { size: random(0, 3) },
      },
    ]),
  zipExtra: (random) => rawZip([...zipPage, { name: "a", content: "a", extra: Buffer.from(text(random, some(random, 60_000))) }]),
  zipCounts: (random) =>
    rawZip(zipPage, { count: random(0, 0x10000), long: random(0, 2) === 0, comment: text(random, some(random, 60_000)) }),
  zipEntries: (random) =>
    rawZip([...zipPage, ...Array.from({ length: some(random, 12_000) }, (_, i) => ({ name: `${oneOf(random, ["", "."])}${i}` }))]),
  zipOverlap: (random) => {
    const bomb = { name: "b0", content: Buffer.alloc(kiB * kiB) };
    const again = Array.from({ length: some(random, 900) }, (_, i) => ({ name: `b${i + 1}`, claims: { position: random(0, 200) } }));
    return rawZip([bomb, ...zipPage, ...again]);
  },
  zipBomb: (random) =>
    rawZip([...zipPage, { name: "b", content: Buffer.alloc(random(1, 64) * kiB * kiB), claims: random(0, 2) === 0 ? { size: 9 } : {} }]),
  zipCut: (random) => {
    const whole = rawZip(zipPage);
    return whole.subarray(0, random(4, whole.length));
  },
};

function sizeField(random: Random): NonNullable<RawHeader["size"]> {
  return oneOf(random, [
    Buffer.from("777777777777"),
    Buffer.from("-0000000001\0"),
    Buffer.from("00000000089\0"),
    Buffer.alloc(12, 0xff),
    Buffer.alloc(12, 0x80),
    Buffer.from([0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    Buffer.alloc(12),
    26 * kiB * kiB,
    random(0, 2_000),
  ]);
}

function nestedGzip(bytes: Buffer, depth: number): Buffer {
  return depth === 0 ? bytes : nestedGzip(gzipSync(bytes, { level: 1 }), depth - 1);
}

/** What happens to the gzip data on its way; most times nothing. */
const damages: ((random: Random, packed: Buffer) => Buffer)[] = [
  (random, packed) => packed.subarray(0, random(0, packed.length)),
  (random, packed) => Buffer.concat([packed, Buffer.alloc(random(1, 2_000)), packed]),
  (random, packed) => Buffer.concat([packed, gzipSync(tar(file(random, "member")))]),
  (random, packed) => Buffer.concat([packed, Buffer.from(text(random, random(1, 99)))]),
  (random, packed) => Buffer.concat([packed, Buffer.alloc(random(1, 20_000))]),
  (_random, packed) => Buffer.concat([times(3_000, () => gzipSync("")), packed]),
  flipped,
];

function flipped(random: Random, packed: Buffer): Buffer {
  const changed = Buffer.from(packed);
  if (changed.length > 0) changed[random(0, changed.length)]! ^= 1 << random(0, 8);
  return changed;
}

/** Makes an upload that a hostile client could send: a gzipped tar or a zip file of one kind, in a third of the cases damaged. */
export function hostileArchive(random: Random): { kind: string; packed: Buffer } {
  const kind = oneOf(random, [...Object.keys(tars), ...Object.keys(zips)]);
  if (zips[kind]) return { kind, packed: random(0, 3) === 0 ? flipped(random, zips[kind](random)) : zips[kind](random) };
  const made = tars[kind]!(random);
  const fate = random(0, 6);
  const packed = gzipSync(fate === 0 ? flipped(random, made) : made, { level: 1 });
  return { kind, packed: fate === 1 ? oneOf(random, damages)(random, packed) : packed };
}
