import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { openNotifications, type Notifications } from "../../platform/db/postgres-notifications.ts";
import { Problem } from "../../platform/problem.ts";
import { repeat } from "../../platform/jobs/repeat.ts";
import type { Appended } from "./feed.ts";
import { noteOlderNodes, numberWaiting, releaseLease } from "./numbering.store.ts";

/** How often (ms) a node looks for events that wait, and renews or tries to take the lease: well within the lease. */
const everyMs = 200;
const olderEveryMs = 1_000;
const recordedChannel = "petstore_events_recorded";
const appendedChannel = "petstore_events_appended";
/** A notification of PostgreSQL has at most 8,000 bytes. */
const payloadMax = 7_000;

type Options = {
  db: Pick<Database, "write">;
  url: string;
  /** Called after events were appended, by whichever node. */
  report: (accounts: Appended) => void;
  onError: (error: unknown) => void;
};

type State = Pick<Options, "db" | "report" | "onError"> & {
  leaseId: string;
  /** Whether this node had the lease when it last looked. */
  hasLease: boolean;
  isClosed: boolean;
  running: Promise<void> | undefined;
  /** Whether to look again as soon as the run under way ends. */
  again: boolean;
};

/** The numbering of events on one node. `wake` is called when this node has committed some. */
export type Numbering = { wake(): void; close(): Promise<void> };

/**
 * On PostgreSQL, numbers the events that transactions left in the outbox (decision 0074). One node at a time has the lease to do so; the
 * others tell it when they have committed events. A notification that is lost only delays: every node looks five times a second.
 */
export function openNumbering({ db, url, report, onError }: Options): Numbering {
  const state: State = { db, report, onError, leaseId: randomUUID(), hasLease: false, isClosed: false, running: undefined, again: false };
  const notifications = openNotifications(url, {
    channels: [recordedChannel, appendedChannel],
    onMessage: (channel, payload) => {
      if (channel === appendedChannel) passOn(state, payload);
      else if (state.hasLease) void run(state);
    },
    onMissed: () => report("any"),
    onError,
  });
  const tell = openTelling(notifications);
  const looking = repeat(everyMs, () => run(state), onError);
  const older = repeat(olderEveryMs, async () => void (state.hasLease && (await noteOlderNodes(db))), onError);
  return {
    wake: () => void (state.hasLease ? run(state) : tell()),
    async close() {
      await Promise.all([looking.stop(), older.stop()]);
      await run(state);
      state.isClosed = true;
      if (state.hasLease) await releaseLease(db, state.leaseId).catch(onError);
      await notifications.close();
    },
  };
}

/** Reports what another node appended. */
function passOn({ leaseId, report }: State, payload: string): void {
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

/** Returns a function that tells the node with the lease of new events, with one message at a time. */
function openTelling(notifications: Pick<Notifications, "send">): () => Promise<void> {
  let isTelling = false;
  let again = false;
  return async () => {
    again = true;
    if (isTelling) return;
    isTelling = true;
    while (again) {
      again = false;
      await notifications.send(recordedChannel, "").catch(() => undefined);
    }
    isTelling = false;
  };
}
