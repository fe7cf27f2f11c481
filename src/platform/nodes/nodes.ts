import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import sql, { type Sql } from "sql-template-tag";
import { dayMs, type Clock } from "../clock.ts";
import type { Database, Queryable, Transaction } from "../db/database.ts";
import { foldingVersion } from "../folding.ts";
import { Problem } from "../problem.ts";
import { programVersion } from "../program-version.ts";

/**
 * How a change that takes something away (a key, a plan, a domain) reaches every node before the request that made it is
 * answered.
 *
 * The transaction that makes a change publishes it: it inserts the change with the next number. Every node sends a heartbeat
 * ten times a second: it reads the new changes, applies them (drops or reloads what it has cached of them), and then
 * acknowledges them by writing the last number into its row, which also renews its lease for a second. The node that
 * published the change waits until every node with a lease has acknowledged it. A node that cannot send its heartbeat, or
 * cannot apply a change, stops using its caches before its lease ends in the database, so the wait is never longer than a
 * lease. When it gets a new lease, it first rebuilds its caches.
 *
 * The database's clock measures leases in the database. A node measures its own lease with a monotonic clock, from before it
 * sent the heartbeat. So clocks that differ or jump do no harm.
 *
 * A node that lost its lease gets a new one with another lease id. Rows of work that it claimed under the old id are free once it ended.
 *
 * The embedded database has one node: it applies the same changes by the same numbers, and needs no lease.
 */

/** How often the owner of a node calls `heartbeat`. */
export const heartbeatEveryMs = 100;
const leaseMs = 1_000;
/** How much earlier than the database a node considers its lease ended: more than two clocks drift apart within a lease. */
const marginMs = 100;
/** How often to look whether a change is acknowledged, and how many times at most. */
const lookEveryMs = 20;
const looksMax = 250;

/** Changes and ended leases are kept for a minute. By then every node that still has a lease has long applied the changes. */
const keptMs = 60_000;

/** Names what nodes may have cached, as `{kind: "key", subject: "7"}` or `{kind: "domain", subject: "www.example.com"}`. */
export type Change = { kind: string; subject: string };
type NumberedChange = Change & { number: number };

/** Publishes changes to all nodes. */
export type Announcer = {
  /** Numbers the change, at the end of the transaction that makes it: until its commit no other change can be published. */
  publish(tx: Transaction, change: Change): Promise<number>;
  /**
   * Resolves when every node with a lease has acknowledged the change.
   *
   * @throws Problem `unavailable` if a node does not acknowledge it within five seconds; the change is made nevertheless
   */
  waitForAck(number: number): Promise<void>;
  /** Waits for all changes that are committed by now, in the same way. */
  waitForAll(): Promise<void>;
};

/** The announcer for a database that no other process uses. */
export const noOtherNodes: Announcer = {
  publish: () => Promise.resolve(0),
  waitForAck: () => Promise.resolve(),
  waitForAll: () => Promise.resolve(),
};

/**
 * Opens the announcer of a process.
 *
 * @param node of this process, which acknowledges a change at once
 * @param now the database's clock; lets tests move it
 */
export function openAnnouncer(
  db: Database,
  node?: Pick<Node, "heartbeat">,
  now: () => Sql = () => databaseTime(db.engine),
  pause: (ms: number) => Promise<unknown> = sleep,
): Announcer {
  async function waitForAck(number: number): Promise<void> {
    await node?.heartbeat();
    for (let look = 0; look < looksMax; look++) {
      if ((await countUnacknowledged(db, number, now())) === 0) return;
      await pause(lookEveryMs);
    }
    throw new Problem("unavailable", "The change is made, but not every node has applied it yet.");
  }

  return {
    publish: (tx, change) => insertChange(tx, change, now()),
    waitForAck,
    waitForAll: async () => waitForAck(await lastChange(db)),
  };
}

export type Node = {
  /** Whether this node may use its caches. */
  isLive(): boolean;
  /** The number of nodes that had a lease at the last heartbeat, including this one; up to a second old. 1 before the first heartbeat. */
  liveNodes(): number;
  /** The id of the current lease; undefined without a lease. */
  leaseId(): string | undefined;
  /** An SQL condition: the lease whose id is in the column, of whichever node, has ended. */
  hasEnded(column: Sql): Sql;
  /** Applies new changes and renews the lease. Never rejects: the caller tries again with the next heartbeat. */
  heartbeat(): Promise<void>;
  /** Gives up the lease, so that no change waits for this node. */
  leave(): Promise<void>;
};

