import fc, { type StringSharedConstraints } from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };
const lastCharacter = 0x10ffff;

const character = fc
  .nat({ max: lastCharacter - surrogates.count })
  .map((index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count), indexOf);

/** The texts of `fc.string({ unit: "binary" })`: any characters. fast-check makes a table of them all for it, which takes 1.4 s in each process. */
export const anyText = (constraints: StringSharedConstraints = {}): fc.Arbitrary<string> => fc.string({ ...constraints, unit: character });

const inPaths = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@".split("");
const escaped = anyText({ minLength: 1, maxLength: 1 }).map((text) => {
  const encoded = encodeURIComponent(text);
  return encoded === text ? `%${text.charCodeAt(0).toString(16)}` : encoded;
});
const inSegment = fc.oneof({ weight: 10, arbitrary: fc.constantFrom(...inPaths) }, { weight: 1, arbitrary: escaped });

/** Paths like those of `fc.webPath()`, which makes the same table: segments of characters that a path may have, some of them escaped. */
export const anyPath: fc.Arbitrary<string> = fc
  .array(fc.string({ unit: inSegment }))
  .map((segments) => segments.map((segment) => `/${segment}`).join(""));

function indexOf(value: unknown): number {
  if (typeof value !== "string") throw new TypeError("not a character");
  const code = value.codePointAt(0) ?? NaN;
  if (String.fromCodePoint(code) !== value || (code >= surrogates.first && code < surrogates.first + surrogates.count))
    throw new TypeError("not a character");
  return code < surrogates.first ? code : code - surrogates.count;
}
