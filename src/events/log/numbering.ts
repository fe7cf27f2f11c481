import { randomUUID } from "node:crypto";
import sql, { join } from "sql-template-tag";
import type { Context } from "../../platform/context.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { openNotifications } from "../../platform/db/postgres-notifications.ts";
import { eventBytes } from "../../platform/event-storage.ts";
import { chained, type ChainedEvent, emptyHead, type Head, type RecordedEvent } from "../../platform/events.ts";
import { coalesced, repeat } from "../../platform/jobs/runs.ts";
import { databaseTime } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import type { AppendedTo } from "./feed.ts";

/** How often (ms) a node looks for events in the outbox and renews, or tries to take, the lease. Well below the lease's 700 ms. */
const pollMs = 200;
const olderPollMs = 1_000;
const recordedChannel = "petstore_events_recorded";
const appendedChannel = "petstore_events_appended";
/** PostgreSQL allows less than 8,000 bytes in a notification. */
const payloadMax = 7_000;

type State = Pick<Context, "db"> & {
  report: (accounts: AppendedTo) => void;
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
 *
 * @param report called after any node has appended events
 */
export function openNumbering(
  { db, onError }: Pick<Context, "db" | "onError">,
  url: string,
  report: (accounts: AppendedTo) => void,
): Numbering {
  const state: State = { db, report, leaseId: randomUUID(), hasLease: false, isClosed: false };
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
function reportFailure(error: unknown, onError: Context["onError"]): void {
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

/** The most events that one transaction numbers. */
const numberedMax = 1_000;
const leaseMs = 700;
const now = databaseTime("postgres");

/** The accounts whose events a transaction numbered, and whether more events may wait. */
type NumberingResult = { accountIds: number[]; isMore: boolean };

/**
 * Gives the events in the outbox their positions, in the order of the outbox, and renews the lease for 700 ms. Returns undefined if
 * another node has the lease. The update locks the lease's row, so no other node numbers events before the commit.
 *
 * @param notify sends a notification to all nodes at the commit
 */
async function numberWaiting(
  db: Pick<Database, "write">,
  leaseId: string,
  notify: (tx: Transaction, accountIds: number[]) => Promise<unknown>,
): Promise<NumberingResult | undefined> {
  return db.write(async (tx) => {
    const leased = await tx.query(sql`
      UPDATE event_numbering SET lease_id = ${leaseId}, lease_until = ${now} + ${leaseMs}
      WHERE id = 1 AND (lease_id = ${leaseId} OR lease_until <= ${now}) RETURNING 1`);
    if (leased.length === 0) return undefined;
    const waiting = await takeFromOutbox(tx);
    if (waiting.length === 0) return { accountIds: [], isMore: false };
    const accountIds = [...new Set(waiting.map(({ accountId }) => accountId))];
    const heads = await headsOf(tx, accountIds);
    await insertEvents(tx, chainAll(waiting, heads));
    await notify(tx, [...heads.keys()]);
    return { accountIds: [...heads.keys()], isMore: waiting.length === numberedMax };
  });
}

/** Ends the lease, so that another node can take it at once. */
async function releaseLease(db: Pick<Database, "write">, leaseId: string): Promise<void> {
  await db.write((tx) => tx.query(sql`UPDATE event_numbering SET lease_until = 0 WHERE lease_id = ${leaseId}`));
}

/** Records the time if a live node runs release 1.1.0, which records no events. Until 1.3.0. */
async function recordOlderNodes(db: Pick<Database, "write">): Promise<void> {
  await db.write((tx) =>
    tx.query(sql`
      INSERT INTO older_nodes (id, seen_at)
      SELECT 1, ${now} WHERE EXISTS (SELECT 1 FROM nodes WHERE lease_until > ${now} AND records_events IS NULL)
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`),
  );
}

type WaitingRow = {
  id: number;
  account_id: number;
  type: string;
  at: number;
  resource: string;
  actor: string;
  request_id: string | null;
  version: number | null;
  head: string;
  tail: string;
};

async function takeFromOutbox(tx: Transaction): Promise<RecordedEvent[]> {
  const rows = await tx.query<WaitingRow>(sql`
    SELECT id, account_id, type, at, resource, actor, request_id, version, head, tail FROM event_outbox ORDER BY id ${limitTo(numberedMax)}`);
  if (rows.length === 0) return [];
  await tx.query(sql`
    DELETE FROM event_outbox WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(${idsOf(rows)} AS JSON)))`);
  return rows.map(({ id: _id, account_id: accountId, request_id: requestId, ...row }) => ({ ...row, accountId, requestId }));
}

function idsOf(rows: readonly { id: number }[]): string {
  return JSON.stringify(rows.map(({ id }) => id));
}

/** Returns the heads of these accounts' logs; none for a deleted account. Locks the accounts against deletion until the commit. */
async function headsOf(tx: Transaction, accountIds: readonly number[]): Promise<Map<number, Head>> {
  const rows = await tx.query<{ id: number; position: number | null; hash: string | null }>(sql`
    SELECT accounts.id, newest.position, newest.hash FROM accounts
    LEFT JOIN LATERAL (SELECT position, hash FROM events WHERE account_id = accounts.id ORDER BY account_id DESC, position DESC LIMIT 1) AS newest ON TRUE
    WHERE accounts.id IN (${join(accountIds)}) FOR KEY SHARE OF accounts`);
  return new Map(rows.map(({ id, position, hash }) => [id, position === null ? emptyHead : { position, hash: hash! }]));
}

function chainAll(waiting: readonly RecordedEvent[], heads: ReadonlyMap<number, Head>): ChainedEvent[] {
  const reached = new Map(heads);
  return waiting.flatMap((event) => {
    const head = reached.get(event.accountId);
    if (!head) return [];
    const next = chained(event, head);
    reached.set(event.accountId, next);
    return [next];
  });
}

async function insertEvents(tx: Transaction, events: readonly ChainedEvent[]): Promise<void> {
  const rows = events.map(({ accountId, requestId, head: _head, tail: _tail, ...event }) => {
    return { account_id: accountId, request_id: requestId, ...event };
  });
  await tx.query(sql`
    WITH chained AS (
      SELECT * FROM json_to_recordset(CAST(${JSON.stringify(rows)} AS JSON)) AS chained (account_id BIGINT, position BIGINT, type TEXT, at BIGINT,
        resource TEXT, actor TEXT, request_id TEXT, version BIGINT, text TEXT, hash TEXT)
    ), inserted AS (
      INSERT INTO events (account_id, position, type, at, resource, actor, request_id, version, text, hash)
      SELECT account_id, position, type, at, resource, actor, request_id, version, text, hash FROM chained
    )
    INSERT INTO event_storage (account_id, log_bytes) SELECT account_id, SUM(${eventBytes}) FROM chained GROUP BY account_id ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET log_bytes = event_storage.log_bytes + excluded.log_bytes`);
}
