import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { etagOf } from "./answer.ts";
import { parseRange } from "./ranges.ts";

test("each encoding of a file has its own strong ETag", () => {
  const file = { hash: "ab".repeat(32), size: 100, type: "text/html", encodings: { br: 40, gzip: 50 } };
  const tags = [undefined, "br", "gzip"].map((encoding) => etagOf(file, encoding as "br" | "gzip" | undefined));
  assert.equal(new Set(tags).size, 3);
  for (const tag of tags) assert.match(tag, /^"[^"]+"$/);
});

test("a single range includes its last byte; any other header means the whole file", () => {
  const ranges: [string, unknown][] = [
    ["bytes=0-0", { start: 0, end: 0 }],
    ["bytes=90-", { start: 90, end: 99 }],
    ["bytes=90-1000", { start: 90, end: 99 }],
    ["bytes=-10", { start: 90, end: 99 }],
    ["bytes=-1000", { start: 0, end: 99 }],
    ["Bytes=5-6", { start: 5, end: 6 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=6-5", undefined],
    ["bytes=0-1,3-4", undefined],
    ["bytes=-", undefined],
    ["bytes=a-b", undefined],
    ["items=0-1", undefined],
  ];
  for (const [header, range] of ranges) assert.deepEqual(parseRange(header, 100), range, header);
});

test("an empty file is sent whole for its last bytes, and has no first ones", () => {
  for (const header of ["bytes=-1", "bytes=-500"]) assert.equal(parseRange(header, 0), undefined, header);
  for (const header of ["bytes=-0", "bytes=0-", "bytes=0-0", "bytes=5-"]) assert.equal(parseRange(header, 0), "unsatisfiable", header);
});

test("a range never exceeds the file", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n }), fc.integer({ min: 1, max: 1e9 }), (first, last, size) => {
      for (const header of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
        const range = parseRange(header, size);
        if (typeof range === "object") assert.ok(range.start >= 0 && range.start <= range.end && range.end < size, JSON.stringify(range));
      }
    }),
  );
});
