import { createCache, type Cache } from "../../platform/cache.ts";
import { type Clock, minuteMs, dayMs } from "../../platform/clock.ts";
import { banLeft, type Bans, openBans, recordBan, sweepBans } from "./redis.bans.ts";
import type { Rule } from "./redis.script.ts";

/** The most accounts, and the most other meters and bans, that a node knows. Its shards share them equally. */
const accountsMax = 1_000_000;
const othersMax = 50_000;

/** What this node knows of one window of a meter. */
type KnownWindow = {
  number: number;
  /** Requests used: the highest number reported by Redis or another node, plus requests that this node sent to Redis since. */
  used: number;
  /** The outage that `usedAtStart`, `admitted` and `nodes` describe. */
  outage: number;
  /** Requests used when the outage began; 0 if the window began later. */
  usedAtStart: number;
  /** Requests that this node has admitted from its share since then. */
  admitted: number;
  /** What was left of this node's share of the previous outage, if the counts were not complete again in between. */
  most: number;
  /** The highest number of live nodes since then, by which the share is divided. */
  nodes: number;
  /** Requests that this node admitted alone and has not added in Redis yet. Negative if it gave back more. */
  pending: number;
};

/** What this node knows of a meter. `name`: its key in Redis. */
export type Meter = { name: string; minute: KnownWindow; day: KnownWindow; countsDays: boolean };
/** A request to decide. `bans`: that of the caller first, then the others that count for it. */
export type LimitRequest = { rule: Rule; meters: readonly Meter[]; bans: readonly string[] };

/** A script that got no answer, so Redis may or may not have run it. `onNotRun` is called once it is known that Redis did not. */
type UnansweredScript = { run: number; onNotRun: () => void };

/** Figures for a meter in Redis. Call `putBack` if Redis did not run the script: the ledger then adds the requests next time. */
export type MeterFigures = { args: (string | number)[]; meter: Meter; putBack: () => void };

/**
 * What a node knows of the meters in Redis, so that it can decide during an outage (decision 0039).
 *
 * **Share.** When an outage begins, each window has some requests left. The node admits that number divided by the live nodes,
 * rounded down. In a window that begins during the outage, it admits its share of the whole quota. The divisor is the highest
 * number of live nodes since the outage began, so no share grows when a node leaves. If Redis is lost again before the counts are complete, a share
 * is at most what was left of the one before.
 *
 * **Pending requests.** When Redis is back, the node adds the requests that it admitted. Some of them were in scripts that got no
 * answer, which Redis may have run. Redis counts the scripts that it runs on each connection, so the node learns which ones
 * Redis did not run, and adds only their requests.
 *
 * **Time.** The node's clock plus `clockOffsetMs`, the difference to Redis' clock in its last answer.
 */
export type Ledger = {
  /** The prefix of the keys in Redis. */
  prefix: string;
  clock: Clock;
  liveNodes: () => number;
  accounts: Cache<number, Meter>;
  others: Cache<string, Meter>;
  /** The most entries of `accounts` and of `others`. */
  max: { accounts: number; others: number };
  bans: Bans;
  /** The number of the current or last outage; 0 before the first. */
  outage: number;
  /** The number of the first outage since the counts in Redis were complete. */
  firstOutage: number;
  /** The live nodes when it began. */
  nodesAtStart: number;
  clockOffsetMs: number;
  unanswered: UnansweredScript[];
  /** The last recorded answer; and the numbers of the minute and the day, of this answer or of the last sweep if that was later. */
  last: { answer: number[] | undefined; minute: number; day: number };
};

/** @param shards how many ledgers of this node share the memory */
export function openLedger(prefix: string, clock: Clock, liveNodes: () => number, shards = 1): Ledger {
  const max = { accounts: Math.ceil(accountsMax / shards), others: Math.ceil(othersMax / shards) };
  return {
    prefix,
    clock,
    liveNodes,
    accounts: createCache(max.accounts),
    others: createCache(max.others),
    max,
    bans: openBans(max.others),
    outage: 0,
    firstOutage: 0,
    nodesAtStart: 1,
    clockOffsetMs: 0,
    unanswered: [],
    last: { answer: undefined, minute: 0, day: 0 },
  };
}

