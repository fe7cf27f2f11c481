/**
 * How a change that takes something away (a key, a plan, a domain) reaches every node before it is answered.
 *
 * The change gets a number in its own transaction. Every node beats: it reads the changes that are new, acts on them
 * (forgets what they name, or reads it again), and then writes the last number into its row, which prolongs its lease by a
 * second. Whoever makes a change waits until every node whose lease runs has written its number. A node that could not
 * beat, or not act, stops using what it keeps before its lease ends in the database, so the wait is never longer than a
 * lease; when it beats again it first makes anew all that it keeps.
 *
 * Leases in the database are measured by the database's clock, a node's own view of its lease by a clock that only goes
 * forward, counted from before the beat was sent. So clocks that differ, or jump, do no harm.
 *
 * A node that lost its lease begins a new life under another name. What a life holds beside its lease, such as rows of work, is free
 * when it has ended.
 *
 * The embedded database has one node: it acts in the same way on the same numbers, and needs no lease.
 */
import { setTimeout as sleep } from "node:timers/promises";
import sql, { type Sql } from "sql-template-tag";
import type { Database, Transaction } from "../db/database.ts";
import { Problem } from "../problem.ts";
import {
  changesAfter,
  countLive,
  countUnconfirmed,
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

export type { Change } from "./nodes.store.ts";

/** How often a node should beat. */
export const heartbeatEveryMs = 100;
const leaseMs = 1_000;
/** What a node leaves unused of its lease: more than two clocks drift apart within it. */
const marginMs = 100;
/** How often a change looks whether it is confirmed, and how many times at most. */
const lookEveryMs = 20;
const looksMax = 250;

/** Makes changes known. */
export type Announcer = {
  /** Numbers the change, in the transaction that makes it and at its end: others that announce wait for its commit. */
  publish(tx: Transaction, change: Change): Promise<number>;
  /**
   * Resolves when no node acts any more on what was true before the change.
   *
   * @throws Problem `unavailable` when that cannot be found out; the change is made nevertheless
   */
  waitForAck(number: number): Promise<void>;
  /** The same for all that is committed by now. */
  waitForAll(): Promise<void>;
};

/** For a database that this process has to itself, and keeps nothing of: there is nobody to tell. */
export const noOtherNodes: Announcer = {
  publish: () => Promise.resolve(0),
  waitForAck: () => Promise.resolve(),
  waitForAll: () => Promise.resolve(),
};

export type AnnouncerOptions = {
  db: Database;
  /** The node of this process, whose own confirmation need not wait for its turn. */
  node?: Pick<Node, "heartbeat">;
  /** The database's clock; lets tests move it. */
  now?: () => Sql;
  pause?: (ms: number) => Promise<void>;
};

/** Waits for each change as long as it takes the nodes to act on it: five seconds at most. */
export function openAnnouncer({ db, node, now = () => databaseTime(db.engine), pause = sleep }: AnnouncerOptions): Announcer {
  async function waitForAck(number: number): Promise<void> {
    await node?.heartbeat();
    for (let look = 0; look < looksMax; look++) {
      if ((await countUnconfirmed(db, number, now())) === 0) return;
      await pause(lookEveryMs);
    }
    throw new Problem("unavailable", "The change is made, but not every node has confirmed it.");
  }

  return {
    publish: (tx, change) => insertChange(tx, change, now()),
    waitForAck,
    waitForAll: async () => waitForAck(await lastChange(db)),
  };
}

export type Node = {
  /** Whether what this node keeps may be used. */
  isLive(): boolean;
  /** The number of nodes that had a lease at the last beat, including this one; up to a second old. 1 before the first beat. */
  liveNodes(): number;
  /** The name of its life, which is another one after each loss of its lease; undefined while it has none. */
  leaseId(): string | undefined;
  /** SQL: whether the life that a column names, of whatever node, has ended. */
  hasEnded(column: Sql): Sql;
  /** Acts on what is new and renews the lease. Never rejects: a beat that fails is a beat that is missing. */
  heartbeat(): Promise<void>;
  /** Gives up the lease, so that nobody waits for it. */
  leave(): Promise<void>;
};

export type NodeOptions = {
  /** The database for beats. It must not wait for other work: a node that beats too late loses its lease. */
  db: Pick<Database, "engine" | "query" | "write">;
  id: string;
  /**
   * Acts on a change: from its end on, nothing of what was true before is used. Undefined: makes anew all that is kept.
   * Where it fails the change is not confirmed, and is tried again with the next beat.
   */
  applyChange: (change: Change | undefined) => Promise<void> | void;
  /** Called when this node is live no more: what goes on without asking `isLive` ends. */
  onLeaseLost?: () => void;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
  /** Milliseconds of a clock that only goes forward. */
  timer?: () => number;
  now?: () => Sql;
};

/** A node that is not live until its first beat. Its owner beats every `beatEveryMs`. */
export function openNode(options: NodeOptions): Node {
  const { db, id, applyChange, onLeaseLost, log, timer = () => performance.now(), now = () => databaseTime(db.engine) } = options;
  const isShared = db.engine !== "sqlite";
  let liveUntil = -Infinity;
  let current = id;
  let leases = 0;
  let seen = 0;
  let isAway = false;
  let liveNodes = 1;
  let last = Promise.resolve();
  let watch: NodeJS.Timeout | undefined;
  const isLive = () => timer() < liveUntil;

  async function heartbeat(): Promise<void> {
    try {
      if (!isLive()) await beginAnew();
      await catchUp();
      if (isShared) await prolong();
      else if (!isLive()) {
        current = nextLease();
        liveUntil = Infinity;
      }
    } catch (error) {
      if (!isShared) end(); // no lease that runs out does it
      if (!isLive() && !isAway)
        log.warn({ reason: String(error) }, "this node has no lease: it uses nothing that it keeps until it has one");
      isAway = !isLive();
      return;
    }
    if (isAway) log.info({}, "this node has a lease again");
    isAway = false;
  }

  /** The number comes first: what is read after it may be newer than it says, never older. */
  async function beginAnew(): Promise<void> {
    const number = await lastChange(db);
    await applyChange(undefined);
    seen = number;
  }

  async function catchUp(): Promise<void> {
    for (const change of await changesAfter(db, seen)) {
      await applyChange(change);
      seen = change.number;
    }
  }

  async function prolong(): Promise<void> {
    const sentAt = timer();
    if (isLive()) await goOn();
    else await live();
    liveUntil = sentAt + leaseMs - marginMs;
    clearTimeout(watch);
    watch = setTimeout(() => isLive() || onLeaseLost?.(), Math.max(0, liveUntil - timer()) + 1).unref();
  }

  async function goOn(): Promise<void> {
    const held = await db.write((tx) => renewLease(tx, current, seen, leaseMs, now()));
    // Told too late it is lost as well: others may have seen it ended before this was committed.
    if (held > 0 && isLive()) return void (liveNodes = held);
    end();
    throw new Error("the lease has ended before it was prolonged");
  }

  async function live(): Promise<void> {
    const fresh = nextLease();
    let count = 1;
    await db.write(async (tx) => {
      await deleteNode(tx, current);
      await takeLease(tx, fresh, seen, leaseMs, now());
      count = await countLive(tx, now());
    });
    // The other nodes may just have lost their leases too, and get new ones in a moment.
    liveNodes = Math.max(liveNodes, count);
    current = fresh;
    // Before it had a lease nobody waited for this node: it looks once more before it is live.
    await catchUp();
  }

  const nextLease = (): string => `${id}/${++leases}`;

  function end(): void {
    clearTimeout(watch);
    liveUntil = -Infinity;
    onLeaseLost?.();
  }

  function next(work: () => Promise<void>): Promise<void> {
    last = last.then(work);
    return last;
  }

  return {
    isLive,
    liveNodes: () => liveNodes,
    leaseId: () => (isLive() ? current : undefined),
    // There every other life has ended, those of earlier processes too.
    hasEnded: (column) => (isShared ? leaseHasEnded(column, now()) : sql`${column} IS DISTINCT FROM ${current}`),
    heartbeat: () => next(heartbeat),
    leave: () =>
      next(async () => {
        end();
        // A lease that cannot be given up expires.
        if (isShared) await db.write((tx) => deleteNode(tx, current)).catch(() => undefined);
      }),
  };
}

/** Deletes changes and nodes that are long past: to be called every minute or so. */
export function expireNodes(db: Database): Promise<void> {
  return db.write((tx) => expireChanges(tx, databaseTime(db.engine)));
}
