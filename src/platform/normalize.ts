import { foldText } from "./folding.ts";
import { unicodeVersion } from "./unicode.gen.ts";

/** Names the rules that make a stored key of a name; another text has all keys made anew at the next start. */
export const foldingVersion = `${unicodeVersion}/2`;

/** Returns the key by which a name is sorted, compared and found: Unicode's NFKC_Casefold (specification 1.6). */
export function normalize(name: string): string {
  return isAscii.test(name) ? name.toLowerCase() : foldText(name);
}

/** Returns the key of releases before 1.2.0: NFKC, lower case. Emails and what mappings and files of earlier imports hold are still compared by it. */
export function earlierKey(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

const isAscii = /^[\0-\x7f]*$/;

/**
 * Returns the least key that is greater than all keys that begin with `prefix`, in the order of code points, which is that of
 * UTF-8 bytes; undefined if there is none.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
