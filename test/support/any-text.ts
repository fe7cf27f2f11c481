import fc, { type StringSharedConstraints } from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };
const lastCharacter = 0x10ffff;

const character = fc
  .nat({ max: lastCharacter - surrogates.count })
  .map((index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count), indexOf);

/** The texts of `fc.string({ unit: "binary" })`: any characters. fast-check makes a table of them all for it, which takes 1.4 s in each process. */
export const anyText = (constraints: StringSharedConstraints = {}): fc.Arbitrary<string> => fc.string({ ...constraints, unit: character });

function indexOf(value: unknown): number {
  if (typeof value !== "string") throw new TypeError("not a character");
  const code = value.codePointAt(0) ?? NaN;
  if (String.fromCodePoint(code) !== value || (code >= surrogates.first && code < surrogates.first + surrogates.count))
    throw new TypeError("not a character");
  return code < surrogates.first ? code : code - surrogates.count;
}
