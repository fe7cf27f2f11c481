import type { Key } from "../calls/members.ts";

/** A key with the key that it replaced and the key that replaced it in a rotation, if they still exist. */
export type LinkedKey = Key & { original: Key | undefined; replacement: Key | undefined };

/** Returns the keys by id, but each replaced key directly after the key that replaced it. */
export function linkedKeys(keys: readonly Key[]): LinkedKey[] {
  const byId = new Map(keys.map((key) => [key.id, key]));
  // if a key was replaced more than once, the newest replacement counts
  const replacements = new Map(keys.filter(({ replaces }) => replaces !== null).map((key) => [key.replaces, key]));
  const linked = (key: Key): LinkedKey => ({
    ...key,
    original: key.replaces === null ? undefined : byId.get(key.replaces),
    replacement: replacements.get(key.id),
  });
  return keys.filter(({ id }) => !replacements.has(id)).flatMap((key) => chain(linked(key)));

  function chain(key: LinkedKey): LinkedKey[] {
    const { original } = key;
    return original && replacements.get(original.id)?.id === key.id ? [key, ...chain(linked(original))] : [key];
  }
}
