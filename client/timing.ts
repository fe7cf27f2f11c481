/** What time and chance are to a client, in milliseconds; tests move them. */
export type Timing = {
  now: () => number;
  wait: (ms: number) => Promise<void>;
  /** From 0 to 1, for the part of a delay that is random. */
  random: () => number;
  /** Told why and how long requests are held back. */
  onWait: (reason: string, ms: number) => void;
};

export const realTiming: Timing = {
  // Milliseconds since the Unix epoch that do not jump when the clock is set.
  now: () => performance.timeOrigin + performance.now(),
  wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  random: () => Math.random(),
  onWait: () => {},
};
