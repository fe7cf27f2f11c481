/** Milliseconds since the Unix epoch. Passed in wherever time matters, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
