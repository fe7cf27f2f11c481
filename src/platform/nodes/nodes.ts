/**
 * How a change that takes something away (a key, a plan) reaches every node before it is answered.
 *
 * The change gets a number in its own transaction. Every node beats: it reads the changes that are new, forgets what they
 * name, and then writes the last number into its row, which prolongs its lease by a second. Whoever makes a change waits
 * until every node whose lease runs has written its number. A node that could not beat stops using what it keeps before
 * its lease ends in the database, so the wait is never longer than a lease; when it beats again it begins with nothing kept.
 *
 * Leases in the database are measured by the database's clock, a node's own view of its lease by a clock that only goes
 * forward, counted from before the beat was sent. So clocks that differ, or jump, do no harm.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import type { Database, Transaction } from "../db/database.ts";
import { Problem } from "../problem.ts";
import {
  changesAfter,
  countUnconfirmed,
  databaseTime,
  deleteNode,
  expireChanges,
  insertChange,
  lastChange,
  renewLease,
  type Change,
} from "./nodes.store.ts";

export type { Change } from "./nodes.store.ts";

/** How often a node should beat. */
export const beatEveryMs = 100;
const leaseMs = 1_000;
/** What a node leaves unused of its lease: more than two clocks drift apart within it. */
const marginMs = 100;
/** How often a change looks whether it is confirmed, and how many times at most. */
const lookEveryMs = 20;
const looksMax = 250;

/** Makes changes known. */
export type Announcer = {
  /** Numbers the change, in the transaction that makes it. */
  announce(tx: Transaction, change: Change): Promise<number>;
  /**
   * Resolves when no node acts any more on what was true before the change.
   *
   * @throws Problem `unavailable` when that cannot be found out; the change is made nevertheless
   */
  confirmed(number: number): Promise<void>;
};

/** For a database that this process has to itself: there is nobody to tell. */
export const noOtherNodes: Announcer = { announce: () => Promise.resolve(0), confirmed: () => Promise.resolve() };

export type AnnouncerOptions = {
  db: Database;
  /** The database's clock; lets tests move it. */
  now?: () => Sql;
  pause?: (ms: number) => Promise<void>;
};

/** For a database that several nodes share. A confirmation is waited for five seconds at most. */
export function openAnnouncer({ db, now = () => databaseTime, pause = sleep }: AnnouncerOptions): Announcer {
  return {
    announce: (tx, change) => insertChange(tx, change, now()),
    async confirmed(number) {
      for (let look = 0; look < looksMax; look++) {
        if ((await countUnconfirmed(db, number, now())) === 0) return;
        await pause(lookEveryMs);
      }
      throw new Problem("unavailable", "The change is made, but not every node has confirmed it.");
    },
  };
}

export type Node = {
  /** Whether what this node keeps may be used. */
  isLive(): boolean;
  /** Acts on what is new and renews the lease. Never rejects: a beat that fails is a beat that is missing. */
  beat(): Promise<void>;
  /** Gives up the lease, so that nobody waits for it. */
  leave(): Promise<void>;
};

export type NodeOptions = {
  db: Database;
  id: string;
  /** Forgets what a change names; undefined: forgets everything. */
  forget: (change: Change | undefined) => void;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
  /** Milliseconds of a clock that only goes forward. */
  timer?: () => number;
  now?: () => Sql;
};

/** A node that is not live until its first beat. Its owner beats every `beatEveryMs`. */
export function openNode({ db, id, forget, log, timer = () => performance.now(), now = () => databaseTime }: NodeOptions): Node {
  let liveUntil = -Infinity;
  let seen = 0;
  let isAway = false;
  let last = Promise.resolve();
  const isLive = () => timer() < liveUntil;

  async function beat(): Promise<void> {
    const sentAt = timer();
    try {
      seen = await db.write(async (tx) => {
        const number = isLive() ? await catchUp(tx) : await beginAnew(tx);
        await renewLease(tx, id, number, leaseMs, now());
        return number;
      });
    } catch (error) {
      if (!isLive() && !isAway) log.warn({ reason: String(error) }, "this node has no lease: it keeps nothing until it has one");
      isAway = !isLive();
      return;
    }
    liveUntil = sentAt + leaseMs - marginMs;
    if (isAway) log.info({}, "this node has a lease again");
    isAway = false;
  }

  async function catchUp(tx: Transaction): Promise<number> {
    const changes = await changesAfter(tx, seen);
    for (const change of changes) forget(change);
    return changes.at(-1)?.number ?? seen;
  }

  /** The number comes first: what is read after it, and kept, may be older than a later change, never than this one. */
  async function beginAnew(tx: Transaction): Promise<number> {
    const number = await lastChange(tx);
    forget(undefined);
    return number;
  }

  function next(work: () => Promise<void>): Promise<void> {
    last = last.then(work);
    return last;
  }

  return {
    isLive,
    beat: () => next(beat),
    leave: () =>
      next(async () => {
        liveUntil = -Infinity;
        // A lease that cannot be given up ends by itself.
        await db.write((tx) => deleteNode(tx, id)).catch(() => undefined);
      }),
  };
}

/** For a database that this process has to itself. */
export const onlyNode: Node = { isLive: () => true, beat: () => Promise.resolve(), leave: () => Promise.resolve() };

/** Deletes changes and nodes that are long past: to be called every minute or so. */
export function expireNodes(db: Database): Promise<void> {
  return db.write((tx) => expireChanges(tx, databaseTime));
}
