import type { Key } from "../calls/members.ts";

/** A key with the keys that it replaced and that replaced it in rotations, if they are still there. */
export type LinkedKey = Key & { original: Key | undefined; replacement: Key | undefined };

/** The keys by id, apart from those that a newer one replaced: they follow it. */
export function linkedKeys(keys: readonly Key[]): LinkedKey[] {
  const byId = new Map(keys.map((key) => [key.id, key]));
  // of several replacements the newest counts
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
