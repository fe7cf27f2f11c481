/**
 * How requests are limited (specification, part 8; decisions, part 4).
 *
 * **Windows.** A caller has a quota of requests per minute and per day, counted in fixed UTC windows (`windows.ts`). A
 * request passes when every window that it counts on has room, and then uses up one request of each; otherwise it is
 * refused and uses up none. Looking, deciding and counting are one step (one turn of the event loop in `memory.ts`, one
 * run of a script in `redis.ts`), so with k left exactly k of any number of simultaneous requests pass, and they see k-1 … 0.
 *
 * **Who counts where.**
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
 * an hour at most. A ban is looked at first; while it lasts, requests count nowhere.
 *
 * **Clocks.** In one process the clock is the system's, between many nodes it is Redis'. If it jumps, no window gives its
 * quota a second time, and nobody is held for longer than the window (or the ban) that the clock then shows.
 *
 * **Bounds.** An account costs some 300 bytes in memory until two hours after its last day, an address or a key with
 * strikes likewise. The numbers of all of them are bounded; beyond its bound the oldest is forgotten, which can give that
 * caller a fresh window, never take one away.
 *
 * **Restarts.** In memory all counters, strikes and bans are saved every second and at stop, and read at start: a kill
 * loses at most one second of counting. With Redis nothing is lost.
 *
 * **A slow or absent Redis.** A request waits for Redis' answer, and is never decided without it while Redis answers. Up
 * to 10,000 requests wait; further ones are refused as `unavailable`. An answer that takes over 500 ms means that Redis
 * cannot be reached. From then on each node admits its share: the requests that Redis last reported as left (the whole
 * quota in a window that begins later) divided by the live nodes, rounded down. Nodes publish Redis' answers to each
 * other, so that each knows how many are left. Refusals are then no strikes. When Redis is back, a node first adds the
 * requests that it admitted, and keeps to its share until every live node has done so: all nodes together never admit more
 * than the quota.
 */
import type { Decision, Quota } from "./windows.ts";

export type { Decision, Quota, Verdict } from "./windows.ts";
export { limitHeaders, pushLimitHeaders, replaceLimitHeaders } from "./headers.ts";
export { refusalOf } from "./refusals.ts";

/** What the memory store has at once, and Redis after a round trip: `await` it only if it is a promise. */
export type Awaitable<T> = T | Promise<T>;

/** How near to a ban a key is. `bannedUntil` in ms since the epoch. */
export type StrikeStatus = { strikes: number; strikesRemaining: number; bannedUntil: number | undefined };

/** Where requests are counted: in this process alone by choice, together in Redis, or alone because Redis cannot be reached. */
export type Mode = "process" | "shared" | "alone";

/** The caller that a request was counted for: an account or a person. `visitor` is the address of a request with a publishable key. */
export type Counted = { accountId: number; quota: Quota; visitor?: string | undefined } | { personId: number };

/** Counts requests. No operation rejects, but `unban` while Redis is away (`unavailable`). */
export interface Limiter {
  /** A request with a secret key. */
  account(accountId: number, keyId: number, quota: Quota): Awaitable<Decision>;
  /** A request without a valid key. `address` as the socket or a trusted proxy names it. */
  address(address: string): Awaitable<Decision>;
  /** A request with a publishable key; `quota` is the account's. The figures are those of the fullest windows. */
  publishable(accountId: number, address: string, quota: Quota): Awaitable<Decision>;
  /** A call of the dashboard by a signed-in person. */
  dashboard(personId: number): Awaitable<Decision>;
  /** How the account stands; counts nothing and is always a `pass`. */
  peekAccount(accountId: number, quota: Quota): Awaitable<Decision>;
  /** How the address stands, as for preflights; counts nothing and is always a `pass`. */
  peekAddress(address: string): Awaitable<Decision>;
  /**
   * Gives back a request that passed, to the caller and the time (`Decision.at`) that it was counted for, and returns how
   * many requests the caller has left. A window that has ended meanwhile is not changed.
   */
  giveBack(counted: Counted, at: number): Awaitable<Decision>;
  strikeStatus(keyId: number, quota: Quota): Awaitable<StrikeStatus>;
  /** Ends a key's ban and forgets its strikes and earlier bans. Answers whether there was anything to forget. */
  unban(keyId: number): Awaitable<boolean>;
  mode(): Mode;
  /** Requests that this node has decided alone because Redis could not be reached. */
  decidedAlone(): number;
  /** Requests that wait to be counted. */
  waiting(): number;
  /** Forgets some idle entries of this process, in bounded time: to be called every second or so. */
  sweep(): void;
  close(): Awaitable<void>;
}

/** What a signed-in person has in the dashboard (decisions, part 3). */
export const dashboardQuota: Quota = { perMinute: 300, perDay: Infinity };
