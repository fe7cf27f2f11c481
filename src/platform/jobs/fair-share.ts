import {
  addPartUsage,
  countPart,
  everyPart,
  inMostWaiting,
  type KeyParts,
  openParts,
  openUsage,
  type PartsOf,
  partsUsed,
  type Usage,
} from "./key-parts.ts";
import { createTally, type Tally } from "./tally.ts";

/** How many places there are, and how much work may wait for one. */
export type ShareLimits = {
  /** Places in all. Default: unbounded. */
  max?: number;
  /** Places of `max` kept for work without a key. Default: 0. */
  reserved?: number;
  /** Places that one key may hold. Default: half of what keys may take, a third for each of two keys, and so on. */
  maxPerKey?: number;
  /** Work that may wait, of all keys together. Default: unbounded. */
  waitingMax?: number;
  /** Work of one key that may wait. Default: unbounded. */
  waitingMaxPerKey?: number;
  /** The longest wait (ms). Default: unbounded. */
  waitMs?: number;
};

/** Why work gets no place. */
export type Refusal = "queue full" | "waited too long";

export type ShareLoad = { inUse: number; waiting: number; refused: number };

/** The places of a queue, and the work that has one or waits. Only the functions below change it. */
export type FairShare<K> = Required<ShareLimits> &
  ShareLoad & {
    held: Tally<K>;
    inUseByKeys: number;
    /** Waiting work, oldest first, by key; `undefined` stands for work without a key. Keys that have used the same take turns in this order. */
    queues: Map<K | undefined, Waiter[]>;
    usage: Usage<K>;
    parts: KeyParts<K> | undefined;
    /** Refuses work that waits too long; undefined while nothing waits. */
    timer: NodeJS.Timeout | undefined;
    /** Makes the error of work that gets no place. */
    refusal: (refusal: Refusal) => Error;
  };

/** `settle` is called once: without a refusal when the work gets its place. Work of one `kind` may be done together. `since`: when the wait began, by `monotonic`. */
type Waiter = { settle: (refusal: Refusal | undefined) => void; kind: unknown; since: number };

/**
 * Shares places between keys, such as accounts or addresses, so that no key keeps the others out.
 *
 * - Share: while half of the places are free, any key may take one. Beyond that a key that is alone may hold half of them,
 *   each of two keys a third, and so on; or `maxPerKey`, if that is set.
 * - Reserved places: work without a key may use every place, has `reserved` of them to itself, and goes first.
 * - Turns: work that finds no place waits. A free place goes to the key that has used least of them lately, in the ms that `release` counts,
 *   and to the oldest work of that key. Keys that have used the same take turns; so do all keys of a queue that counts no time.
 * - Parts: with `parts` a key counts for each of its parts, such as a site and an address. The sites share the places, and so do the
 *   addresses. A free place goes to the key whose parts have used least: the part that has used most decides, then the other.
 * - Bounds: when too much work waits, the newest work of the key with the longest queue is refused. Work that has waited for
 *   `waitMs` is refused too.
 *
 * A key without work takes memory only while it has used something lately, and of those at most 10,000 are remembered.
 *
 * @param parts returns the parts of a key, `count` of them. Default: keys have no parts
 */
export function openFairShare<K>(
  limits: ShareLimits,
  refusal = refusedUnexpectedly,
  now: () => number = monotonic,
  parts?: { count: number; of: PartsOf<K> },
): FairShare<K> {
  const unbounded = { max: Infinity, reserved: 0, maxPerKey: Infinity, waitingMax: Infinity, waitingMaxPerKey: Infinity, waitMs: Infinity };
  const load = { inUse: 0, inUseByKeys: 0, waiting: 0, refused: 0 };
  const opened = parts && openParts(parts.count, parts.of, now);
  return {
    ...unbounded,
    ...limits,
    ...load,
    held: createTally(),
    queues: new Map(),
    usage: openUsage(now),
    parts: opened,
    timer: undefined,
    refusal,
  };
}

const monotonic = (): number => performance.now();

/** Takes a place. Returns undefined if one is free, the refusal, or a promise of either if the work has to wait. The caller releases the place. */
export function acquire<K>(share: FairShare<K>, key: K | undefined): Refusal | undefined | Promise<Refusal | undefined> {
  if (share.queues.has(key) || !isFree(share, key)) {
    const refusal = roomFor(share, key);
    return refusal ?? new Promise((settle) => enqueue(share, key, settle, undefined));
  }
  occupy(share, key);
  return undefined;
}

/**
 * Makes work wait for `admitNext` even if a place is free, and calls `settle` once, when the work has a place or is refused: for a caller that
 * decides when the next work begins. Returns the refusal if too much waits already.
 */
export function addWaiting<K>(share: FairShare<K>, key: K | undefined, settle: Waiter["settle"], kind?: unknown): Refusal | undefined {
  const refusal = roomFor(share, key);
  if (refusal === undefined) enqueue(share, key, settle, kind);
  return refusal;
}

