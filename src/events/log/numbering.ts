import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { openNotifications, type Notifications } from "../../platform/db/postgres-notifications.ts";
import { Problem } from "../../platform/problem.ts";
import { repeat } from "../../platform/jobs/repeat.ts";
import type { Appended } from "./feed.ts";
import { recordOlderNodes, numberWaiting, releaseLease } from "./numbering.store.ts";

/** How often (ms) a node looks for events in the outbox and renews, or tries to take, the lease. Well below the lease's 700 ms. */
const pollMs = 200;
const olderPollMs = 1_000;
const recordedChannel = "petstore_events_recorded";
const appendedChannel = "petstore_events_appended";
/** PostgreSQL allows less than 8,000 bytes in a notification. */
const payloadMax = 7_000;

type Options = {
  db: Pick<Database, "write">;
  url: string;
  /** Called after any node has appended events. */
  report: (accounts: Appended) => void;
  onError: (error: unknown) => void;
};

type State = Pick<Options, "db" | "report" | "onError"> & {
  leaseId: string;
  /** Whether this node had the lease at its last attempt. */
  hasLease: boolean;
  isClosed: boolean;
  running: Promise<void> | undefined;
  /** Whether to run again as soon as the current run ends. */
  again: boolean;
};

/** The numbering of events on one node. Call `wake` after this node has committed events. */
export type Numbering = { wake(): void; close(): Promise<void> };

/**
 * On PostgreSQL, gives positions to the events that transactions left in the outbox (decision 0074). One node at a time has the lease
 * for it; the others notify it when they have committed events. A lost notification only causes a delay, because every node looks
 * five times a second.
 */
export function openNumbering({ db, url, report, onError }: Options): Numbering {
  const state: State = { db, report, onError, leaseId: randomUUID(), hasLease: false, isClosed: false, running: undefined, again: false };
  const notifications = openNotifications(url, {
    channels: [recordedChannel, appendedChannel],
    onMessage: (channel, payload) => {
      if (channel === appendedChannel) reportRemote(state, payload);
      else if (state.hasLease) void run(state);
    },
    onMissed: () => report("any"),
    onError,
  });
  const notifyOthers = openNotifier(notifications);
  const numberingJob = repeat(pollMs, () => run(state), onError);
  const olderNodesJob = repeat(olderPollMs, async () => void (state.hasLease && (await recordOlderNodes(db))), onError);
  return {
    wake: () => void (state.hasLease ? run(state) : notifyOthers()),
    async close() {
      await Promise.all([numberingJob.stop(), olderNodesJob.stop()]);
      await run(state);
      state.isClosed = true;
      if (state.hasLease) await releaseLease(db, state.leaseId).catch(onError);
      await notifications.close();
    },
  };
}

/** Reports the events that another node appended. */
function reportRemote({ leaseId, report }: State, payload: string): void {
  const [from, ids = ""] = payload.split(" ");
  if (from !== leaseId) report(ids === "any" ? "any" : ids.split(",").map(Number));
}

function run(state: State): Promise<void> {
  state.again = true;
  state.running ??= numberAll(state)
    .catch((error: unknown) => {
      // Without the database there is nothing to number, and the health check says so.
      if (!(error instanceof Problem && error.code === "unavailable")) state.onError(error);
    })
    .finally(() => {
      state.running = undefined;
    });
  return state.running;
}

async function numberAll(state: State): Promise<void> {
  const { db, leaseId, report } = state;
  const notify = (tx: Transaction, accountIds: number[]): Promise<unknown> => {
    const ids = accountIds.join(",");
    return tx.query(sql`SELECT pg_notify(${appendedChannel}, ${`${leaseId} ${ids.length < payloadMax ? ids : "any"}`})`);
  };
  while (state.again && !state.isClosed) {
    state.again = false;
    const numbered = await numberWaiting(db, leaseId, notify);
    state.hasLease = numbered !== undefined;
    if (!numbered) return;
    if (numbered.accountIds.length > 0) report(numbered.accountIds);
    state.again ||= numbered.isMore;
  }
}

/** Returns a function that notifies the node with the lease of new events. It sends one notification at a time. */
function openNotifier(notifications: Pick<Notifications, "send">): () => Promise<void> {
  let isSending = false;
  let again = false;
  return async () => {
    again = true;
    if (isSending) return;
    isSending = true;
    while (again) {
      again = false;
      await notifications.send(recordedChannel, "").catch(() => undefined);
    }
    isSending = false;
  };
}
