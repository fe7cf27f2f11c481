type Question = { since: number; drop(): void };

export type Waiting = {
  /**
   * Sends a question and resolves to the answer, or to undefined if Redis fails or is lost. Never rejects.
   *
   * @param onFailed called with the error if Redis fails
   */
  ask<T>(send: () => Promise<T>, onFailed: (error: unknown) => void): Promise<T | undefined>;
  /** Resolves every waiting question to undefined. */
  dropAll(): void;
};

/**
 * The questions that wait for an answer of Redis. Their number is bounded by the caller (`redis.batch.ts`). Times are
 * those of a clock that only goes forward.
 *
 * @param onLate called when a question has waited for `answerMs`
 */
export function openWaiting({ answerMs, onLate }: { answerMs: number; onLate: (error: Error) => void }): Waiting {
  const waiting = new Set<Question>();
  let watching = false;

  function ask<T>(send: () => Promise<T>, onFailed: (error: unknown) => void): Promise<T | undefined> {
    return new Promise((resolve) => {
      const question: Question = { since: performance.now(), drop: () => resolve(undefined) };
      waiting.add(question);
      if (!watching) watch(answerMs);
      const settle = (answer: T): void => {
        waiting.delete(question);
        resolve(answer);
      };
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
    const [oldest] = waiting;
    if (oldest === undefined) return;
    const leftMs = oldest.since + answerMs - performance.now();
    if (leftMs > 0) watch(leftMs);
    else onLate(new Error(`no answer within ${answerMs} ms`));
  }

  function dropAll(): void {
    const dropped = [...waiting];
    waiting.clear();
    for (const question of dropped) question.drop();
  }

  return { ask, dropAll };
}
