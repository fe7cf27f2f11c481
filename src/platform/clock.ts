export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Milliseconds since the Unix epoch. Passed in wherever time matters, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Whole milliseconds of a monotonic clock, counted from an arbitrary start. */
export type Timer = () => number;

export const systemTimer: Timer = () => Math.floor(performance.now());

/** Two bounds of the current time, in milliseconds since the Unix epoch. */
export type NowRange = { earliest: number; latest: number };

/**
 * Reads the time from two clocks: the system's clock, which people and time servers set, and a monotonic one. Date records by
 * `latest` and expire them by `earliest`: if the system's clock jumps, in either direction, they stay longer and never shorter.
 */
export function openNowRange(clock: Clock, timer: Timer): () => NowRange {
  const start = clock() - timer();
  return () => {
    const [set, passed] = [clock(), start + timer()];
    return { earliest: Math.min(set, passed), latest: Math.max(set, passed) };
  };
}
