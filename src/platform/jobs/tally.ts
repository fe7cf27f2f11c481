/** Counts by key. A key with a count of 0 takes no memory. */
export type Tally<K> = {
  of(key: K): number;
  add(key: K, count?: number): void;
  /** Subtracts 1, or `count`, from a key's count, which must be at least that. */
  take(key: K, count?: number): void;
  counts: ReadonlyMap<K, number>;
};

/** @param from the counts to start with, which are copied */
export function createTally<K>(from: ReadonlyMap<K, number> = new Map()): Tally<K> {
  const counts = new Map(from);
  const of = (key: K): number => counts.get(key) ?? 0;
  return {
    of,
    add: (key, count = 1) => void counts.set(key, of(key) + count),
    take(key, count = 1) {
      const left = of(key) - count;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    },
    counts,
  };
}
