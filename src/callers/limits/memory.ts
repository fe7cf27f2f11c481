import { addressName } from "../../platform/addresses.ts";
import { createCache, type Cache } from "../../platform/cache.ts";
import { type Clock, minuteMs, dayMs } from "../../platform/clock.ts";
import { type CountedCaller, dashboardQuota, type Limiter, type StrikeStatus } from "./limits.ts";
import { decidePublishable, isSpared, publishableShare, visitorQuota } from "./publishable.ts";
import { restoreEntries, snapshotEntries } from "./snapshot.ts";
import { banLeftMs, banMemoryMs, newStrikes, recentStrikes, strike, strikesAllowed, type Strikes } from "./strikes.ts";
import { banned, giveBack, type Decision, hasRoom, newWindows, passed, type Quota, refused, roll, take, type Windows } from "./windows.ts";

/** How long (ms) idle entries stay, so that a clock that jumps ahead an hour and back loses no count. */
const graceMs = 2 * 60 * 60_000;

const accountsMax = 1_000_000;
/** The most entries of every other kind: addresses, visitors, members, and keys or visitors with strikes. */
const othersMax = 50_000;

/** The limiter of one process. No call returns a promise. It has no timers: its owner calls `sweep` and saves the state. */
export type MemoryLimiter = { [K in keyof Limiter]: (...args: Parameters<Limiter[K]>) => Awaited<ReturnType<Limiter[K]>> } & {
  /** Yields the whole state as lines of text, in pieces of about 50 KB. Requests may be counted while the caller writes a piece. */
  snapshot(): Iterable<string>;
  /** Restores lines of a snapshot, and skips damaged ones. */
  restore(lines: Iterable<string>): void;
  /** A number that grows with each change to save. Sweeping and restoring do not change it. */
  changes(): number;
  /** Entries in memory. */
  size(): number;
};

type State = {
  clock: Clock;
  /** The windows of each caller. `spared` counts the refusals that were no strikes: see `isSpared`. */
  meters: ReturnType<typeof openMeters>;
  /** Strikes and bans of each secret key, and of each visitor with a publishable key. */
  strikes: ReturnType<typeof openStrikes>;
  changes: number;
};

/** Counts in the memory of this process. `addressQuota` is the quota of a caller without a valid key. */
export function openMemoryLimiter({ clock, addressQuota }: { clock: Clock; addressQuota: Quota }): MemoryLimiter {
  const state: State = { clock, meters: openMeters(), strikes: openStrikes(), changes: 0 };
  const { meters, strikes } = state;
  return {
    account: (...request) => countAccount(state, ...request),
    address: (address) => count(state, windowsOf(meters.address, addressName(address)), addressQuota),
    publishable: (accountId, address, quota) => countPublishable(state, accountId, address, quota),
    dashboard: (memberId) => count(state, windowsOf(meters.person, memberId), dashboardQuota),
    peekAccount: (accountId, quota) => peek(meters.account.peek(accountId), quota, clock()),
    peekAddress: (address) => peek(meters.address.peek(addressName(address)), addressQuota, clock()),
    giveBack: (counted, at) => giveBackRequest(state, counted, at),
    strikeStatus: (_accountId, keyId, quota, makers = []) => strikeStatusOf(state, keyId, quota, makers),
    unban(keyId) {
      state.changes += 1;
      return strikes.key.delete(keyId);
    },
    mode: () => "process",
    decidedAlone: () => 0,
    waiting: () => 0,
    mayLoseCounts: () => false,
    close: () => undefined,
    sweep: () => sweep(state),
    snapshot: () => snapshotEntries(meters, strikes),
    restore: (lines) => restoreEntries(meters, strikes, lines),
    changes: () => state.changes,
    size: () => [...Object.values(meters), ...Object.values(strikes)].reduce((sum, cache) => sum + cache.size(), 0),
  };
}

