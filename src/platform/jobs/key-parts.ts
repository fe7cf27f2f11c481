import { openUsage, type Usage } from "./recent-usage.ts";
import { createTally, type Tally } from "./tally.ts";

/** What is counted of the parts of one kind, such as the sites: places held, and work that waits. */
type Kind = { held: Tally<string>; waiting: Tally<string> };

/**
 * Counts for keys of several parts, such as a site and an address. A part counts for all keys that have it: neither a site that many addresses
 * visit nor an address that visits many sites gets more than another.
 */
export type KeyParts<K> = { of: PartsOf<K>; kinds: readonly Kind[]; usage: Usage<string> };

/** Returns the parts of a key, one of each kind. Parts of different kinds have different names. */
export type PartsOf<K> = (key: K) => readonly string[];

/** The parts of a key `site address`. The address keeps the space before it, so that no site has its name. */
export const siteAndAddress = {
  count: 2,
  of(key: string | number): [site: string, address: string] {
    const text = String(key);
    const end = text.indexOf(" ");
    return [text.slice(0, end), text.slice(end)];
  },
};

export function openParts<K>(count: number, of: PartsOf<K>, now: () => number): KeyParts<K> {
  const kinds = Array.from({ length: count }, () => ({ held: createTally<string>(), waiting: createTally<string>() }));
  return { of, kinds, usage: openUsage(now) };
}

/** Counts places that a key takes (1) or gives back (-1), or work of it that waits or no longer does. */
export function countPart<K>({ of, kinds }: KeyParts<K>, key: K, what: "held" | "waiting", by: 1 | -1): void {
  const names = of(key);
  for (const [index, kind] of kinds.entries()) {
    if (by === 1) kind[what].add(names[index]!);
    else kind[what].take(names[index]!);
  }
}

export function addPartUsage<K>({ of, usage }: KeyParts<K>, key: K, usedMs: number): void {
  for (const name of of(key)) usage.add(name, usedMs);
}

/** How much the parts of a key have used lately, the most first. */
export function partsUsed<K>({ of, usage }: KeyParts<K>, key: K): number[] {
  return of(key)
    .map((name) => usage.scaled(name))
    .toSorted((a, b) => b - a);
}

/** Whether each part of the key may take another place: `mayTake` gets the places that it holds, and the tally of the others of its kind. */
export function everyPart<K>({ of, kinds }: KeyParts<K>, key: K, mayTake: (own: number, held: Tally<string>) => boolean): boolean {
  const names = of(key);
  return kinds.every(({ held }, index) => mayTake(held.of(names[index]!), held));
}

/** Returns whether a key has the part with most waiting work, once the newcomer's waits too. Of several, it is one of the newcomer's. */
export function inMostWaiting<K>({ of, kinds }: KeyParts<K>, newcomer: K): (key: K) => boolean {
  const own = of(newcomer);
  let most = { index: 0, name: "", count: 0 };
  for (const [index, { waiting }] of kinds.entries()) {
    const name = own[index]!;
    if (waiting.of(name) + 1 > most.count) most = { index, name, count: waiting.of(name) + 1 };
  }
  for (const [index, { waiting }] of kinds.entries()) {
    for (const [name, count] of waiting.counts) if (count > most.count) most = { index, name, count };
  }
  return (key) => of(key)[most.index] === most.name;
}
