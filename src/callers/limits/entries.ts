/** Entries that one sweep looks at, which takes about 50 µs. */
const sweepMax = 1_000;

/** A map that creates its values on first use and holds at most `max` of them. */
export type Entries<K, V> = {
  /** Returns the value, if there is one. */
  get(key: K): V | undefined;
  /** Returns the value, creating it if there is none. A full map first removes its oldest value. */
  at(key: K): V;
  delete(key: K): boolean;
  /** Removes the idle values among the next thousand entries; repeated calls reach all of them. */
  sweep(now: number): void;
  size(): number;
  [Symbol.iterator](): Iterator<[K, V]>;
};

/** @param isIdle whether a value can be removed because a new one would count the same; `now` in ms */
export function openEntries<K, V>(max: number, create: () => V, isIdle: (value: V, now: number) => boolean): Entries<K, V> {
  const values = new Map<K, V>();
  let unswept = values.entries();
  // Kept between calls: a new iterator would first have to skip the gaps that removed entries leave.
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
    at(key) {
      const found = values.get(key);
      if (found !== undefined) return found;
      if (values.size >= max) evictOldest();
      const created = create();
      values.set(key, created);
      return created;
    },
    delete: (key) => values.delete(key),
    sweep(now) {
      for (let looked = 0; looked < sweepMax; looked++) {
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