export type NodeOptions = {
  /** The database for heartbeats. It must not wait for other work, or the lease ends before it is renewed. */
  db: Pick<Database, "engine" | "query" | "write">;
  id: string;
  /** The ids of the keys that this process encrypts secrets with, the current one first, separated by commas. */
  secretsKeys?: string;
  /**
   * Applies a change: when it returns, nothing cached before the change is in use any more. Without a change, rebuilds the
   * caches. If it throws, the node does not acknowledge the change and tries again with the next heartbeat.
   */
  applyChange: (change: Change | undefined) => Promise<void> | void;
  /** Counts heartbeats, on a database that other nodes may use. */
  rewinds?: { count(tx: Transaction): Promise<() => void>; takeLoss(): boolean; note(change: NumberedChange): void } | undefined;
  /** Called when the lease is lost, to stop work that does not ask `isLive`. */
  onLeaseLost?: () => void;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
  /** A monotonic clock in ms. */
  timer?: () => number;
  now?: () => Sql;
};

type NodeState = Required<Omit<NodeOptions, "secretsKeys" | "rewinds">> &
  Pick<NodeOptions, "secretsKeys" | "rewinds"> & {
    /** Whether other nodes may use the database, so that a lease is needed. */
    isShared: boolean;
    liveUntil: number;
    leaseId: string;
    /** Leases so far. */
    leases: number;
    /** The number of the last change that was applied. */
    seen: number;
    isAway: boolean;
    liveNodes: number;
    watch: NodeJS.Timeout | undefined;
  };

/** Opens a node, which has no lease before its first heartbeat. Its owner calls `heartbeat` every `heartbeatEveryMs`. */
export function openNode(options: NodeOptions): Node {
  const { db, id } = options;
  const defaults = { onLeaseLost: () => undefined, timer: () => performance.now(), now: () => databaseTime(db.engine) };
  const initial = { liveUntil: -Infinity, leaseId: id, leases: 0, seen: 0, isAway: false, liveNodes: 1, watch: undefined };
  const node: NodeState = { ...defaults, ...options, isShared: db.engine !== "sqlite", ...initial };
  let last = Promise.resolve();
  const next = (work: () => Promise<void>): Promise<void> => (last = last.then(work));
  return {
    isLive: () => isLive(node),
    liveNodes: () => node.liveNodes,
    leaseId: () => (isLive(node) ? node.leaseId : undefined),
    // On the embedded database all other leases have ended, those of earlier processes too.
    hasEnded: (column) => (node.isShared ? leaseHasEnded(column, node.now()) : sql`${column} IS DISTINCT FROM ${node.leaseId}`),
    heartbeat: () => next(() => sendHeartbeat(node)),
    leave: () => next(() => leave(node)),
  };
}

const isLive = ({ timer, liveUntil }: NodeState): boolean => timer() < liveUntil;

async function sendHeartbeat(node: NodeState): Promise<void> {
  try {
    if (node.rewinds?.takeLoss()) endLease(node); // the numbers of changes are given out again
    if (!isLive(node)) await rebuild(node);
    await catchUp(node);
    if (node.isShared) await keepLease(node);
    else if (!isLive(node)) startUnsharedLease(node);
  } catch (error) {
    noteFailure(node, error);
    return;
  }
  if (node.isAway) node.log.info({}, "this node has a lease again");
  node.isAway = false;
}

function noteFailure(node: NodeState, error: unknown): void {
  if (!node.isShared) endLease(node); // this lease does not expire
  if (!isLive(node) && !node.isAway) {
    node.log.warn({ reason: String(error) }, "this node has no lease, and does not use its caches until it has one");
  }
  node.isAway = !isLive(node);
}

/** Rebuilds the caches. Reads the number first: the caches may then be newer than the number says, never older. */
async function rebuild(node: NodeState): Promise<void> {
  const number = await lastChange(node.db);
  await node.applyChange(undefined);
  node.seen = number;
}

async function catchUp(node: NodeState): Promise<void> {
  for (const change of await changesAfter(node.db, node.seen)) {
    await node.applyChange(change);
    node.rewinds?.note(change);
    node.seen = change.number;
  }
}

/** Renews the lease, or takes a new one, and calls `onLeaseLost` if it is not renewed in time. */
async function keepLease(node: NodeState): Promise<void> {
  const sentAt = node.timer();
  if (isLive(node)) await renew(node);
  else await startLease(node);
  node.liveUntil = sentAt + leaseMs - marginMs;
  clearTimeout(node.watch);
  node.watch = setTimeout(() => isLive(node) || node.onLeaseLost(), Math.max(0, node.liveUntil - node.timer()) + 1).unref();
}

