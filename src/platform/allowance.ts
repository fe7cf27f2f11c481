import { createCache } from "./cache.ts";

/** How many uses each name has in a window, which begins with its first use. Counted in this process. */
export type Allowance = {
  /** Returns the time (ms) until the name has a use left: 0 if it has one now. */
  waitMs: (name: string, now: number) => number;
  /** Uses one. Returns whether there was one. */
  take: (name: string, now: number) => boolean;
  /** Gives the name all its uses back. */
  forget: (name: string) => void;
};

/** @param namesMax the most names that are counted at once: beyond it, the one that was used least recently is forgotten */
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