/** Like `acquire`. Calls `onWaited` with the seconds that the work waited, if it had to. */
export async function acquireTimed<K>(
  share: FairShare<K>,
  key: K | undefined,
  onWaited: (seconds: number) => void,
): Promise<Refusal | undefined> {
  const acquired = acquire(share, key);
  if (!(acquired instanceof Promise)) return acquired;
  const begunAt = performance.now();
  const refusal = await acquired;
  onWaited((performance.now() - begunAt) / 1_000);
  return refusal;
}

/**
 * Gives a place back, and passes it on to the work whose turn it is.
 *
 * @param usedMs for how long the place was held, or how much of that time counts against the key. Default: 0
 */
export function release<K>(share: FairShare<K>, key: K | undefined, usedMs = 0): void {
  vacate(share, key, usedMs);
  while (admitNext(share));
}

/** Runs work once it has a place. If it gets none, returns the result of `refused`, which may throw. Default: throws the queue's refusal. */
export async function runInTurn<K, Result>(
  share: FairShare<K>,
  key: K | undefined,
  work: () => Promise<Result>,
  refused?: (refusal: Refusal) => Result,
): Promise<Result> {
  const acquired = acquire(share, key);
  const refusal = acquired instanceof Promise ? await acquired : acquired;
  if (refusal !== undefined) {
    if (refused) return refused(refusal);
    throw share.refusal(refusal);
  }
  const begunAt = share.usage.now();
  try {
    return await work();
  } finally {
    release(share, key, share.usage.now() - begunAt);
  }
}

/**
 * Takes a place for work that goes on after the caller has returned. Returns the function that gives it back, which may be called repeatedly.
 * Throws the queue's refusal.
 */
export async function takePlace<K>(share: FairShare<K>, key: K): Promise<() => void> {
  const refusal = await acquire(share, key);
  if (refusal !== undefined) throw share.refusal(refusal);
  let isHeld = true;
  return () => {
    if (isHeld) release(share, key);
    isHeld = false;
  };
}

/** Gives a place back without passing it on. */
export function vacate<K>(share: FairShare<K>, key: K | undefined, usedMs: number): void {
  share.inUse -= 1;
  if (key === undefined) return;
  share.inUseByKeys -= 1;
  if (share.parts) countPart(share.parts, key, "held", -1);
  else share.held.take(key);
  if (usedMs <= 0) return;
  if (share.parts) addPartUsage(share.parts, key, usedMs);
  else share.usage.add(key, usedMs);
}

/** Gives a free place to the work whose turn it is. Returns false if no place is free, no work waits that may take it, or `mayBegin` refuses its key. */
export function admitNext<K>(share: FairShare<K>, mayBegin: (key: K | undefined) => boolean = () => true): boolean {
  if (share.waiting === 0 || share.inUse >= share.max) return false;
  const key = share.queues.has(undefined) ? undefined : nextKey(share);
  const queue = share.queues.get(key);
  if (queue === undefined || !mayBegin(key)) return false;
  admitFirst(share, key, queue);
  return true;
}

/** Gives free places to up to `max` pieces of work of a kind that come next, and stops before work of another kind. */
export function admitNextOf<K>(share: FairShare<K>, kind: unknown, max: number): void {
  const used = (key: K | undefined): number => (key === undefined ? -1 : share.usage.scaled(key));
  const turns = [...share.queues].map(([key, queue]) => ({ key, queue, used: used(key) }));
  let left = max;
  for (const { key, queue } of turns.toSorted((a, b) => a.used - b.used)) {
    for (; left > 0 && queue.length > 0 && isFree(share, key); left--) {
      if (queue[0]!.kind !== kind) return;
      admitFirst(share, key, queue);
    }
  }
}

function admitFirst<K>(share: FairShare<K>, key: K | undefined, queue: Waiter[]): void {
  const first = queue[0]!;
  leave(share, key, first);
  passTurn(share, key, queue);
  occupy(share, key);
  first.settle(undefined);
}

/** Settles up to `max` pieces of work of a key and kind, which use a place that the key holds. */
export function admitAlong<K>(share: FairShare<K>, key: K | undefined, kind: unknown, max: number): void {
  const along =
    share.queues
      .get(key)
      ?.filter((one) => one.kind === kind)
      .slice(0, max) ?? [];
  for (const one of along) {
    leave(share, key, one);
    one.settle(undefined);
  }
}

function refusedUnexpectedly(refusal: Refusal): Error {
  return new Error(`work was refused though its queue has no bound: ${refusal}`);
}