/** Returns the meter of an account. Looks it up by the account's id, which is faster than by name. */
export function accountMeter({ accounts, prefix }: Ledger, accountId: number): Meter {
  return accounts.peek(accountId) ?? accounts.set(accountId, newMeter(`${prefix}${accountStart}${accountId}`));
}

/** Returns a meter that is not an account's. `name` lacks the prefix of all keys. */
export function otherMeter({ others, prefix }: Ledger, name: string): Meter {
  return others.peek(name) ?? others.set(name, newMeter(`${prefix}${name}`));
}

/** Records the figures in Redis' answer to a request, which begin at `offset`. */
export function recordAnswer(ledger: Ledger, request: LimitRequest, answer: number[], offset: number): void {
  const { last } = ledger;
  const now = answer[0]!;
  // The requests of one batch share one answer: compute its windows only once.
  if (answer !== last.answer) {
    ledger.clockOffsetMs = now - ledger.clock();
    last.answer = answer;
    last.minute = Math.floor(now / minuteMs);
    last.day = Math.floor(now / dayMs);
  }
  let figure = offset + 3;
  for (const meter of request.meters) recordFigures(meter, last.minute, last.day, answer[figure++]!, answer[figure++]!);
  if (answer[offset] === 2) recordBan(ledger.bans, request.bans, now, answer[offset + 1]!);
}

/** Whether Redis certainly has all meters of a request, because it counted requests in them lately: if it lacks one, it has lost data. */
export function hasKnownMeters({ last }: Ledger, { rule, meters }: LimitRequest): boolean {
  if (!rule.isCounting) return false;
  for (let i = 0; i < meters.length; i++) {
    const { minute, day } = meters[i]!;
    const isUsed =
      rule.limits[2 * i + 1] === Infinity ? minute.used > 0 && minute.number === last.minute : day.used > 0 && day.number === last.day;
    if (!isUsed) return false;
  }
  return true;
}

/** Records a report of another node's figures. `save` in `redis.script.ts` has its format. */
export function recordReport(ledger: Ledger, message: string): void {
  const [head = "", ...lines] = message.split("\n");
  const [, minuteNumber, dayNumber] = head.split(" ");
  for (const line of lines) {
    const [name = "", minuteUsed, dayUsed] = line.split(" ");
    recordFigures(
      meterOf(ledger, name.slice(ledger.prefix.length)),
      Number(minuteNumber),
      Number(dayNumber),
      Number(minuteUsed),
      Number(dayUsed),
    );
  }
}

/**
 * Records a meter that this node has read in Redis, if it has room. `name` lacks the prefix of all keys, and `bytes` are as `scriptStart` describes.
 */
export function recordMeter(ledger: Ledger, name: string, bytes: Buffer): void {
  const { accounts, others, max } = ledger;
  const [cache, most] = name.startsWith(accountStart) ? [accounts, max.accounts] : [others, max.others];
  if (cache.size() >= most) return;
  const [minuteUsed, dayUsed, minute, day] = [0, 4, 8, 12].map((at) => bytes.readUInt32LE(at)) as [number, number, number, number];
  recordFigures(meterOf(ledger, name), minute, day, minuteUsed, dayUsed);
}

/**
 * Decides a request without Redis, in the format of the script's answer.
 *
 * @param run number of the unanswered script that may have counted the request; 0 if none was sent
 */
export function decideAlone(ledger: Ledger, request: LimitRequest, run: number): number[] {
  const now = timeOf(ledger);
  const leftMs = banLeft(ledger.bans, request.bans, now);
  const shares = sharesOf(ledger, request, now);
  const verdict = leftMs > 0 ? 2 : request.rule.isCounting && !haveRoom(shares) ? 1 : 0;
  if (request.rule.isCounting && verdict === 0) {
    admit(shares);
    for (const share of shares) {
      share.minuteLeft -= 1;
      share.dayLeft -= 1;
    }
    callIfNotRun(ledger, run, pendingAdder(shares.map(({ meter }) => meter)));
  }
  const used = shares.flatMap(({ minuteLeft, dayLeft, perMinute, perDay }) => [
    perMinute - minuteLeft,
    perDay === Infinity ? 0 : perDay - dayLeft,
  ]);
  return [now, verdict, leftMs, 0, ...used];
}

