/** How many values one sweep checks. It takes about 50 µs. */
const sweepMax = 1_000;

/** Values by key, up to a total weight. Beyond it, the values that were used longest ago are dropped. */
export type Cache<K, V> = {
  /** Returns the value, and counts as a use of it. */
  get(key: K): V | undefined;
  /** Returns the value without counting it as a use, in half the time: if all values are read so, the one that was set first is dropped first. */
  peek(key: K): V | undefined;
  /** Adds or replaces a value, and returns it. Does not keep a value that is heavier than the whole cache. Default weight: 1. */
  set(key: K, value: V, weight?: number): V;
  delete(key: K): boolean;
  /** Checks the next thousand values and drops the idle ones. Repeated calls reach all values. */
  sweep(isIdle: (value: V) => boolean): void;
  size(): number;
  /** Iterates in the order in which the values were set. The cache may change meanwhile. */
  [Symbol.iterator](): IterableIterator<[K, V]>;
};

/** The entries in the order of their last use, linked. */
type Uses<K, V> = { oldest: Entry<K, V> | undefined; newest: Entry<K, V> | undefined };
type Entry<K, V> = { key: K; value: V; weight: number; older: Entry<K, V> | undefined; newer: Entry<K, V> | undefined };

/**
 * Creates a cache. The order of the last uses is not that of the Map: each use would leave a gap in it, and an iterator that is kept to skip the
 * gaps would keep every table that the Map has outgrown.
 */
export function createCache<K, V>(weightMax: number): Cache<K, V> {
  const entries = new Map<K, Entry<K, V>>();
  const uses: Uses<K, V> = { oldest: undefined, newest: undefined };
  let total = 0;
  let unswept: Iterator<Entry<K, V>> | undefined;

  function remove(entry: Entry<K, V> | undefined): boolean {
    if (!entry) return false;
    unlink(uses, entry);
    total -= entry.weight;
    return entries.delete(entry.key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry !== uses.newest) {
        unlink(uses, entry);
        append(uses, entry);
      }
      return entry.value;
    },
    peek: (key) => entries.get(key)?.value,
    set(key, value, weight = 1) {
      remove(entries.get(key));
      if (weight > weightMax) return value;
      const entry = { key, value, weight, older: undefined, newer: undefined };
      append(uses, entry);
      entries.set(key, entry);
      total += weight;
      while (total > weightMax) remove(uses.oldest);
      return value;
    },
    delete: (key) => remove(entries.get(key)),
    sweep(isIdle) {
      // Kept until the next sweep: a new iterator would first skip the gaps that all removed entries left.
      unswept ??= entries.values();
      for (let checked = 0; checked < sweepMax; checked++) {
        const next = unswept.next();
        if (next.done === true) return void (unswept = undefined);
        if (isIdle(next.value.value)) remove(next.value);
      }
    },
    size: () => entries.size,
    *[Symbol.iterator]() {
      for (const { key, value } of entries.values()) yield [key, value];
    },
  };
}

function append<K, V>(uses: Uses<K, V>, entry: Entry<K, V>): void {
  entry.older = uses.newest;
  entry.newer = undefined;
  if (uses.newest) uses.newest.newer = entry;
  else uses.oldest = entry;
  uses.newest = entry;
}

function unlink<K, V>(uses: Uses<K, V>, { older, newer }: Entry<K, V>): void {
  if (older) older.newer = newer;
  else uses.oldest = newer;
  if (newer) newer.older = older;
  else uses.newest = older;
}