function isFree<K>(share: FairShare<K>, key: K | undefined): boolean {
  if (share.inUse >= share.max) return false;
  if (key === undefined) return true;
  const forKeys = share.max - share.reserved;
  if (share.inUseByKeys >= forKeys) return false;
  if (share.maxPerKey === Infinity && share.inUseByKeys < forKeys / 2) return true;
  const mayTake = (own: number, { counts }: Pick<Tally<unknown>, "counts">): boolean =>
    own < (share.maxPerKey === Infinity ? forKeys / (counts.size + (own === 0 ? 2 : 1)) : share.maxPerKey);
  return share.parts ? everyPart(share.parts, key, mayTake) : mayTake(share.held.of(key), share.held);
}

function occupy<K>(share: FairShare<K>, key: K | undefined): void {
  share.inUse += 1;
  if (key === undefined) return;
  share.inUseByKeys += 1;
  if (share.parts) countPart(share.parts, key, "held", 1);
  else share.held.add(key);
}

/** The waiting key that has used least lately. Skips the keys that hold their full share. */
function nextKey<K>(share: FairShare<K>): K | undefined {
  const { parts, usage } = share;
  let next: K | undefined;
  let [least, leastOfOther] = [Infinity, Infinity];
  for (const key of share.queues.keys()) {
    if (key === undefined) continue;
    const [used = 0, other = 0] = parts ? partsUsed(parts, key) : [usage.scaled(key)];
    if (used > least || (used === least && other >= leastOfOther) || !isFree(share, key)) continue;
    next = key;
    [least, leastOfOther] = [used, other];
    if (used === 0) break;
  }
  return next;
}

function passTurn<K>({ queues }: FairShare<K>, key: K | undefined, queue: Waiter[]): void {
  if (queues.delete(key)) queues.set(key, queue);
}

/** Makes room for work that has to wait; returns the refusal if there is none. */
function roomFor<K>(share: FairShare<K>, key: K | undefined): Refusal | undefined {
  const own = share.queues.get(key)?.length ?? 0;
  if (own < share.waitingMaxPerKey && (share.waiting < share.waitingMax || makeRoom(share, key, own + 1))) return undefined;
  share.refused += 1;
  return "queue full";
}

function enqueue<K>(share: FairShare<K>, key: K | undefined, settle: Waiter["settle"], kind: unknown): void {
  const one: Waiter = { settle, kind, since: monotonic() };
  const queue = share.queues.get(key);
  if (queue) queue.push(one);
  else share.queues.set(key, [one]);
  share.waiting += 1;
  if (share.parts && key !== undefined) countPart(share.parts, key, "waiting", 1);
  if (share.timer === undefined) watchWaits(share, one.since);
}

/** Starts the timer, which refuses work that waits too long. It is one for all work, because one for each would cost a small write 1 % more time. */
function watchWaits<K>(share: FairShare<K>, since: number): void {
  if (share.waitMs === Infinity) return;
  share.timer = setTimeout(
    () => {
      share.timer = undefined;
      refuseLate(share);
      if (share.waiting > 0)
        watchWaits(
          share,
          [...share.queues.values()].reduce((oldest, [first]) => Math.min(oldest, first!.since), Infinity),
        );
    },
    Math.max(0, since + share.waitMs - monotonic()), // some work may have become late meanwhile
  );
}

function stopWatching<K>(share: FairShare<K>): void {
  clearTimeout(share.timer);
  share.timer = undefined;
}

function refuseLate<K>(share: FairShare<K>): void {
  const latest = monotonic() - share.waitMs;
  for (const [key, queue] of share.queues)
    while (queue.length > 0 && queue[0]!.since <= latest) refuse(share, key, queue[0]!, "waited too long");
}

function leave<K>(share: FairShare<K>, key: K | undefined, one: Waiter): void {
  const queue = share.queues.get(key)!;
  if (queue[0] === one) queue.shift();
  else queue.splice(queue.indexOf(one), 1);
  if (queue.length === 0) share.queues.delete(key);
  share.waiting -= 1;
  if (share.waiting === 0) stopWatching(share);
  if (share.parts && key !== undefined) countPart(share.parts, key, "waiting", -1);
}

function refuse<K>(share: FairShare<K>, key: K | undefined, one: Waiter, refusal: Refusal): void {
  leave(share, key, one);
  share.refused += 1;
  one.settle(refusal);
}

/**
 * Refuses the newest work of the key with the longest queue, among those that have the part with most waiting work; returns false if the
 * newcomer would join that queue.
 */
function makeRoom<K>(share: FairShare<K>, newcomer: K | undefined, newLength: number): boolean {
  const { parts, queues } = share;
  const isCrowded = parts && newcomer !== undefined ? inMostWaiting(parts, newcomer) : () => true;
  let longest: K | undefined;
  let length = newcomer !== undefined && isCrowded(newcomer) ? newLength : 0;
  for (const [key, queue] of queues) {
    if (key !== undefined && queue.length > length && isCrowded(key)) [longest, length] = [key, queue.length];
  }
  const newest = longest === undefined ? undefined : queues.get(longest)?.at(-1);
  if (newest !== undefined) refuse(share, longest, newest, "queue full");
  return newest !== undefined;
}
