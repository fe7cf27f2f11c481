import type { Bounds } from "../../platform/bounds.ts";
import { createTally, type Tally } from "../../platform/jobs/tally.ts";
import { overloaded, type Problem } from "../../platform/problem.ts";
import type { Feed } from "./feed.ts";

/** The most requests that wait for events on this node, of one account and of all. */
const waitsEach = 100;
const waitsMax = 5_000;
/** The most streams of one account on all nodes together, and those of all accounts on this node. */
const streamsEach = 20;
const streamsMax = 2_000;

/** A reader of one log that waits for new events. */
export type Listener = {
  /** Resolves once there are new events since the last call, after `ms`, or when the service stops. */
  next(ms: number): Promise<void>;
  /** Ends the wait. */
  wake(): void;
  close(): void;
};

type Kind = "wait" | "stream";
type OpenCounts = { all: number; byAccount: Tally<number> };

export type Listeners = {
  /** @throws Problem `unavailable` if the account, or all accounts together, have too many of this kind */
  listen(kind: Kind, accountId: number): Listener;
  /** Whether the service is stopping, so that readers must end. */
  isClosed(): boolean;
  close(): void;
};

/** Lets requests and streams wait for events of their account. Waiting holds no database connection. */
export function openListeners(feed: Feed, liveNodes: () => number, bounds: Pick<Bounds, "refused" | "show">): Listeners {
  const byAccount = new Map<number, Set<() => void>>();
  const open: Record<Kind, OpenCounts> = {
    wait: { all: 0, byAccount: createTally<number>() },
    stream: { all: 0, byAccount: createTally<number>() },
  };
  bounds.show("petstore_long_polls_open", "api", () => open.wait.all);
  bounds.show("petstore_event_streams_open", "api", () => open.stream.all);
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
      const own = open[kind];
      if (own.byAccount.of(accountId) >= maxPerAccount(kind, liveNodes())) throw refusal(kind, bounds, "This account has");
      if (own.all >= (kind === "wait" ? waitsMax : streamsMax)) throw refusal(kind, bounds, "There are");
      own.all += 1;
      own.byAccount.add(accountId);
      const signal = openSignal(() => isClosed);
      const wakes = byAccount.get(accountId) ?? new Set();
      byAccount.set(accountId, wakes.add(signal.wake));
      return {
        ...signal,
        close() {
          if (!wakes.delete(signal.wake)) return;
          own.all -= 1;
          own.byAccount.take(accountId);
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

function maxPerAccount(kind: Kind, liveNodes: number): number {
  return kind === "wait" ? waitsEach : Math.max(1, Math.floor(streamsEach / liveNodes));
}

function refusal(kind: Kind, bounds: Pick<Bounds, "refused">, who: "This account has" | "There are"): Problem {
  const what = kind === "wait" ? "requests that wait for events" : "streams of events";
  bounds.refused(kind === "wait" ? "long_polls" : "event_streams");
  return overloaded(`${who} too many ${what}. Close one, or try again later.`, 5);
}
