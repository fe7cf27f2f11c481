import { createTally } from "../../platform/jobs/tally.ts";
import { overloaded } from "../../platform/problem.ts";
import type { Feed } from "./feed.ts";

/** The most requests of one account that wait for events on this node. */
const waitsMax = 100;
/** The most streams of one account on all nodes together. */
const streamsMax = 20;

/** A reader of one log that waits for new events. */
export type Listener = {
  /** Resolves once there are new events since the last call, after `ms`, or when the service stops. */
  next(ms: number): Promise<void>;
  /** Ends the wait. */
  wake(): void;
  close(): void;
};

export type Listeners = {
  /** @throws Problem `unavailable` if the account has too many of this kind */
  listen(kind: "wait" | "stream", accountId: number): Listener;
  /** Whether the service is stopping, so that readers must end. */
  isClosed(): boolean;
  close(): void;
};

/** Lets requests and streams wait for events of their account. Waiting holds no database connection. */
export function openListeners(feed: Feed, liveNodes: () => number): Listeners {
  const byAccount = new Map<number, Set<() => void>>();
  const counts = { wait: createTally<number>(), stream: createTally<number>() };
  let isClosed = false;
  const wakeAll = (): void => {
    for (const wakes of byAccount.values()) for (const wake of wakes) wake();
  };
  const end = feed.onAppended((accounts) => {
    if (accounts === "any") wakeAll();
    else for (const id of accounts) for (const wake of byAccount.get(id) ?? []) wake();
  });

  return {
    isClosed: () => isClosed,
    listen(kind, accountId) {
      const max = kind === "wait" ? waitsMax : Math.max(1, Math.floor(streamsMax / liveNodes()));
      if (counts[kind].of(accountId) >= max) throw tooMany(kind);
      counts[kind].add(accountId);
      const signal = openSignal(() => isClosed);
      const wakes = byAccount.get(accountId) ?? new Set();
      byAccount.set(accountId, wakes.add(signal.wake));
      return {
        ...signal,
        close() {
          if (!wakes.delete(signal.wake)) return;
          counts[kind].take(accountId);
          if (wakes.size === 0 && byAccount.get(accountId) === wakes) byAccount.delete(accountId);
          signal.wake();
        },
      };
    },
    close() {
      isClosed = true;
      end();
      wakeAll();
    },
  };
}

function openSignal(isClosed: () => boolean): Pick<Listener, "next" | "wake"> {
  let isSet = false;
  let waiting: (() => void) | undefined;
  return {
    wake() {
      isSet = true;
      waiting?.();
    },
    async next(ms) {
      if (!isSet && !isClosed() && ms > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting = resolve;
        const timer = setTimeout(resolve, ms).unref();
        await promise;
        clearTimeout(timer);
        waiting = undefined;
      }
      isSet = false;
    },
  };
}

function tooMany(kind: "wait" | "stream") {
  const what = kind === "wait" ? "requests that wait for events" : "streams of events";
  return overloaded(`This account has too many ${what}. Close one, or try again later.`, 5);
}
