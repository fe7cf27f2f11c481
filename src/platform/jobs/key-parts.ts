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

/** What counts half: usage of this long ago (ms). */
const halfLifeMs = 10_000;
/** The most keys that are remembered. */
const keysMax = 10_000;
/** A key that has used less than this (ms) is forgotten when there are too many. */
const negligibleMs = 1;
/** The scale of new usage at which all figures are scaled down, long before a double loses digits. */
const scaleMax = 2 ** 40;

/** How much each key has used lately (ms). */
export type Usage<K> = {
  /** A figure that grows with what the key has used lately, and is comparable between keys. 0 for a key that has used nothing. */
  scaled(key: K): number;
  /** The longest of its last uses (ms), halved with each use since. */
  longest(key: K): number;
  add(key: K, ms: number): void;
  now: () => number;
};

/**
 * Remembers what keys have used lately. Instead of reducing old figures as time passes, it weighs new usage ever more, so that a comparison
 * of two keys needs no clock.
 */
export function openUsage<K>(now: () => number): Usage<K> {
  const used = new Map<K, { figure: number; longestMs: number }>();
  let since = now();

  /** Scales the figures to the present, and forgets those that are below `least` (ms). */
  function rescale(at: number, least: number): void {
    const scale = 2 ** ((at - since) / halfLifeMs);
    since = at;
    for (const [key, use] of used) {
      use.figure /= scale;
      if (use.figure < least) used.delete(key);
    }
  }

  function forgetOldest(): void {
    rescale(now(), negligibleMs);
    for (const key of used.keys()) {
      if (used.size <= keysMax / 2) return;
      used.delete(key);
    }
  }

  return {
    now,
    scaled: (key) => used.get(key)?.figure ?? 0,
    longest: (key) => used.get(key)?.longestMs ?? 0,
    add(key, ms) {
      const at = now();
      if (2 ** ((at - since) / halfLifeMs) > scaleMax) rescale(at, negligibleMs);
      const use = used.get(key) ?? { figure: 0, longestMs: 0 };
      use.figure += ms * 2 ** ((at - since) / halfLifeMs);
      use.longestMs = Math.max(ms, use.longestMs / 2);
      used.delete(key); // the keys are in the order of their last use
      used.set(key, use);
      if (used.size > keysMax) forgetOldest();
    },
  };
}
