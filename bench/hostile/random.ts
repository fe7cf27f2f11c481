/** A generator that gives the same numbers for the same seed, so that a search can be repeated. */
export type Random = {
  /** An integer from 0 to `below` - 1. */
  below(below: number): number;
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
};

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return { below, chance: (share) => next() < share, pick: (choices) => choices[below(choices.length)]! };
}
