/** How many entries one sweep checks. It takes about 50 µs. */
const sweepMax = 1_000;

/** A map that creates its values on first use and holds at most `max` of them. */
export type Entries<K, V> = {
  /** Returns the value, if there is one. */
  get(key: K): V | undefined;
  /** Returns the value, or creates it. If the map is full, first removes the value that was created first. */
  getOrCreate(key: K): V;
  delete(key: K): boolean;
  /** Checks the next thousand entries and removes the idle ones. Repeated calls reach all entries. */
  sweep(now: number): void;
  size(): number;
  [Symbol.iterator](): Iterator<[K, V]>;
};

/** @param isIdle whether a value can be removed, because a new one would have the same effect; `now` in ms */
export function openEntries<K, V>(max: number, create: () => V, isIdle: (value: V, now: number) => boolean): Entries<K, V> {
  const values = new Map<K, V>();
  // Both iterators are kept between calls: a new one would first skip the gaps that all removed entries left.
  let unswept = values.entries();
  let oldest = values.keys();

  function evictOldest(): void {
    let next = oldest.next();
    if (next.done === true) {
      oldest = values.keys();
      next = oldest.next();
    }
    values.delete(next.value!);
  }

  return {
    get: (key) => values.get(key),
    getOrCreate(key) {
      const found = values.get(key);
      if (found !== undefined) return found;
      if (values.size >= max) evictOldest();
      const created = create();
      values.set(key, created);
      return created;
    },
    delete: (key) => values.delete(key),
    sweep(now) {
      for (let checked = 0; checked < sweepMax; checked++) {
        const next = unswept.next();
        if (next.done === true) {
          unswept = values.entries();
          return;
        }
        const [key, value] = next.value;
        if (isIdle(value, now)) values.delete(key);
      }
    },
    size: () => values.size,
    [Symbol.iterator]: () => values.entries(),
  };
}