/** Gives a request back in the windows whose numbers are in `limits`. For `run` and the result see `decideAlone`. */
export function giveBackAlone(ledger: Ledger, request: LimitRequest, run: number): number[] {
  request.meters.forEach(({ minute, day }, i) => {
    giveBackIn(ledger, minute, request.rule.limits[2 * i], run);
    giveBackIn(ledger, day, request.rule.limits[2 * i + 1], run);
  });
  return peek(ledger, request);
}

/** Counts a request in this node's share before Redis decides it. Returns false and counts nothing if the share is used up. */
export function reserve(ledger: Ledger, request: LimitRequest): boolean {
  const shares = sharesOf(ledger, request, timeOf(ledger));
  const hasRoom = haveRoom(shares);
  if (hasRoom) admit(shares);
  return hasRoom;
}

/** Returns the figures that this node knows, in the format of the script's answer. Counts nothing. */
export function peek(ledger: Ledger, request: LimitRequest): number[] {
  const now = timeOf(ledger);
  const used = request.meters.flatMap(({ minute, day }) => {
    enterWindow(minute, Math.floor(now / minuteMs));
    enterWindow(day, Math.floor(now / dayMs));
    return [minute.used, day.used];
  });
  return [now, 0, banLeft(ledger.bans, request.bans, now), 0, ...used];
}

/**
 * Starts an outage: from now on, shares divide the requests left at this moment.
 *
 * @param wasComplete whether the counts in Redis were complete, so that nothing is left of earlier shares
 */
export function beginOutage(ledger: Ledger, { wasComplete }: { wasComplete: boolean }): void {
  ledger.outage += 1;
  if (wasComplete) ledger.firstOutage = ledger.outage;
  ledger.nodesAtStart = ledger.liveNodes();
}

/** Keeps an unanswered script until `resolveUnanswered` is called. */
export function addUnanswered(ledger: Ledger, script: UnansweredScript): void {
  ledger.unanswered.push(script);
}

/** Calls `onNotRun` of each unanswered script that Redis did not run. It ran the first `ran` scripts of the connection. */
export function resolveUnanswered(ledger: Ledger, ran: number): void {
  const unanswered = ledger.unanswered;
  ledger.unanswered = [];
  for (const { run, onNotRun } of unanswered) if (run > ran) onNotRun();
}

/** Yields the figures of each meter with pending requests, and removes these from the ledger. */
export function* takePending({ accounts, others }: Ledger): Generator<MeterFigures> {
  for (const meters of [accounts, others]) {
    for (const [, meter] of meters) if (meter.minute.pending !== 0 || meter.day.pending !== 0) yield takePendingOf(meter);
  }
}

/** Yields what this node knows of each meter whose day has not ended, for a Redis that has lost data. */
export function* knownFigures(ledger: Ledger): Generator<MeterFigures> {
  const today = Math.floor(timeOf(ledger) / dayMs);
  for (const meters of [ledger.accounts, ledger.others]) {
    for (const [, meter] of meters) {
      const { minute, day, countsDays } = meter;
      if (day.number < today || day.used === 0) continue;
      yield { meter, args: [countsDays ? "1" : "0", minute.number, minute.used, 0, day.number, day.used, 0], putBack: () => undefined };
    }
  }
}

export function sweepLedger(ledger: Ledger): void {
  const now = timeOf(ledger);
  const today = Math.floor(now / dayMs);
  ledger.last = { answer: undefined, minute: Math.floor(now / minuteMs), day: today };
  for (const meters of [ledger.accounts, ledger.others]) meters.sweep(({ day }) => today > day.number + 1);
  sweepBans(ledger.bans, now);
}

/** The time by Redis' clock. */
export const timeOf = ({ clock, clockOffsetMs }: Ledger): number => clock() + clockOffsetMs;

const accountStart = "account:";

/** Returns the meter of a name, which lacks the prefix of all keys. */
function meterOf(ledger: Ledger, name: string): Meter {
  return name.startsWith(accountStart) ? accountMeter(ledger, Number(name.slice(accountStart.length))) : otherMeter(ledger, name);
}

/** How many requests of this node's share are left in each window of a meter. Answers show them as the remaining requests. */
type Share = { meter: Meter; minuteLeft: number; dayLeft: number; perMinute: number; perDay: number };

