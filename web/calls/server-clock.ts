let offsetMs = 0;

/** The service's time in ms, as far as its answers told: what it counts down to does not depend on the clock of the reader. */
export function serverNow(): number {
  return Date.now() + offsetMs;
}

/**
 * Learns from an answer that was asked for and came at these times (ms) of the reader's clock. Its Date (RFC 9110, section 6.6.1) has
 * whole seconds: the offset is moved only as far as the answer proves, so that a clock which is right stays as it is.
 */
export function noteServerTime(date: string | null, askedAt: number, cameAt: number): void {
  const second = Date.parse(date ?? "");
  if (Number.isNaN(second)) return;
  offsetMs = Math.min(Math.max(offsetMs, second - cameAt), second + 1_000 - askedAt);
}
