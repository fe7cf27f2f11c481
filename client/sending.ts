import { chunksOf } from "./chunks.ts";
import { PetStoreError } from "./errors.ts";
import type { Gate } from "./gate.ts";
import { limitWaitMsMax, retryAfterMs } from "./limits.ts";
import { codeOf } from "./refusals.ts";
import type { Timing } from "./timing.ts";

export type Fetch = (request: Request) => Promise<Response>;

const timeoutMs = 60_000;
const answerBytesMax = 64 * 1024 * 1024;
const idempotentMethods = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
export const triesMax = 6;
export const limitWaitsMax = 5;
const backoffFirstMs = 250;
const backoffMsMax = 8_000;
const busyWaitMsMax = 60_000;

/**
 * A `fetch` that waits and retries within bounds. After a 429 it sends nothing with this key for as long as `Retry-After` says (at
 * most five times, 15 minutes each). After a network error, a 502, 503 or 504, and while an earlier attempt with the same
 * Idempotency-Key is running, it retries with exponential backoff and jitter, six attempts in all. Every POST has an
 * Idempotency-Key, so that it takes effect once. A PATCH without one is sent again only after a 429, because the service has not
 * processed it then (RFC 9110, 9.2.2: PATCH is not idempotent). @throws PetStoreError `unavailable` if there was no response
 */
export function patientFetch(fetch: Fetch, gate: Gate, timing: Timing): Fetch {
  const { now, wait, random, onWait } = timing;

  return async (request) => {
    const headers = new Headers(request.headers);
    if (request.method === "POST" && !headers.has("idempotency-key")) headers.set("idempotency-key", crypto.randomUUID());
    const triesAllowed = idempotentMethods.has(request.method) || headers.has("idempotency-key") ? triesMax : 1;
    let tries = 0;
    let limitWaits = 0;
    for (;;) {
      await gate.enter(request.signal);
      const answer = await attempt(fetch, request, headers);
      const refused = answer instanceof Response && answer.status === 429;
      // Closes the gate before leaving it; otherwise it would admit another request in between.
      const refusedMs = refused ? (retryAfterMs(answer.headers, now()) ?? backoff(limitWaits + 1, random())) : 0;
      if (refused) gate.close(await reasonOf(answer), refusedMs);
      gate.leave(refused || answer instanceof Error ? undefined : answer.headers);
      if (answer instanceof PetStoreError) throw answer;
      request.signal.throwIfAborted();
      if (refused) {
        limitWaits += 1;
        if (limitWaits > limitWaitsMax || refusedMs > limitWaitMsMax) return answer;
      } else if (answer instanceof Error) {
        tries += 1;
        if (tries >= triesAllowed) throw unreachable(request.url, answer);
        await pause(`${originOf(request.url)} did not answer`, backoff(tries, random()), request.signal);
      } else if (await isWorthRetrying(answer)) {
        tries += 1;
        const askedMs = retryAfterMs(answer.headers, now()) ?? 0;
        if (tries >= triesAllowed || askedMs > busyWaitMsMax) return answer;
        await pause(`${originOf(request.url)} is busy (${answer.status})`, Math.max(askedMs, backoff(tries, random())), request.signal);
      } else return answer;
    }
  };

  /** @throws the signal's reason as soon as the caller aborts */
  async function pause(reason: string, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    onWait(reason, ms);
    let abort = () => {};
    const ended = new Promise<never>((_resolve, reject) => (abort = () => reject(signal.reason as Error)));
    signal.addEventListener("abort", abort);
    await Promise.race([wait(ms), ended]).finally(() => signal.removeEventListener("abort", abort));
  }
}

/** Makes one attempt and reads the whole response. Returns errors; a retry cannot fix one that is a PetStoreError. */
async function attempt(fetch: Fetch, request: Request, headers: Headers): Promise<Response | Error> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetch(new Request(request.clone(), { headers, signal }));
    const bytes = await bytesOf(response);
    return new Response(bytes.size === 0 ? null : bytes, { status: response.status, headers: response.headers });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function bytesOf(response: Response): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  if (response.body === null) return new Blob([]);
  for await (const chunk of chunksOf(response.body)) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new PetStoreError("internal", `The server's answer is over ${answerBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return new Blob(chunks);
}

async function reasonOf(refused: Response): Promise<string> {
  return (await codeOf(refused)) === "key_banned" ? "the key is banned for a while" : "the plan's limit is reached";
}

async function isWorthRetrying(answer: Response): Promise<boolean> {
  return [502, 503, 504].includes(answer.status) || (answer.status === 409 && (await codeOf(answer)) === "idempotency_key_in_use");
}

/** Half of the delay is fixed and half is random, so that many clients do not retry together. */
function backoff(tries: number, random: number): number {
  return Math.min(backoffMsMax, backoffFirstMs * 2 ** (tries - 1)) * (0.5 + random / 2);
}

function originOf(url: string): string {
  return new URL(url).origin;
}

function unreachable(url: string, error: Error): PetStoreError {
  const { code } = (error.cause ?? {}) as { code?: string };
  const why = error.name === "TimeoutError" ? `no answer within ${timeoutMs / 1_000} seconds` : (code ?? error.message);
  return new PetStoreError("unavailable", `The service at ${originOf(url)} cannot be reached (${why}). Is it running?`);
}