function openMeters() {
  return {
    account: createCache<number, Windows>(accountsMax),
    address: createCache<string, Windows>(othersMax),
    publishable: createCache<number, Windows>(accountsMax),
    spared: createCache<number, Windows>(accountsMax),
    visitor: createCache<string, Windows>(othersMax),
    person: createCache<number, Windows>(othersMax),
  };
}

function openStrikes() {
  return {
    key: createCache<number, Strikes>(othersMax),
    visitor: createCache<string, Strikes>(othersMax),
  };
}

function windowsOf<K>(meters: Cache<K, Windows>, caller: K): Windows {
  return meters.peek(caller) ?? meters.set(caller, newWindows());
}

function strikesOf<K>(strikes: Cache<K, Strikes>, caller: K): Strikes {
  return strikes.peek(caller) ?? strikes.set(caller, newStrikes());
}

function sweep({ clock, meters, strikes }: State): void {
  const now = clock();
  for (const days of [meters.account, meters.address, meters.publishable, meters.spared])
    days.sweep((windows) => isDayLongOver(windows, now));
  for (const minutes of [meters.visitor, meters.person]) minutes.sweep((windows) => isMinuteLongOver(windows, now));
  for (const made of [strikes.key, strikes.visitor]) made.sweep((one) => hasOnlyOldStrikes(one, now));
}

function countAccount(state: State, accountId: number, keyId: number, quota: Quota, makers: readonly number[] = []): Decision {
  const { clock, meters, strikes } = state;
  const now = clock();
  const windows = windowsOf(meters.account, accountId);
  roll(windows, now);
  const leftMs = longestBanLeft(state, keyId, makers, now);
  if (leftMs > 0) return banned(figures(windows, quota, now), leftMs); // counts nowhere, so there is nothing to save
  state.changes += 1;
  if (hasRoom(windows, quota)) {
    take(windows);
    return figures(windows, quota, now);
  }
  const allowed = strikesAllowed(quota.perMinute);
  const decision = figures(windows, quota, now);
  if (!spare(state, accountId, windows, quota, now)) return refuseWithStrike(strikesOf(strikes.key, keyId), allowed, decision, now);
  return refused(decision, allowed - recentStrikes(strikes.key.peek(keyId) ?? newStrikes(), now));
}

/** Whether a refusal is no strike, because the requests of publishable keys caused it (`isSpared`). Counts it if so. */
function spare({ meters }: State, accountId: number, account: Windows, quota: Quota, now: number): boolean {
  const publishable = meters.publishable.peek(accountId);
  if (publishable === undefined) return false;
  const spared = windowsOf(meters.spared, accountId);
  roll(publishable, now);
  roll(spared, now);
  const isNoStrike = isSpared(quota, usedOf(account), usedOf(publishable), usedOf(spared));
  if (isNoStrike) take(spared);
  return isNoStrike;
}

function countPublishable(state: State, accountId: number, address: string, quota: Quota): Decision {
  const { clock, meters, strikes } = state;
  const now = clock();
  const name = `${accountId} ${addressName(address)}`;
  const [visitor, publishable, account] = [
    windowsOf(meters.visitor, name),
    windowsOf(meters.publishable, accountId),
    windowsOf(meters.account, accountId),
  ];
  for (const windows of [visitor, publishable, account]) roll(windows, now);
  const leftMs = banLeftOf(strikes.visitor.peek(name), now);
  if (leftMs > 0) return banned(publishableDecision(visitor, publishable, account, quota, now), leftMs);
  state.changes += 1;
  const fits = hasRoom(visitor, visitorQuota) && hasRoom(publishable, publishableShare(quota)) && hasRoom(account, quota);
  if (!fits) {
    const allowed = strikesAllowed(visitorQuota.perMinute);
    return refuseWithStrike(strikesOf(strikes.visitor, name), allowed, publishableDecision(visitor, publishable, account, quota, now), now);
  }
  for (const windows of [visitor, publishable, account]) take(windows);
  return publishableDecision(visitor, publishable, account, quota, now);
}

