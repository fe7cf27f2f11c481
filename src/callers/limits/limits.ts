/**
 * How requests are limited (specification 4.2).
 *
 * **Windows.** A caller has a quota of requests per minute and per day, counted in fixed UTC windows (`windows.ts`). A
 * request passes if every window that it counts in has room, and then uses one request of each; otherwise it is refused
 * and uses none. Reading, deciding and counting are one step (one turn of the event loop in `memory.ts`, one
 * run of a script in `redis.ts`), so with k left exactly k of any number of simultaneous requests pass, and they see k-1 … 0.
 *
 * **Where a request counts.**
 *   a secret key       its account, whatever the number of its keys
 *   no valid key       the caller's address, an IPv6 one by its /64
 *   a publishable key  the caller's address at this account (60 a minute), the account's publishable keys together
 *                      (half of its minute and half of its day), and the account
 *   the dashboard      the person (300 a minute), never an account
 *
 * **Strikes and bans** (`strikes.ts`). A request refused because the account is over a limit is a strike on its key; on
 * a publishable key, which anybody may hold, on the caller's address at that account. A refusal of a secret key is no
 * strike if the request would have passed had the publishable keys used nothing (`publishable.ts`). One strike more than a fifth of
 * the requests per minute (at least 20) within a sliding minute bans: five minutes, twice as long each time within a day,
 * an hour at most. While a ban lasts, requests count nowhere.
 *
 * **Clocks.** One process counts by the system's clock, many nodes by that of Redis. If the clock jumps, no window grants its
 * quota twice, and no caller is refused for longer than the window (or the ban) lasts by the new time.
 *
 * **Bounds.** An account takes about 300 bytes of memory until two hours after the last day that it used, and so does an
 * address or a key with strikes. Each kind is bounded; beyond the bound the oldest entry is removed, which can give that
 * caller a fresh window, but never takes one away.
 *
 * **Restarts.** Without Redis, all counters, strikes and bans are saved to a file every second and at stop, and loaded at
 * start: a kill loses at most one second of counting. With Redis nothing is lost.
 *
 * **A slow or absent Redis.** A request waits for Redis' answer, and is never decided without it while Redis answers. Up
 * to 10,000 requests wait; further ones are refused as `unavailable`. An answer that takes over 500 ms means that Redis
 * cannot be reached. From then on each node admits its share: the requests that Redis last reported as left (the whole
 * quota in a window that begins later) divided by the live nodes, rounded down. Nodes publish Redis' answers to each
 * other, so that each knows how many are left. Refusals are then no strikes. When Redis is back, a node first adds the
 * requests that it admitted, and keeps to its share until every live node has done so: all nodes together never admit more
 * than the quota.
 */
import { Problem } from "../../platform/problem.ts";
import type { Decision, Quota } from "./windows.ts";

export type { Decision, Quota, Verdict } from "./windows.ts";
export { limitHeaders, pushLimitHeaders, replaceLimitHeaders } from "./headers.ts";

/** A value that memory returns at once and Redis after a round trip. Await it only if it is a promise, which saves a turn. */
export type Awaitable<T> = T | Promise<T>;

/** How close a key is to a ban. `bannedUntil` in ms since the epoch. */
export type StrikeStatus = { strikes: number; strikesRemaining: number; bannedUntil: number | undefined };

/** Where requests are counted: in this process by configuration, in Redis with all nodes, or in this process because Redis cannot be reached. */
export type Mode = "process" | "shared" | "alone";

/** The caller for whom a request was counted: an account or a person. `visitor` is the address of a request with a publishable key. */
export type Counted = { accountId: number; quota: Quota; visitor?: string | undefined } | { personId: number };

/** Counts requests. Only `unban` rejects: @throws Problem `unavailable` while Redis cannot be reached. */
export interface Limiter {
  /** A request with a secret key. */
  account(accountId: number, keyId: number, quota: Quota): Awaitable<Decision>;
  /** A request without a valid key. `address` as the socket or a trusted proxy reports it. */
  address(address: string): Awaitable<Decision>;
  /** A request with a publishable key; `quota` is the account's. The figures are those of the fullest windows. */
  publishable(accountId: number, address: string, quota: Quota): Awaitable<Decision>;
  /** A call of the dashboard by a signed-in person. */
  dashboard(personId: number): Awaitable<Decision>;
  /** The account's figures; counts nothing and is always a `pass`. */
  peekAccount(accountId: number, quota: Quota): Awaitable<Decision>;
  /** The address's figures, for preflights; counts nothing and is always a `pass`. */
  peekAddress(address: string): Awaitable<Decision>;
  /**
   * Gives back a request that passed, in the windows that it was counted in (`at` is its `Decision.at`), and returns the
   * caller's figures. A window that has ended since does not change.
   */
  giveBack(counted: Counted, at: number): Awaitable<Decision>;
  strikeStatus(keyId: number, quota: Quota): Awaitable<StrikeStatus>;
  /** Deletes a key's ban, strikes and earlier bans. Returns whether there were any. */
  unban(keyId: number): Awaitable<boolean>;
  mode(): Mode;
  /** Requests that this node has decided alone because Redis could not be reached. */
  decidedAlone(): number;
  /** Requests that are waiting to be counted. */
  waiting(): number;
  /** Removes some idle entries of this process, in bounded time. Called about once a second. */
  sweep(): void;
  close(): Awaitable<void>;
}

/** The quota of a signed-in person in the dashboard (specification 3.10). */
export const dashboardQuota: Quota = { perMinute: 300, perDay: Infinity };

/** Returns the problem that refuses a request because of its limits; undefined if it passes. */
export function refusalOf({ verdict, retryAfterSeconds }: Decision): Problem | undefined {
  switch (verdict) {
    case "pass":
      return undefined;
    case "key_banned":
      return new Problem(
        "key_banned",
        `This key is banned for another ${retryAfterSeconds} seconds, because it kept sending requests after they were refused.`,
      );
    case "unavailable":
      return new Problem("unavailable", `Too many requests are waiting to be counted. Try again in ${retryAfterSeconds} seconds.`);
    case "rate_limit_exceeded":
      return new Problem("rate_limit_exceeded", `The request limit is reached. Try again in ${retryAfterSeconds} seconds.`);
  }
}
