import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson } from "./canonical-json.ts";

test("values are written as JSON.stringify writes them", () => {
  const texts = ["", "Rex", 'a"b', "a\\b", "a/b", "\n\t\u0000\u001f", "\u007f", "é", "\u2028", "😀", "\ud800", "a\ud800b"];
  for (const value of [...texts, 0, -0, 1, -1.5, 1e21, 1e-7, 2 ** 53, NaN, Infinity, true, false, null]) {
    assert.equal(canonicalJson(value), JSON.stringify(value));
  }
  assert.equal(canonicalJson([1, "a", [], {}]), '[1,"a",[],{}]');
});

test("members are sorted by their UTF-16 units, and those that are undefined are left out", () => {
  assert.equal(canonicalJson({ b: 1, a: "x", c: undefined }), '{"a":"x","b":1}');
  const names = ["\ufb33", "€", "😀", "10", "1", "\r", 'a"b'];
  const sorted = names.toSorted().map((name) => `${JSON.stringify(name)}:0`);
  assert.equal(canonicalJson(Object.fromEntries(names.map((name) => [name, 0]))), `{${sorted.join(",")}}`);
});
