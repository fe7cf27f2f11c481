import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { depthMax, requireBoundedJson, valuesMax } from "./json-bounds.ts";

const look = (text: string) => () => requireBoundedJson(Buffer.from(text));

test("a body may nest to the bound and no deeper, whether it is JSON or not", () => {
  assert.doesNotThrow(look("[".repeat(depthMax) + "]".repeat(depthMax)));
  for (const opening of ["[", '{"a":', '[{"a":']) {
    assert.throws(look(opening.repeat(depthMax + 1)), { code: "invalid_request", message: /nest at most 32 levels/ });
  }
  assert.doesNotThrow(look("[],".repeat(1_000)));
});

test("a body may hold values up to the bound and no more, whatever they are", () => {
  assert.doesNotThrow(look(`[${"1,".repeat(valuesMax - 1)}1]`));
  for (const value of ["1", "{}", "[]", '"a"']) {
    assert.throws(look(`[${`${value},`.repeat(valuesMax)}1]`), { code: "invalid_request", message: /at most 20000 values/ }, value);
  }
});

test("brackets and commas in strings do not count", () => {
  fc.assert(
    fc.property(anyText(), fc.constantFrom("[", ",", '"', "\\", '\\"[', "{"), (text, part) => {
      const body = JSON.stringify({ [text]: text + part.repeat(valuesMax + 1) });
      assert.doesNotThrow(look(body));
    }),
    { numRuns: 50 },
  );
});

test("no value of JSON within the bounds is refused", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 5 }), (text) => assert.doesNotThrow(look(text))));
});
