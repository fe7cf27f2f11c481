import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cacheControl, etagOf, findFile, parseRange } from "./files.ts";

const file = { hash: "00", size: 1, type: "text/plain", encodings: {} };
const manifest = new Map(["index.html", "about/index.html", "käse & co/index.html", "a.txt", "404.html"].map((path) => [path, file]));
const found = (path: string) => {
  const result = findFile(manifest, path);
  return result.kind === "file" ? `${result.status} ${result.path}` : result.kind === "folder" ? result.location : result.kind;
};

test("a folder answers with its index.html, and without its final slash redirects", () => {
  assert.equal(found(""), "200 index.html");
  assert.equal(found("about/"), "200 about/index.html");
  assert.equal(found("about"), "/about/");
  assert.equal(found("käse & co"), "/k%C3%A4se%20%26%20co/");
});

test("an unknown path finds the site's 404.html, or nothing", () => {
  for (const path of ["b.txt", "a.txt/", "/", "//", "constructor", "A.txt", "index.html/"]) assert.equal(found(path), "404 404.html", path);
  assert.equal(findFile(new Map(), "x").kind, "nothing");
});

test("a file whose name has a digest is cached for good, and every other one is revalidated", () => {
  for (const path of [
    "app.3f2a91bc.css",
    "assets/index-BkH3x9aZ.js",
    "img/logo-0a1b2c3d4e5f6071.png",
    "assets/a-x_1Y-2bc.woff2",
    "app.3f2a91bc.js.map",
  ]) {
    assert.match(cacheControl(path), /immutable/, path);
  }
  for (const path of [
    "index.html",
    "app.js",
    "menu-20260401.pdf",
    "photo-iPhone12.jpg",
    "jquery-3.7.1.min.js",
    "my-decade.css",
    "a-facade.js",
    "about-us.html",
    "v1.deadbeef",
  ]) {
    assert.match(cacheControl(path), /max-age=0, must-revalidate/, path);
  }
});

test("each encoding of a file has its own strong ETag", () => {
  const encoded = { hash: "ab".repeat(32), size: 100, type: "text/html", encodings: { br: 40, gzip: 50 } };
  const tags = [undefined, "br", "gzip"].map((encoding) => etagOf(encoded, encoding as "br" | "gzip" | undefined));
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
