import { createCache } from "./cache.ts";

/** Limits how often each name is used within a window, which starts with the first use. Each process counts for itself. */
export type Allowance = {
  /** Returns the time (ms) until the name has a use left: 0 if it has one now. */
  waitMs: (name: string, now: number) => number;
  /** Counts a use and returns true, or returns false if none is left. */
  take: (name: string, now: number) => boolean;
  /** Clears the count of a name. */
  forget: (name: string) => void;
};

/** @param namesMax the most names to count at once. A further name drops the least recently used one */
export function openAllowance(uses: number, windowMs: number, namesMax: number): Allowance {
  const windows = createCache<string, { since: number; used: number }>(namesMax);
  // A window also ends if the clock was set back to before its start, so that no window lasts longer than its length.
  const current = (name: string, now: number) => {
    const known = windows.get(name);
    return known !== undefined && now >= known.since && now < known.since + windowMs ? known : { since: now, used: 0 };
  };
  return {
    waitMs(name, now) {
      const { since, used } = current(name, now);
      return used < uses ? 0 : since + windowMs - now;
    },
    take(name, now) {
      const { since, used } = current(name, now);
      if (used >= uses) return false;
      windows.set(name, { since, used: used + 1 });
      return true;
    },
    forget: (name) => void windows.delete(name),
  };
}
