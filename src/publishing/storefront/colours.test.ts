import assert from "node:assert/strict";
import { test } from "node:test";
import { textOn } from "./colours.ts";

test("text on a shop's colour is black or white, whichever can be read better", () => {
  for (const [colour, text] of [
    ["#ffe14d", "#000000"],
    ["#0b6b58", "#ffffff"],
    ["#000000", "#ffffff"],
    ["#ffffff", "#000000"],
    ["#777777", "#000000"],
  ] as const)
    assert.equal(textOn(colour), text, colour);
});
