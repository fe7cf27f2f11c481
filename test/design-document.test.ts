import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { lists, stylesheets } from "./support/design.ts";

/** With this setting (`npm run design`) the test writes the lists anew. */
const isRecording = process.env["PETSTORE_RECORD_DESIGN"] === "on";
const path = new URL("../docs/design.md", import.meta.url);

test("docs/design.md lists the tokens and components of the code", () => {
  const written = readFileSync(path, "utf8");
  let page = written;
  for (const [name, list] of Object.entries(lists())) {
    const place = new RegExp(`(<!-- ${name} -->\n).*?(\n<!-- end -->)`, "s");
    assert.match(page, place);
    page = page.replace(place, (_all, start: string, end: string) => `${start}\n${list}\n${end}`);
  }
  if (isRecording) writeFileSync(path, page);
  else assert.equal(written, page, "run `npm run design`");
});

test("stylesheets take the sizes of type and spaces from the tokens", () => {
  const wrong: string[] = [];
  for (const [file, text] of stylesheets()) {
    for (const [rule, property = "", value = ""] of text.matchAll(
      /^\s*(font-size|(?:row-|column-)?gap|(?:margin|padding)(?:-\w+)*):([^;]*);/gm,
    )) {
      const sizes = value.replaceAll(/calc\(.*\)/g, "").matchAll(/(?<![-\w.])\d+(?:\.\d+)?(?=px)/g);
      // 1 to 3 px are adjustments to what is seen
      if ([...sizes].some(([size]) => property === "font-size" || Number(size) > 3)) wrong.push(`${file}: ${rule.trim()}`);
    }
  }
  assert.deepEqual(wrong, []);
});
