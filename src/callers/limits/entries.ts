/** Entries looked at in one sweep: what a sweep may cost (about 50 µs). */
const sweepMax = 1_000;

/** Values made on first use, at most `max` of them. */
export type Entries<K, V> = {
  /** The value, if there is one. */
  get(key: K): V | undefined;
  /** The value, made if there is none; one above the maximum puts out the oldest. */
  at(key: K): V;
  delete(key: K): boolean;
  /** Lets go of idle values among the next thousand; repeated calls come round to all of them. */
  sweep(now: number): void;
  size(): number;
  [Symbol.iterator](): Iterator<[K, V]>;
};

/** @param isIdle whether a value may be forgotten, as one that is made anew would be the same; `now` in ms */
export function openEntries<K, V>(max: number, create: () => V, isIdle: (value: V, now: number) => boolean): Entries<K, V> {
  const values = new Map<K, V>();
  let round = values.entries();
  // Kept, because a new iterator would step over the places of all that were put out before.
  let oldest = values.keys();

  function putOutOldest(): void {
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
      if (values.size >= max) putOutOldest();
      const made = create();
      values.set(key, made);
      return made;
    },
    delete: (key) => values.delete(key),
    sweep(now) {
      for (let looked = 0; looked < sweepMax; looked++) {
        const next = round.next();
        if (next.done === true) {
          round = values.entries();
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
