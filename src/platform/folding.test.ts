import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normalize } from "./folding.ts";
import { unicodeVersion } from "./unicode.gen.ts";

const characters = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));

/** Folds upper to lower case, as CaseFolding.txt does, by the runtime's own tables: only dotless i and the Cherokee letters are folded otherwise. */
function foldCase(character: string): string {
  if (character === "\u0131" || /[\u13a0-\u13f5]/u.test(character)) return character;
  if (/[\u13f8-\u13fd\uab70-\uabbf]/u.test(character)) return character.toUpperCase();
  return character.toLowerCase().toUpperCase().toLowerCase();
}

/** The property NFKC_Casefold as DerivedNormalizationProps.txt defines it, by the runtime's own tables. */
function casefolded(character: string): string {
  for (let text = character; ;) {
    const folded = Array.from(text.normalize("NFKC"), foldCase).join("");
    const next = folded.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFC");
    if (next === text) return text;
    text = next;
  }
}

test("each character folds as Unicode's NFKC_Casefold says", () => {
  assert.equal(process.versions.unicode, unicodeVersion, "the runtime's tables are the measure");
  const isChanged = /^\p{Changes_When_NFKC_Casefolded}$/u;
  for (const character of characters) {
    const key = normalize(character);
    if (key !== casefolded(character) || (key !== character) !== isChanged.test(character))
      assert.fail(`U+${character.codePointAt(0)!.toString(16)} folds to ${JSON.stringify(key)}`);
  }
});

const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...Array.from("aß ΣσςİıŉǰΐᾳΆ̈̌̓ͅﷺ각ᄀ가゙か\u00ad\u200d")), fc.constantFrom(...characters)),
  maxLength: 12,
});

/** Characters newer than those that every runtime normalises alike stay where they are. */
const settled = text.filter(
  // oxlint-disable-next-line no-misleading-character-class -- ranges of single marks
  (some) => !/[\p{Cn}\u0897\u1acf-\u1aeb\u{105c9}-\u{105e4}\u{10d69}-\u{10efb}\u{11382}-\u{113d0}\u{1611e}-\u{1e6f5}]/u.test(some),
);

test("a text folds as its characters do, in any normalisation form, and once is enough", () => {
  fc.assert(
    fc.property(settled, (some) => {
      const expected = Array.from(some.normalize("NFD"), casefolded).join("").normalize("NFC");
      assert.equal(normalize(some), expected);
      for (const form of ["NFC", "NFD"] as const) assert.equal(normalize(some.normalize(form)), expected);
    }),
    { numRuns: 5_000 },
  );
  fc.assert(
    fc.property(text, (some) => assert.equal(normalize(normalize(some)), normalize(some))),
    { numRuns: 5_000 },
  );
});

test("the beginning of a key is that of the whole key", () => {
  const pieces = ["ﷺ", "ﷻ", "㌀", "e\u0301", "\u0323", "각", "🐕", "É ", "x"];
  const long = fc.array(fc.oneof(text, fc.constantFrom(...pieces.map((piece) => piece.repeat(40)))), { maxLength: 8 });
  const points = (key: string, count: number): string => Array.from(key).slice(0, count).join("");
  fc.assert(
    fc.property(long, fc.integer({ min: 1, max: 60 }), (some, count) => {
      const name = some.join("");
      assert.equal(points(normalize(name, count), count), points(normalize(name), count));
    }),
    { numRuns: 2_000 },
  );
});

test("names that differ in case, form and invisible characters have one key", () => {
  for (const [key, ...same] of [
    ["οδυσσευσ", "ΟΔΥΣΣΕΥΣ", "οδυσσευς", "Οδυσσευς"],
    ["strasse", "Straße", "STRASSE", "STRAẞE", "Stra\u00adße"],
    ["fido", "ﬁdo", "ＦＩＤＯ", "Fi\u200ddo", "\u{e0001}FIDO"],
    ["å", "Å", "A\u030a", "Å"],
    ["Ꭰ", "Ꭰ", "ꭰ"],
  ] as const) {
    for (const name of same) assert.equal(normalize(name), key, name);
  }
  assert.notEqual(normalize("ı"), normalize("I"));
});