function sharesOf(ledger: Ledger, { meters, rule }: LimitRequest, now: number): Share[] {
  return meters.map((meter, i) => {
    const [perMinute = 0, perDay = 0] = rule.limits.slice(2 * i);
    meter.countsDays = perDay !== Infinity;
    const minuteLeft = leftIn(ledger, meter.minute, Math.floor(now / minuteMs), perMinute);
    const dayLeft = leftIn(ledger, meter.day, Math.floor(now / dayMs), perDay);
    return { meter, minuteLeft, dayLeft, perMinute, perDay };
  });
}

/** Returns how many requests of this node's share are left in a window. */
function leftIn({ outage, firstOutage, nodesAtStart, liveNodes }: Ledger, window: KnownWindow, number: number, limit: number): number {
  enterWindow(window, number);
  if (window.outage !== outage) {
    const most = window.outage >= firstOutage ? shareLeft(window, limit) : Infinity;
    Object.assign(window, { outage, usedAtStart: window.used, admitted: 0, most, nodes: nodesAtStart });
  }
  window.nodes = Math.max(window.nodes, liveNodes());
  return shareLeft(window, limit);
}

function shareLeft({ usedAtStart, admitted, most, nodes }: KnownWindow, limit: number): number {
  return Math.max(0, Math.min(most, Math.floor(Math.max(0, limit - usedAtStart) / nodes)) - admitted);
}

function haveRoom(shares: Share[]): boolean {
  return shares.every(({ minuteLeft, dayLeft }) => minuteLeft > 0 && dayLeft > 0);
}

function admit(shares: Share[]): void {
  for (const { meter } of shares) {
    meter.minute.admitted += 1;
    meter.day.admitted += 1;
  }
}

function giveBackIn(ledger: Ledger, window: KnownWindow, number: number | undefined, run: number): void {
  if (window.number !== number) return;
  if (window.admitted > 0) window.admitted -= 1;
  callIfNotRun(ledger, run, () => void (window.number === number && (window.pending -= 1)));
}

/** Calls `onNotRun`: now if no script was sent, otherwise once it is known that Redis did not run the script. */
function callIfNotRun(ledger: Ledger, run: number, onNotRun: () => void): void {
  if (run === 0) onNotRun();
  else addUnanswered(ledger, { run, onNotRun });
}

/** Returns a function that adds one pending request to each window, except to windows that have ended when it is called. */
function pendingAdder(meters: Meter[]): () => void {
  const windows = meters.flatMap(({ minute, day }) => [minute, day]).map((window) => ({ window, number: window.number }));
  return () => {
    for (const { window, number } of windows) if (window.number === number) window.pending += 1;
  };
}

function takePendingOf(meter: Meter): MeterFigures {
  const { minute, day, countsDays } = meter;
  const taken = [minute, day].map((window) => ({ window, number: window.number, used: window.used, pending: window.pending }));
  for (const { window, pending } of taken) {
    window.used += pending;
    window.pending = 0;
  }
  return {
    meter,
    args: [countsDays ? "1" : "0", ...taken.flatMap(({ number, used, pending }) => [number, used, pending])],
    putBack() {
      for (const { window, number, used, pending } of taken) {
        if (window.number !== number) continue;
        window.pending += pending;
        if (window.used === used + pending) window.used = used; // a higher number is one that Redis has reported meanwhile
      }
    },
  };
}

function recordFigures({ minute, day }: Meter, minuteNumber: number, dayNumber: number, minuteUsed: number, dayUsed: number): void {
  recordWindow(minute, minuteNumber, minuteUsed);
  recordWindow(day, dayNumber, dayUsed);
}

function recordWindow(window: KnownWindow, number: number, used: number): void {
  if (number < window.number) return; // a late report, of a window that has ended
  if (number > window.number) enterWindow(window, number);
  if (used > window.used) window.used = used;
}

/** Moves to the window with this number, which starts at zero. If the clock went back, keeps the figures instead. */
function enterWindow(window: KnownWindow, number: number): void {
  if (number > window.number) Object.assign(window, { used: 0, usedAtStart: 0, admitted: 0, most: Infinity, nodes: 1, pending: 0 });
  window.number = number;
}

const newMeter = (name: string): Meter => ({ name, minute: newWindow(), day: newWindow(), countsDays: true });

const newWindow = (): KnownWindow => ({
  number: 0,
  used: 0,
  outage: 0,
  usedAtStart: 0,
  admitted: 0,
  most: Infinity,
  nodes: 1,
  pending: 0,
});