async function renew(node: NodeState): Promise<void> {
  const { leaseId, seen } = node;
  const live = await counted(node, (tx) => renewLease(tx, leaseId, seen, node.now()));
  // A late answer loses the lease too: other nodes may have seen it ended before the renewal was committed.
  if (live > 0 && isLive(node)) return void (node.liveNodes = live);
  endLease(node);
  throw new Error("the lease ended before it was renewed");
}

/** Runs the transaction of a heartbeat, which counts it. */
async function counted<T>({ db, rewinds }: NodeState, body: (tx: Transaction) => Promise<T>): Promise<T> {
  const [remember, value] = await db.write((tx) => Promise.all([rewinds?.count(tx), body(tx)]));
  remember?.();
  return value;
}

async function startLease(node: NodeState): Promise<void> {
  const { leaseId, seen } = node;
  const fresh = nextLeaseId(node);
  let count = 1;
  await counted(node, async (tx) => {
    await deleteNode(tx, leaseId);
    await takeLease(tx, { id: fresh, seen, secretsKeys: node.secretsKeys ?? null }, node.now());
    count = await countLive(tx, node.now());
  });
  // The other nodes may just have lost their leases too, and get new ones in a moment.
  node.liveNodes = Math.max(node.liveNodes, count);
  node.leaseId = fresh;
  // Changes made before this node had a lease did not wait for it.
  await catchUp(node);
}

function startUnsharedLease(node: NodeState): void {
  node.leaseId = nextLeaseId(node);
  node.liveUntil = Infinity;
}

const nextLeaseId = (node: NodeState): string => `${node.id}/${++node.leases}`;

function endLease(node: NodeState): void {
  clearTimeout(node.watch);
  node.liveUntil = -Infinity;
  node.onLeaseLost();
}

async function leave(node: NodeState): Promise<void> {
  endLease(node);
  // If the row cannot be deleted, the lease expires.
  if (node.isShared) await node.db.write((tx) => deleteNode(tx, node.leaseId)).catch(() => undefined);
}

/** Deletes changes and nodes that no node needs any more. Called about once a minute. */
export function expireNodes(db: Database): Promise<void> {
  return db.write(async (tx) => {
    await expireChanges(tx, databaseTime(db.engine));
    if (db.engine !== "postgres") return;
    const oldest = sql`${databaseTime("postgres")} - ${90 * dayMs}`;
    await tx.query(sql`DELETE FROM node_beats WHERE at < ${oldest}`);
    await tx.query(sql`DELETE FROM database_losses WHERE last_accepted < (SELECT MAX(at) FROM accepted_states) AND found_at < ${oldest}`);
  });
}

/**
 * The lease of a row of work. It ends with the lease of the node, and in any case at `until` (ms), in case that node hangs. The
 * transaction that writes the result of the work checks that the row still has this lease.
 */
export type RowLease = { until: number; leaseId: string };

/** The claim used to lease rows. `isFree` returns an SQL condition: the row whose lease is in these two columns is not leased. */
export type RowClaim = { lease: RowLease; now: number; isFree: (until: Sql, leaseId: Sql) => Sql };

export type RowLeases = {
  /** Makes a claim for `ms` from now; undefined if this node has no lease itself, even after a heartbeat. */
  begin(ms: number): Promise<RowClaim | undefined>;
  /** Whether no other node can have leased the rows of this lease. Reads memory only, so callers may check right before a step that cannot be undone. */
  isHeld(lease: RowLease): boolean;
};

/**
 * Leases of rows, which end with the lease of their node. When a process is killed, paused or cut off, other nodes can lease its rows once
 * its lease has ended; a process that is still running knows by then that its lease has ended.
 */
export function openRowLeases(node: Pick<Node, "heartbeat" | "leaseId" | "hasEnded">, clock: Clock): RowLeases {
  return {
    async begin(ms) {
      if (node.leaseId() === undefined) await node.heartbeat();
      const [leaseId, now] = [node.leaseId(), clock()];
      if (leaseId === undefined) return undefined;
      const isFree: RowClaim["isFree"] = (until, of) => sql`(${until} IS NULL OR ${until} <= ${now} OR ${node.hasEnded(of)})`;
      return { lease: { until: now + ms, leaseId }, now, isFree };
    },
    isHeld: ({ until, leaseId }) => node.leaseId() === leaseId && clock() < until,
  };
}

/** The database's clock, in ms. It alone measures leases, so the nodes' clocks need not agree. */
export function databaseTime(engine: Database["engine"]): Sql {
  return engine === "sqlite"
    ? sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`
    : sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`;
}

