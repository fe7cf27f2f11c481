import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesStrongly, matchesWeakly } from "./conditions.ts";
import { chooseCoding, listItems, qualities } from "./negotiation.ts";

test("brotli is sent to a client that accepts it, then gzip, then the plain file", () => {
  const chosen: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ["", undefined],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["BR;q=0.5, gzip", "br"],
    ["br ; q = 0, gzip;q=0.001", "gzip"],
    ["br; q = 0.000, gzip;q=0.001", "gzip"],
    ["br;q=0.000,gzip;q=0", undefined],
    ["*", "br"],
    ["*;q=0.1", "br"],
    ["br;q=0, *", "gzip"],
    ["gzip;q=0, br;q=0, *", undefined],
    ["*;q=0", undefined],
    ["brx, gzipx", undefined],
  ];
  for (const [header, coding] of chosen)
    assert.equal(
      chooseCoding(header, () => true),
      coding,
      String(header),
    );
});

test("the plain file is sent to a client that prefers identity, and to one that refuses everything", () => {
  const chosen: [string, string | undefined][] = [
    ["identity", undefined],
    ["identity;q=1, *;q=0", undefined],
    ["gzip;q=0.5, identity", undefined],
    ["identity, br", "br"],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity;q=0, gzip", "gzip"],
    ["identity;q=0", undefined],
    ["identity;q=0, *;q=0", undefined],
  ];
  for (const [header, coding] of chosen)
    assert.equal(
      chooseCoding(header, () => true),
      coding,
      header,
    );
});

test("only a coding that the file is stored in is chosen", () => {
  assert.equal(
    chooseCoding("br", (coding) => coding === "gzip"),
    undefined,
  );
  assert.equal(
    chooseCoding("br, gzip", (coding) => coding === "gzip"),
    "gzip",
  );
  assert.equal(
    chooseCoding("*", () => false),
    undefined,
  );
});

test("If-None-Match compares weakly, If-Match strongly", () => {
  for (const list of ['"y"', 'W/"y"', '"x", W/"y"', '"x","y"', "*", ' "x" , * ']) {
    assert.ok(matchesWeakly(list, '"y"'), list);
    assert.ok(matchesWeakly(list, 'W/"y"'), list);
  }
  for (const list of ['"x"', '"x", "yy"', "y", "", 'w/"y"']) assert.ok(!matchesWeakly(list, '"y"'), list);
  for (const list of ['"y"', '"x", "y"', "*"]) assert.ok(matchesStrongly(list, '"y"'), list);
  for (const list of ['W/"y"', '"x"', "y"]) assert.ok(!matchesStrongly(list, '"y"'), list);
  assert.ok(!matchesStrongly('W/"y"', 'W/"y"'), "a weak tag matches nothing strongly");
});

test("a weighted list is read whatever its spacing and case; the first of two equal names counts, and a quality that is no number counts as 1", () => {
  const read = qualities("Text/HTML;level=1 ; Q = 0.5,\tapplication/json , a/b;q=x, c/d;q=, text/html;q=0, ;q=1");
  assert.deepEqual(Object.fromEntries(read), { "text/html": 0.5, "application/json": 1, "a/b": 1, "c/d": 1 });
});

test("a list is read up to its 500th item", () => {
  assert.equal(listItems("a,".repeat(10_000)).length, 500);
  assert.equal(qualities(Array.from({ length: 1_000 }, (_, i) => `t/${i}`).join()).size, 500);
});
