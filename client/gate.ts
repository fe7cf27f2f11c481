import { PetStoreError } from "./errors.ts";
import { limitLeft, limitWaitMsMax } from "./limits.ts";
import type { Timing } from "./timing.ts";

/**
 * The queue of all requests with one key, first in, first out. While the gate is closed, it admits none. Call `leave` with the response's headers, or
 * without them if there was no response.
 */
export type Gate = {
  /**
   * Resolves when a request may be sent.
   *
   * @throws PetStoreError `rate_limit_exceeded` if the wait would be too long, `unavailable` if too many requests wait
   * @throws the signal's reason
   */
  enter(signal: AbortSignal): Promise<void>;
  leave(headers?: Headers): void;
  /** Closes the gate for `ms`. */
  close(reason: string, ms: number): void;
};

const inFlightMax = 16;
/**
 * At most this part of the remaining limit is in flight. Independent clients of the same account then exceed the limit by about one
 * request each, which is far from a ban.
 */
const shareOfLimit = 1 / 20;
const waitingMax = 1_000;

type Waiting = { admit: () => void; refuse: (error: unknown) => void };

/** Creates an open gate; it learns the remaining limit from the first response. */
export function openGate({ now, wait, onWait }: Timing): Gate {
  const waiting = new Set<Waiting>();
  let inFlight = 0;
  /** Undefined before the first response and after a limit was reached: the gate then admits one request, and the others wait for its response. */
  let requestsLeft: number | undefined;
  let closed = { until: 0, reason: "" };
  let reported = closed;
  let opening = false;

  async function enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (waiting.size >= waitingMax) throw new PetStoreError("unavailable", `More than ${waitingMax} requests are waiting already.`);
    const admitted = waitIn(waiting, signal);
    admitNext();
    await admitted;
  }

  function admitNext(): void {
    const closedMs = closed.until - now();
    if (closedMs > limitWaitMsMax) return refuseAll(waiting, closed.reason, closedMs);
    if (closedMs > 0) return void openIn(closedMs);
    const room = Math.max(1, Math.min(inFlightMax, Math.floor((requestsLeft ?? 0) * shareOfLimit)));
    for (const place of waiting) {
      if (inFlight >= room) return;
      waiting.delete(place);
      inFlight += 1;
      place.admit();
    }
  }

  /** Admits requests in `ms`. Waits again if the timer fires early, or if the gate has been closed for longer meanwhile. */
  async function openIn(ms: number): Promise<void> {
    if (opening || waiting.size === 0) return;
    opening = true;
    if (reported !== closed) onWait(closed.reason, ms);
    reported = closed;
    await wait(ms);
    opening = false;
    admitNext();
  }

  function leave(headers?: Headers): void {
    inFlight -= 1;
    const left = headers && limitLeft(headers);
    if (left !== undefined) requestsLeft = left.requests;
    if (left?.requests === 0) close("the plan's limit is reached", left.resetMs);
    else admitNext();
  }

  function close(reason: string, ms: number): void {
    const until = now() + ms;
    requestsLeft = undefined;
    if (until > closed.until) closed = { until, reason };
    admitNext();
  }

  return { enter, leave, close };
}

/** Waits in the queue until admitted. @throws the signal's reason, or the error of a refusal */
async function waitIn(waiting: Set<Waiting>, signal: AbortSignal): Promise<void> {
  let abort = () => {};
  const admitted = new Promise<void>((resolve, reject) => {
    const place: Waiting = { admit: resolve, refuse: reject };
    abort = () => {
      if (waiting.delete(place)) reject(signal.reason as Error);
    };
    waiting.add(place);
  });
  signal.addEventListener("abort", abort);
  await admitted.finally(() => signal.removeEventListener("abort", abort));
}

function refuseAll(waiting: Set<Waiting>, reason: string, ms: number): void {
  const error = new PetStoreError("rate_limit_exceeded", `Not sent: ${reason}, for ${Math.ceil(ms / 60_000)} more minutes.`);
  for (const place of waiting) place.refuse(error);
  waiting.clear();
}
