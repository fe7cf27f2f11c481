import type { Clock } from "../../platform/clock.ts";
import { type Entries, openEntries } from "./entries.ts";
import type { LimitRequest } from "./redis.batch.ts";
import { prefix } from "./redis.script.ts";
import { dayMs, minuteMs } from "./windows.ts";

const accountsMax = 1_000_000;
const othersMax = 50_000;

/** One window of a meter, as this node knows it. */
type Part = {
  number: number;
  /** Requests used, as Redis last reported. */
  used: number;
  /** The outage that the next three fields belong to. */
  outage: number;
  /** Requests used when the outage began; 0 if the window began later. */
  usedBefore: number;
  /** Requests that this node has admitted since then. */
  admitted: number;
  /** The highest number of live nodes since then. */
  nodes: number;
  /** Requests that this node admitted and has not added in Redis yet. */
  pending: number;
};

type Meter = { minute: Part; day: Part; countsDays: boolean };
/** A script that was sent and not answered: Redis may or may not have run it. `putBack` is called if it has not. */
type UnsettledScript = { run: number; putBack: () => void };

/** Requests to add to a meter in Redis. Call `putBack` if they did not arrive: the ledger then keeps them for the next attempt. */
export type PendingRequests = { args: (string | number)[]; meter: string; putBack: () => void };

/**
 * What a node knows of the meters in Redis, so that it can decide without Redis. It admits its share of the requests that were
 * left when Redis was lost: their number divided by the live nodes, rounded down. In a window that begins later, it admits its
 * share of the whole quota. It divides by the highest number of live nodes since the loss, so that no share grows when a node
 * leaves. The time is that of Redis: the node's clock plus the difference that the last answer showed.
 */
export type Ledger = {
  clock: Clock;
  liveNodes: () => number;
  accounts: Entries<string, Meter>;
  others: Entries<string, Meter>;
  bans: Entries<string, { until: number }>;
  /** The number of the last outage, and of the live nodes when it began. */
  outage: number;
  nodesBefore: number;
  aheadMs: number;
  unsettled: UnsettledScript[];
  /** The answer that was noted last, and its windows. */
  last: { answer: number[] | undefined; minute: number; day: number };
};

export function openLedger(clock: Clock, liveNodes: () => number): Ledger {
  const isOld = ({ day }: Meter, now: number): boolean => Math.floor(now / dayMs) > day.number + 1;
  const hasEnded = ({ until }: { until: number }, now: number): boolean => until <= now;
  return {
    clock,
    liveNodes,
    accounts: openEntries<string, Meter>(accountsMax, newMeter, isOld),
    others: openEntries<string, Meter>(othersMax, newMeter, isOld),
    bans: openEntries<string, { until: number }>(othersMax, () => ({ until: 0 }), hasEnded),
    outage: 0,
    nodesBefore: 1,
    aheadMs: 0,
    unsettled: [],
    last: { answer: undefined, minute: 0, day: 0 },
  };
}

/** Records Redis' answer to a request, whose figures begin at `at`. */
export function noteAnswer(ledger: Ledger, asked: LimitRequest, answer: number[], at: number): void {
  const { last } = ledger;
  const now = answer[0]!;
  // Requests of one script share one answer, so this computes the windows once.
  if (answer !== last.answer) {
    ledger.aheadMs = now - ledger.clock();
    last.answer = answer;
    last.minute = Math.floor(now / minuteMs);
    last.day = Math.floor(now / dayMs);
  }
  let figure = at + 3;
  for (const name of asked.meters) noteFigures(ledger, name, last.minute, last.day, answer[figure++]!, answer[figure++]!);
  if (answer[at] === 2 && asked.ban !== undefined) ledger.bans.at(asked.ban).until = now + answer[at + 1]!;
}

/** Records a report of the figures that Redis gave to another node; for its form see `redis.script.ts`. */
export function noteReport(ledger: Ledger, message: string): void {
  const [head = "", ...lines] = message.split("\n");
  const [, minuteNumber, dayNumber] = head.split(" ");
  for (const line of lines) {
    const [name = "", minuteUsed, dayUsed] = line.split(" ");
    noteFigures(ledger, name, Number(minuteNumber), Number(dayNumber), Number(minuteUsed), Number(dayUsed));
  }
}

