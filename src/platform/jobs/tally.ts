/** How many there are of each; what there is none of takes no memory. */
export type Tally<K> = {
  of(key: K): number;
  add(key: K): void;
  /** Takes one away of what there is one of at least. */
  take(key: K): void;
  counts: ReadonlyMap<K, number>;
};

/** @param from what is counted already; it is not changed */
export function createTally<K>(from: ReadonlyMap<K, number> = new Map()): Tally<K> {
  const counts = new Map(from);
  const of = (key: K): number => counts.get(key) ?? 0;
  return {
    of,
    add: (key) => void counts.set(key, of(key) + 1),
    take(key) {
      const left = of(key) - 1;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    },
    counts,
  };
}
