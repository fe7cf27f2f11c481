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
 * A node that lost its lease gets a new one with another lease id. Rows of work that it claimed under the old id are free once
 * that lease has ended.
 *
 * The embedded database has one node: it applies the same changes by the same numbers, and needs no lease.
 */
import { setTimeout as sleep } from "node:timers/promises";
import sql, { type Sql } from "sql-template-tag";
import type { Database, Transaction } from "../db/database.ts";
import { Problem } from "../problem.ts";
import {
  changesAfter,
  countLive,
  countUnacknowledged,
  databaseTime,
  deleteNode,
  expireChanges,
  insertChange,
  lastChange,
  leaseHasEnded,
  renewLease,
  takeLease,
  type Change,
} from "./nodes.store.ts";

/** How often the owner of a node calls `heartbeat`. */
export const heartbeatEveryMs = 100;
const leaseMs = 1_000;
/** How much earlier than the database a node considers its lease ended: more than two clocks drift apart within a lease. */
const marginMs = 100;
/** How often to look whether a change is acknowledged, and how many times at most. */
const lookEveryMs = 20;
const looksMax = 250;

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

type AnnouncerOptions = {
  db: Database;
  /** The node of this process, which acknowledges a change at once. */
  node?: Pick<Node, "heartbeat">;
  /** The database's clock; lets tests move it. */
  now?: () => Sql;
  pause?: (ms: number) => Promise<void>;
};

/** Opens the announcer of a process. */
export function openAnnouncer({ db, node, now = () => databaseTime(db.engine), pause = sleep }: AnnouncerOptions): Announcer {
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
  /** Called when the lease is lost, to stop work that does not ask `isLive`. */
  onLeaseLost?: () => void;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
  /** A monotonic clock in ms. */
  timer?: () => number;
  now?: () => Sql;
};

type NodeState = Required<Omit<NodeOptions, "secretsKeys">> &
  Pick<NodeOptions, "secretsKeys"> & {
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
  const live = await node.db.write((tx) => renewLease(tx, leaseId, seen, leaseMs, node.now()));
  // A late answer loses the lease too: other nodes may have seen it ended before the renewal was committed.
  if (live > 0 && isLive(node)) return void (node.liveNodes = live);
  endLease(node);
  throw new Error("the lease ended before it was renewed");
}

async function startLease(node: NodeState): Promise<void> {
  const { leaseId, seen } = node;
  const fresh = nextLeaseId(node);
  let count = 1;
  await node.db.write(async (tx) => {
    await deleteNode(tx, leaseId);
    await takeLease(tx, { id: fresh, seen, secretsKeys: node.secretsKeys ?? null }, leaseMs, node.now());
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
  return db.write((tx) => expireChanges(tx, databaseTime(db.engine)));
}
