/** The clock and randomness of a client, in ms; tests replace them. */
export type Timing = {
  now: () => number;
  wait: (ms: number) => Promise<void>;
  /** Returns a number from 0 to 1 for the jitter of delays. */
  random: () => number;
  /** Called with the reason and the length of each delay. */
  onWait: (reason: string, ms: number) => void;
};

export const realTiming: Timing = {
  // Milliseconds since the Unix epoch, monotonic: does not jump when the clock is set.
  now: () => performance.timeOrigin + performance.now(),
  wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  random: () => Math.random(),
  onWait: () => {},
};
