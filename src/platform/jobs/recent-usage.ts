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
