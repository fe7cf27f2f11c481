import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };

/**
 * A unit of texts: any code point but half of a surrogate pair. The unit "binary" of fast-check is the same, but spends a second on a map of
 * all of them in each process.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - surrogates.count })
  .map((number) => String.fromCodePoint(number < surrogates.first ? number : number + surrogates.count), numberOf);

function numberOf(value: unknown): number {
  const number = typeof value === "string" ? value.codePointAt(0) : undefined;
  if (number === undefined || String.fromCodePoint(number) !== value || !value.isWellFormed()) throw new Error("not one code point");
  return number < surrogates.first ? number : number - surrogates.count;
}
