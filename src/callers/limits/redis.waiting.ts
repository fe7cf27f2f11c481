/** Questions that may wait for Redis; beyond them each is decided without it. */
const waitingMax = 1_000;

/** `decide` answers the asker without Redis; the question stays until Redis has answered, since only then is it known to live. */
type Question = { since: number; decided: boolean; decide(): void };

export type Waiting = {
  /**
   * Asks, and gives the answer, or undefined if Redis fails or is late. Never rejects.
   *
   * @param onFailed hears of what Redis failed with
   */
  ask<T>(send: () => Promise<T>, onFailed: (error: unknown) => void): Promise<T | undefined>;
  /** Answers everybody without Redis, of which nothing is waited for any more. */
  decideAll(): void;
};

/**
 * Keeps the questions that wait for an answer of Redis, each for `answerMs` at most. Times are those of a clock that only
 * goes forward.
 *
 * @param onSilent called when Redis has answered nothing at all for `silentMs` while it was asked
 */
export function openWaiting({
  answerMs,
  silentMs,
  onSilent,
}: {
  answerMs: number;
  silentMs: number;
  onSilent: (error: Error) => void;
}): Waiting {
  const waiting = new Set<Question>();
  let heardAt = 0;
  let watching = false;

  function ask<T>(send: () => Promise<T>, onFailed: (error: unknown) => void): Promise<T | undefined> {
    if (waiting.size >= waitingMax) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const question: Question = {
        since: performance.now(),
        decided: false,
        decide() {
          question.decided = true;
          resolve(undefined);
        },
      };
      const settle = (answer: T): void => {
        heardAt = performance.now();
        waiting.delete(question);
        resolve(answer);
      };
      waiting.add(question);
      if (!watching) watch(answerMs);
      send().then(settle, onFailed);
    });
  }

  /** One timer for all that wait. An answer may lie unread because this process was busy: what has arrived by now is read before `setImmediate` runs. */
  function watch(afterMs: number): void {
    watching = true;
    setTimeout(() => setImmediate(look), Math.max(1, Math.ceil(afterMs))).unref();
  }

  function look(): void {
    watching = false;
    const now = performance.now();
    let nextMs = Infinity;
    for (const question of waiting) {
      if (question.decided) continue;
      nextMs = question.since + answerMs - now;
      if (nextMs > 0) break;
      question.decide();
    }
    const [oldest] = waiting;
    if (oldest === undefined) return;
    const leftMs = Math.max(oldest.since, heardAt) + silentMs - now;
    if (leftMs <= 0) onSilent(new Error(`no answer within ${silentMs} ms`));
    else watch(Math.min(leftMs, nextMs));
  }

  function decideAll(): void {
    for (const question of waiting) question.decide();
    waiting.clear();
  }

  return { ask, decideAll };
}
