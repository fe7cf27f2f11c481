import type { Database } from "../../platform/db/database.ts";
import { recordOnce, type LimitEvent } from "./limit-events.store.ts";
import type { Decision } from "./windows.ts";

/** How many recorded limits and bans this process remembers, so that it records each once. */
const knownMax = 10_000;
/** How many may wait to be recorded. Beyond that, a refusal is not recorded. */
const waitingMax = 1_000;
const atOnceMax = 50;
const minuteMs = 60_000;

/** Records reached limits and bans as events. It does so after the answer, a few at a time, so that no refusal waits for the database. */
export type LimitRecorder = {
  /** Takes the refusal of a request with a secret key. */
  note: (accountId: number, keyId: number, decision: Decision) => void;
  close: () => Promise<void>;
};

/** @param onError gets errors of the database; the next refusal tries again */
export function openLimitRecorder(db: Pick<Database, "write">, onError: (error: unknown) => void): LimitRecorder {
  const known = new Set<string>();
  let waiting: { name: string; event: LimitEvent }[] = [];
  let running: Promise<void> | undefined;

  function add(name: string, event: LimitEvent): void {
    if (known.has(name) || waiting.length >= waitingMax) return;
    if (known.size >= knownMax) known.clear();
    known.add(name);
    waiting.push({ name, event });
    running ??= recordAll().finally(() => {
      running = undefined;
    });
  }

  async function recordAll(): Promise<void> {
    while (waiting.length > 0) {
      const some = waiting.slice(0, atOnceMax);
      waiting = waiting.slice(atOnceMax);
      try {
        await db.write(async (tx) => {
          for (const { event } of some) await recordOnce(tx, event);
        });
      } catch (error) {
        for (const { name } of some) known.delete(name);
        onError(error);
      }
    }
  }

  return {
    note(accountId, keyId, { verdict, at, retryAfterSeconds, minuteRemaining, dayRemaining, perMinute, perDay }) {
      if (verdict === "key_banned") {
        const bannedUntil = at + retryAfterSeconds * 1_000;
        add(`ban ${keyId} ${Math.round(bannedUntil / minuteMs)}`, { kind: "ban", accountId, keyId, bannedUntil, at });
      } else if (verdict === "rate_limit_exceeded") {
        const hour = Math.floor(at / (60 * minuteMs));
        const limits = [
          ["minute", minuteRemaining, perMinute],
          ["day", dayRemaining, perDay],
        ] as const;
        for (const [window, remaining, limit] of limits)
          if (remaining === 0) add(`${window} ${accountId} ${hour}`, { kind: "limit", accountId, window, limit, at });
      }
    },
    close: async () => running,
  };
}