/** Counts a request of an address or a member: one meter, and no strikes. */
function count(state: State, windows: Windows, quota: Quota): Decision {
  const now = state.clock();
  state.changes += 1;
  roll(windows, now);
  if (!hasRoom(windows, quota)) return refused(figures(windows, quota, now), null);
  take(windows);
  return figures(windows, quota, now);
}

function giveBackRequest(state: State, counted: CountedCaller, at: number): Decision {
  const { clock, meters } = state;
  const now = clock();
  const giveBackTo = (windows: Windows): Windows => {
    roll(windows, now);
    giveBack(windows, at);
    return windows;
  };
  state.changes += 1;
  if ("memberId" in counted) return figures(giveBackTo(windowsOf(meters.person, counted.memberId)), dashboardQuota, now);
  const { accountId, quota, visitor: address } = counted;
  const account = giveBackTo(windowsOf(meters.account, accountId));
  if (address === undefined) return figures(account, quota, now);
  const visitor = giveBackTo(windowsOf(meters.visitor, `${accountId} ${addressName(address)}`));
  return publishableDecision(visitor, giveBackTo(windowsOf(meters.publishable, accountId)), account, quota, now);
}

function figures(windows: Windows, quota: Quota, now: number): Decision {
  return passed(now, quota.perMinute, windows.minute.used, quota.perDay, windows.day.used);
}

function publishableDecision(visitor: Windows, publishable: Windows, account: Windows, quota: Quota, now: number): Decision {
  const { minute, day } = usedOf(account);
  return decidePublishable(now, quota, {
    visitor: visitor.minute.used,
    publishable: publishable.minute.used,
    publishableDay: publishable.day.used,
    minute,
    day,
  });
}

function usedOf({ minute, day }: Windows): { minute: number; day: number } {
  return { minute: minute.used, day: day.used };
}

function peek(windows: Windows | undefined, quota: Quota, now: number): Decision {
  if (windows === undefined) return passed(now, quota.perMinute, 0, quota.perDay, 0);
  roll(windows, now);
  return figures(windows, quota, now);
}

function banLeftOf(strikes: Strikes | undefined, now: number): number {
  return strikes === undefined ? 0 : banLeftMs(strikes, now);
}

function longestBanLeft({ strikes }: State, keyId: number, makers: readonly number[], now: number): number {
  let leftMs = banLeftOf(strikes.key.peek(keyId), now);
  for (const maker of makers) leftMs = Math.max(leftMs, banLeftOf(strikes.key.peek(maker), now));
  return leftMs;
}

function refuseWithStrike(strikes: Strikes, allowed: number, decision: Decision, now: number): Decision {
  const remaining = strike(strikes, allowed, now);
  return remaining === -1 ? banned(decision, banLeftMs(strikes, now)) : refused(decision, remaining);
}

function strikeStatusOf(state: State, keyId: number, quota: Quota, makers: readonly number[]): StrikeStatus {
  const now = state.clock();
  const leftMs = longestBanLeft(state, keyId, makers, now);
  const made = recentStrikes(state.strikes.key.peek(keyId) ?? newStrikes(), now);
  const remaining = leftMs > 0 ? 0 : Math.max(0, strikesAllowed(quota.perMinute) - made);
  return { strikes: made, strikesRemaining: remaining, bannedUntil: leftMs > 0 ? now + leftMs : undefined };
}

function isDayLongOver(windows: Windows, now: number): boolean {
  return Math.floor((now - graceMs) / dayMs) > windows.day.number;
}

function isMinuteLongOver(windows: Windows, now: number): boolean {
  return Math.floor((now - graceMs) / minuteMs) > windows.minute.number;
}

function hasOnlyOldStrikes(strikes: Strikes, now: number): boolean {
  return now - Math.max(strikes.bannedAt, strikes.times.at(-1) ?? 0) > banMemoryMs + graceMs;
}
