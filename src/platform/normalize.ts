/** Returns the key by which a name is sorted, compared and found: NFKC, lower case (specification 1.6). */
export function normalize(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

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
