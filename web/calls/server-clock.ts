let offsetMs = 0;

/** The service's time in ms, from its responses, so that countdowns do not depend on the reader's clock. */
export function serverNow(): number {
  return Date.now() + offsetMs;
}

/**
 * Adjusts the offset by a response that was requested and received at these times (ms) of the reader's clock. Its Date (RFC 9110, section
 * 6.6.1) has whole seconds, so the offset moves only as far as the response proves: it stays 0 if the reader's clock is correct.
 */
export function noteServerTime(date: string | null, askedAt: number, receivedAt: number): void {
  const second = Date.parse(date ?? "");
  if (Number.isNaN(second)) return;
  offsetMs = Math.min(Math.max(offsetMs, second - receivedAt), second + 1_000 - askedAt);
}
