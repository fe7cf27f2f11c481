/** How soon a person's Re-verify may ask an authority again that has just failed for a name. */
const askedAgainMs = 60_000;
const keptMax = 10_000;

/** Names for which the authority is left alone for a while, whoever asks. */
export type Holds = {
  /** Notes that the authority failed at `now`, and the time before which it asked not to be tried again, if it named one. In ms. */
  note(hostname: string, now: number, retryAt: number | null): void;
  /** Until when (ms) a name is left alone; null where it may be asked for. */
  until(hostname: string, now: number): number | null;
};

/**
 * Keeps Re-verify from what the schedule of retries does not do: to ask the authority before its Retry-After (RFC 8555, section 6.6), and to use
 * up in a minute, for one name, the orders that all accounts share. Of this process alone: after a restart each name may be asked for once.
 */
export function createHolds(): Holds {
  const held = new Map<string, number>();
  return {
    note(hostname, now, retryAt) {
      held.delete(hostname);
      held.set(hostname, Math.max(now + askedAgainMs, retryAt ?? 0));
      for (const oldest of held.keys()) {
        if (held.size <= keptMax) break;
        held.delete(oldest);
      }
    },
    until(hostname, now) {
      const until = held.get(hostname) ?? 0;
      if (until > now) return until;
      held.delete(hostname);
      return null;
    },
  };
}
