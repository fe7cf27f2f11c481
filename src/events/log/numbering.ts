import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { openNotifications } from "../../platform/db/postgres-notifications.ts";
import { Problem } from "../../platform/problem.ts";
import { coalesced, repeat } from "../../platform/jobs/runs.ts";
import type { AppendedTo } from "./feed.ts";
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
  report: (accounts: AppendedTo) => void;
  onError: (error: unknown) => void;
};

type State = Pick<Options, "db" | "report" | "onError"> & {
  leaseId: string;
  /** Whether this node had the lease at its last attempt. */
  hasLease: boolean;
  isClosed: boolean;
};

/** The numbering of events on one node. Call `wake` after this node has committed events. */
export type Numbering = { wake(): void; close(): Promise<void> };

/**
 * On PostgreSQL, gives positions to the events that transactions left in the outbox (decision 0074). One node at a time has the lease
 * for it; the others notify it when they have committed events. A lost notification only causes a delay, because every node looks
 * five times a second.
 */
export function openNumbering({ db, url, report, onError }: Options): Numbering {
  const state: State = { db, report, onError, leaseId: randomUUID(), hasLease: false, isClosed: false };
  const { run } = coalesced(() => numberOnce(state, () => void run()).catch((error: unknown) => reportFailure(error, onError)));
  const notifications = openNotifications(url, {
    channels: [recordedChannel, appendedChannel],
    onMessage: (channel, payload) => {
      if (channel === appendedChannel) reportRemote(state, payload);
      else if (state.hasLease) void run();
    },
    onMissed: () => report("any"),
    onError,
  });
  const notifyingOthers = coalesced(() => notifications.send(recordedChannel, "").catch(() => undefined));
  const numberingJob = repeat(pollMs, () => run(), onError);
  const olderNodesJob = repeat(olderPollMs, async () => void (state.hasLease && (await recordOlderNodes(db))), onError);
  return {
    wake: () => void (state.hasLease ? run() : notifyingOthers.run()),
    async close() {
      await Promise.all([numberingJob.stop(), olderNodesJob.stop()]);
      await run();
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

/** Without the database there is nothing to number, and the health check says so. */
function reportFailure(error: unknown, onError: Options["onError"]): void {
  if (!(error instanceof Problem && error.code === "unavailable")) onError(error);
}

/** @param goOn called if more events wait */
async function numberOnce(state: State, goOn: () => void): Promise<void> {
  const { db, leaseId, report } = state;
  if (state.isClosed) return;
  const notify = (tx: Transaction, accountIds: number[]): Promise<unknown> => {
    const ids = accountIds.join(",");
    return tx.query(sql`SELECT pg_notify(${appendedChannel}, ${`${leaseId} ${ids.length < payloadMax ? ids : "any"}`})`);
  };
  const numbered = await numberWaiting(db, leaseId, notify);
  state.hasLease = numbered !== undefined;
  if (numbered && numbered.accountIds.length > 0) report(numbered.accountIds);
  if (numbered?.isMore) goOn();
}