/** Inserts a change with the next number. Its transaction holds a lock until the commit, so that numbers become visible in their order. */
async function insertChange(tx: Transaction, { kind, subject }: Change, now: Sql): Promise<number> {
  await tx.lock("changes");
  const rows = await tx.query(sql`
    INSERT INTO changes (number, kind, subject, made_at)
    SELECT COALESCE(MAX(number), 0) + 1, CAST(${kind} AS TEXT), CAST(${subject} AS TEXT), ${now} FROM changes RETURNING number`);
  return Number(rows[0]?.["number"]);
}

/** Returns the number of the last change, 0 before the first. */
async function lastChange(db: Pick<Queryable, "query">): Promise<number> {
  const rows = await db.query(sql`SELECT COALESCE(MAX(number), 0) AS number FROM changes`);
  return Number(rows[0]?.["number"]);
}

/** Lists the changes with a higher number, in their order. */
async function changesAfter(db: Pick<Queryable, "query">, number: number): Promise<NumberedChange[]> {
  const rows = await db.query(sql`SELECT number, kind, subject FROM changes WHERE number > ${number} ORDER BY number`);
  return rows.map((row) => ({ number: Number(row["number"]), kind: String(row["kind"]), subject: String(row["subject"]) }));
}

type Lease = {
  id: string;
  /** The number of the last change that the node has applied. */
  seen: number;
  /** The ids of the keys that the node encrypts secrets with, the current one first, separated by commas; null if it does not say. */
  secretsKeys: string | null;
};

/** Inserts a lease of `leaseMs` from now. */
async function takeLease(tx: Transaction, { id, seen, secretsKeys }: Lease, now: Sql): Promise<void> {
  await tx.query(sql`
    INSERT INTO nodes (id, lease_until, seen, secrets_keys, records_events, folding, release, host)
    VALUES (${id}, ${now} + ${leaseMs}, ${seen}, ${secretsKeys}, TRUE, ${foldingVersion}, ${programVersion()}, ${`${hostname()}:${process.pid}`})`);
}

/** The ids of the keys that each node with a lease holds, as in its `Lease`. */
export async function liveSecretsKeys(db: Pick<Database, "engine" | "query">): Promise<(string | null)[]> {
  const rows = await db.query<{ secrets_keys: string | null }>(sql`
    SELECT secrets_keys FROM nodes WHERE lease_until > ${databaseTime(db.engine)}`);
  return rows.map((row) => row.secrets_keys);
}

/** Whether a node with a lease makes other keys of names than this release. */
export async function hasOtherFoldings(db: Pick<Database, "engine" | "query">): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM nodes WHERE lease_until > ${databaseTime(db.engine)} AND folding IS DISTINCT FROM ${foldingVersion} LIMIT 1`);
  return rows.length > 0;
}

/** Extends a lease to `leaseMs` from now. Returns the number of nodes with a lease, including this one, or 0 if its own lease has ended. */
async function renewLease(tx: Transaction, id: string, seen: number, now: Sql): Promise<number> {
  const rows = await tx.query(sql`
    UPDATE nodes SET lease_until = ${now} + ${leaseMs}, seen = ${seen} WHERE id = ${id} AND lease_until > ${now}
    RETURNING (SELECT COUNT(*) FROM nodes AS live WHERE live.lease_until > ${now}) AS live`);
  return Number(rows[0]?.["live"] ?? 0);
}

/** Counts the nodes with a lease. */
async function countLive(db: Pick<Queryable, "query">, now: Sql): Promise<number> {
  const rows = await db.query(sql`SELECT COUNT(*) AS live FROM nodes WHERE lease_until > ${now}`);
  return Number(rows[0]?.["live"]);
}

/** An SQL condition: the lease whose id is in the column has ended; false where the column is NULL. */
function leaseHasEnded(column: Sql, now: Sql): Sql {
  return sql`(${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM nodes node WHERE node.id = ${column} AND node.lease_until > ${now}))`;
}

/** Counts the nodes with a lease that have not acknowledged the change. */
async function countUnacknowledged(db: Pick<Queryable, "query">, number: number, now: Sql): Promise<number> {
  const rows = await db.query(sql`SELECT COUNT(*) AS n FROM nodes WHERE seen < ${number} AND lease_until > ${now}`);
  return Number(rows[0]?.["n"]);
}

/** Deletes a lease. */
async function deleteNode(tx: Transaction, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM nodes WHERE id = ${id}`);
}

/** Deletes old changes and leases. The last change stays, because the next one is numbered after it. */
async function expireChanges(tx: Transaction, now: Sql): Promise<void> {
  await tx.query(sql`DELETE FROM changes WHERE made_at < ${now} - ${keptMs} AND number < (SELECT MAX(number) FROM changes)`);
  await tx.query(sql`DELETE FROM nodes WHERE lease_until < ${now} - ${keptMs}`);
}