/**
 * Decides a request without Redis. The result has the form of the script's answer.
 *
 * @param run number of the script that the request was sent with, which may have counted it; 0 if it was not sent
 */
export function decideAlone(ledger: Ledger, asked: LimitRequest, run: number): number[] {
  const now = timeOf(ledger);
  const leftMs = banLeft(ledger, asked, now);
  const shares = sharesOf(ledger, asked, now);
  const verdict = leftMs > 0 ? 2 : asked.counting && !haveRoom(shares) ? 1 : 0;
  if (asked.counting && verdict === 0) {
    admit(shares);
    for (const share of shares) [share.minute, share.day] = [share.minute - 1, share.day - 1];
    putBackNowOrLater(ledger, run, addPending(shares.map(({ meter }) => meter)));
  }
  const used = shares.flatMap(({ minute, day, perMinute, perDay }) => [perMinute - minute, perDay === Infinity ? 0 : perDay - day]);
  return [now, verdict, leftMs, 0, ...used];
}

/** Gives a request back in the windows whose numbers are in `limits`; otherwise like `decideAlone`. */
export function giveBackAlone(ledger: Ledger, asked: LimitRequest, run: number): number[] {
  asked.meters.forEach((name, i) => {
    const { minute, day } = meterOf(ledger, name);
    giveBackPart(ledger, minute, asked.limits[2 * i], run);
    giveBackPart(ledger, day, asked.limits[2 * i + 1], run);
  });
  return peek(ledger, asked);
}

/** Uses up one request of this node's share for a request that Redis will count. Returns false, and uses none, if there is no room. */
export function reserve(ledger: Ledger, asked: LimitRequest): boolean {
  const shares = sharesOf(ledger, asked, timeOf(ledger));
  const hasRoom = haveRoom(shares);
  if (hasRoom) admit(shares);
  return hasRoom;
}

/** Returns the figures that this node knows, in the form of the script's answer; counts nothing. */
export function peek(ledger: Ledger, asked: LimitRequest): number[] {
  const now = timeOf(ledger);
  const used = asked.meters.flatMap((name) => {
    const { minute, day } = meterOf(ledger, name);
    enter(minute, Math.floor(now / minuteMs));
    enter(day, Math.floor(now / dayMs));
    return [minute.used, day.used];
  });
  return [now, 0, banLeft(ledger, asked, now), 0, ...used];
}

/** Starts the shares of an outage. */
export function beginOutage(ledger: Ledger): void {
  ledger.outage += 1;
  ledger.nodesBefore = ledger.liveNodes();
}

/** Records an unanswered script until `settleScripts` decides whether Redis has run it. */
export function addUnsettled(ledger: Ledger, script: UnsettledScript): void {
  ledger.unsettled.push(script);
}

/** Settles the unanswered scripts of the last connection, of which Redis has run the first `ran`. */
export function settleScripts(ledger: Ledger, ran: number): void {
  const unsettled = ledger.unsettled;
  ledger.unsettled = [];
  for (const { run, putBack } of unsettled) if (run > ran) putBack();
}

/**
 * Removes from the ledger the requests to add in Redis, and returns them. With `all`, returns every meter, for a Redis that
 * has lost its data.
 */
export function takePending({ accounts, others }: Ledger, all: boolean): PendingRequests[] {
  const pending: PendingRequests[] = [];
  for (const entries of [accounts, others]) {
    for (const [name, meter] of entries)
      if (all || meter.minute.pending !== 0 || meter.day.pending !== 0) pending.push(takeOne(name, meter));
  }
  return pending;
}

export function sweepLedger(ledger: Ledger): void {
  for (const entries of [ledger.accounts, ledger.others, ledger.bans]) entries.sweep(timeOf(ledger));
}

const timeOf = ({ clock, aheadMs }: Ledger): number => clock() + aheadMs;

function meterOf({ accounts, others }: Ledger, name: string): Meter {
  return (name.startsWith(`${prefix}account:`) ? accounts : others).at(name);
}

