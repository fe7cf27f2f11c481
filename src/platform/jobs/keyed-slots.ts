/** How much work of each key may run and wait at once, and for how long it may wait (ms). */
export type KeyedSlotsLimits = { runningEach: number; waitingEach: number; waitMs: number };

/** Places for work, with a number of its own for each key. */
export type KeyedSlots<K> = {
  /** Takes a place, now or when one of the key becomes free; false if too many already wait, or the wait took too long. */
  enter(key: K): true | Promise<boolean> | false;
  /** Gives a place back, to the work of the key that has waited longest. */
  leave(key: K): void;
  /** Places taken, of all keys. */
  running(): number;
  /** Work that waits for a place, of all keys. */
  waiting(): number;
};

type Waiting = (hasPlace: boolean) => void;
type Places = { running: number; waiting: Set<Waiting> };

/** Opens places for work. A key without work takes no memory, and no key waits for another. */
export function openKeyedSlots<K>({ runningEach, waitingEach, waitMs }: KeyedSlotsLimits): KeyedSlots<K> {
  const byKey = new Map<K, Places>();
  let running = 0;
  let waitingNow = 0;

  function wait({ waiting }: Places): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => {
      waiting.delete(settle);
      settle(false);
    }, waitMs);
    const settle: Waiting = (hasPlace) => {
      clearTimeout(timer);
      waitingNow -= 1;
      resolve(hasPlace);
    };
    waiting.add(settle);
    waitingNow += 1;
    return promise;
  }

  return {
    enter(key) {
      const places = byKey.get(key) ?? { running: 0, waiting: new Set() };
      if (places.running >= runningEach) return places.waiting.size < waitingEach && wait(places);
      byKey.set(key, places);
      places.running += 1;
      running += 1;
      return true;
    },
    leave(key) {
      const places = byKey.get(key)!;
      const [next] = places.waiting;
      if (next !== undefined) {
        places.waiting.delete(next);
        return next(true);
      }
      places.running -= 1;
      running -= 1;
      if (places.running === 0) byKey.delete(key);
    },
    running: () => running,
    waiting: () => waitingNow,
  };
}
