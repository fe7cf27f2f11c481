/** Milliseconds since the Unix epoch. Passed in wherever time matters, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Whole milliseconds of a clock that only goes forward, counted from an arbitrary start. */
export type Timer = () => number;

export const systemTimer: Timer = () => Math.floor(performance.now());

/** Two bounds of the current time, in milliseconds since the Unix epoch. */
export type NowRange = { earliest: number; latest: number };

/**
 * Reads the time from two clocks: the one that people and time servers set, and one that counts from the start of the process.
 * Date records by `latest` and expire them by `earliest`: if the first clock jumps, either way, they then stay longer and never
 * shorter.
 */
export function openNowRange(clock: Clock, timer: Timer): () => NowRange {
  const start = clock() - timer();
  return () => {
    const [set, passed] = [clock(), start + timer()];
    return { earliest: Math.min(set, passed), latest: Math.max(set, passed) };
  };
}