function banLeft({ bans }: Ledger, { ban }: LimitRequest, now: number): number {
  const until = ban === undefined ? undefined : bans.get(ban)?.until;
  return until === undefined ? 0 : Math.max(0, until - now);
}

/** The room that this node's share has in a meter's two windows. Answers show it as the remaining requests. */
type Share = { meter: Meter; minute: number; day: number; perMinute: number; perDay: number };

function sharesOf(ledger: Ledger, { meters, limits }: LimitRequest, now: number): Share[] {
  return meters.map((name, i) => {
    const meter = meterOf(ledger, name);
    const [perMinute = 0, perDay = 0] = limits.slice(2 * i);
    meter.countsDays = perDay !== Infinity;
    const minute = roomIn(ledger, meter.minute, Math.floor(now / minuteMs), perMinute);
    const day = roomIn(ledger, meter.day, Math.floor(now / dayMs), perDay);
    return { meter, minute, day, perMinute, perDay };
  });
}

function roomIn({ outage, nodesBefore, liveNodes }: Ledger, part: Part, number: number, limit: number): number {
  enter(part, number);
  if (part.outage !== outage) Object.assign(part, { outage, usedBefore: part.used, admitted: 0, nodes: nodesBefore });
  part.nodes = Math.max(part.nodes, liveNodes());
  return Math.max(0, Math.floor(Math.max(0, limit - part.usedBefore) / part.nodes) - part.admitted);
}

function haveRoom(shares: Share[]): boolean {
  return shares.every(({ minute, day }) => minute > 0 && day > 0);
}

function admit(shares: Share[]): void {
  for (const { meter } of shares) {
    meter.minute.admitted += 1;
    meter.day.admitted += 1;
  }
}

function giveBackPart(ledger: Ledger, part: Part, number: number | undefined, run: number): void {
  if (part.number !== number) return;
  if (part.admitted > 0) part.admitted -= 1;
  putBackNowOrLater(ledger, run, () => void (part.number === number && (part.pending -= 1)));
}

/** Calls `putBack` at once if no script was sent; otherwise as soon as it is known that Redis has not run the script. */
function putBackNowOrLater(ledger: Ledger, run: number, putBack: () => void): void {
  if (run === 0) putBack();
  else addUnsettled(ledger, { run, putBack });
}

/** Returns a function that adds one request to `pending`, if the meters are still in the same windows when it is called. */
function addPending(meters: Meter[]): () => void {
  const parts = meters.flatMap(({ minute, day }) => [minute, day]).map((part) => ({ part, number: part.number }));
  return () => {
    for (const { part, number } of parts) if (part.number === number) part.pending += 1;
  };
}

function takeOne(name: string, { minute, day, countsDays }: Meter): PendingRequests {
  const taken = [minute, day].map((part) => ({ part, number: part.number, used: part.used, pending: part.pending }));
  for (const { part, pending } of taken) {
    part.used += pending;
    part.pending = 0;
  }
  return {
    meter: name,
    args: [countsDays ? "1" : "0", ...taken.flatMap(({ number, used, pending }) => [number, used, pending])],
    putBack() {
      for (const { part, number, pending } of taken) if (part.number === number) part.pending += pending;
    },
  };
}

function noteFigures(ledger: Ledger, name: string, minuteNumber: number, dayNumber: number, minuteUsed: number, dayUsed: number): void {
  const { minute, day } = meterOf(ledger, name);
  notePart(minute, minuteNumber, minuteUsed);
  notePart(day, dayNumber, dayUsed);
}

function notePart(part: Part, number: number, used: number): void {
  if (number < part.number) return; // the window has ended: another node's report arrived late
  if (number > part.number) enter(part, number);
  if (used > part.used) part.used = used;
}

/** Moves to the window with that number. If the clock went back, the figures stay: see `windows.ts`. */
function enter(part: Part, number: number): void {
  if (number > part.number) Object.assign(part, { used: 0, usedBefore: 0, admitted: 0, nodes: 1, pending: 0 });
  part.number = number;
}

const newMeter = (): Meter => ({ minute: newPart(), day: newPart(), countsDays: true });

const newPart = (): Part => ({ number: 0, used: 0, outage: 0, usedBefore: 0, admitted: 0, nodes: 1, pending: 0 });
