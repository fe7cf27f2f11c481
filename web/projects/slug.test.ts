import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/support/any-text.ts";
import { slugFrom } from "./slug.ts";

test("a name suggests the slug that people would write for it", () => {
  const expected: Record<string, string> = {
    "Rex & Co.": "rex-co",
    "Luna's Corner": "lunas-corner",
    "Bücher für Hunde": "bucher-fur-hunde",
    " 2 Straßenkatzen! ": "2-strassenkatzen",
    猫: "",
  };
  for (const [name, slug] of Object.entries(expected)) assert.equal(slugFrom(name), slug);
});

test("for any name, the suggestion is one DNS label or empty", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 60 }), (name) => {
      assert.match(slugFrom(name), /^$|^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
    }),
  );
});
