/**
 * How requests are limited (specification 4.2).
 *
 * **Windows.** A caller has a quota of requests per minute and per day, counted in fixed UTC windows (`windows.ts`). A
 * request passes if each of its windows has room, and then counts once in each; otherwise it is refused and counts in
 * none. Reading, deciding and counting are one step (one turn of the event loop in `memory.ts`, one run of a script in
 * `redis.ts`). So if k requests are left, exactly k of any number of simultaneous ones pass. Their answers show k-1 to 0 left.
 *
 * **Where a request counts.**
 *   a secret key       its account, whatever the number of its keys
 *   no valid key       the caller's address; with IPv6 its /64 network
 *   a publishable key  the caller's address at this account (60 a minute), the account's publishable keys together
 *                      (half of its minute and half of its day), and the account
 *   the dashboard      the person (300 a minute), never an account
 *
 * **Strikes and bans** (`strikes.ts`). A request that is refused because the account is over a limit is a strike on its
 * key. Anybody can read a publishable key, so there the strike is on the caller's address at that account. A refused request
 * with a secret key is no strike if it would have passed without the requests of publishable keys (`publishable.ts`). Within a
 * sliding minute a key may have one strike for every five requests per minute of its plan, but at least 20. The next strike
 * bans the key for five minutes. Each further ban within a day lasts twice as long, up to an hour. While a ban lasts, requests
 * count nowhere.
 *
 * **Clocks.** One process counts by the system's clock, many nodes by that of Redis. If the clock jumps, no window grants its
 * quota twice, and no caller is refused for longer than the window or the ban lasts on the new clock.
 *
 * **Bounds.** An account, an address or a key with strikes takes about 300 bytes of memory, until two hours after the end of the
 * UTC day of its last request. The number of entries of each kind is bounded. Beyond the bound the oldest entry is removed: its
 * caller may get a fresh window, but never loses requests.
 *
 * **Restarts.** Without Redis, all counters, strikes and bans are saved to a file every second and at stop, and loaded at
 * start: a kill loses at most one second of counting. With Redis nothing is lost.
 *
 * **A slow or absent Redis.** A request waits for Redis' answer: while Redis can be reached, nothing else decides. Up to
 * 10,000 requests wait; further ones are refused as `unavailable`. If an answer takes over 500 ms, the node treats Redis as
 * unreachable and admits its share: the requests that were left when Redis last answered, divided by the live nodes and
 * rounded down. In a window that begins later, the nodes share the whole quota. Nodes publish Redis' answers to each other,
 * so that each knows how many requests are left. A node that counts alone makes no strikes. When Redis is back, a node first
 * adds the requests that it admitted, and keeps to its share until every live node has done so. So all nodes together never
 * admit more than the quota.
 */
import type { Awaitable } from "../../platform/db/database.ts";
import type { ProblemFields } from "../../platform/problem.ts";
import type { Decision, Quota, Verdict } from "./windows.ts";

export type { Decision, Quota, Verdict } from "./windows.ts";
export { limitHeaders } from "./headers.ts";

/** How close a key is to a ban. `bannedUntil` in ms since the epoch. */
export type StrikeStatus = { strikes: number; strikesRemaining: number; bannedUntil: number | undefined };

/** Where requests are counted: in this process by configuration, in Redis with all nodes, or in this process because Redis cannot be reached. */
export type Mode = "process" | "shared" | "alone";

/** The caller that a request was counted for: an account, or a person in the dashboard. `visitor`: the address of a request with a publishable key. */
export type Counted = { accountId: number; quota: Quota; visitor?: string | undefined } | { personId: number };

/**
 * Counts requests. The limiter in memory returns its results at once, the one in Redis as promises. Only `unban` rejects:
 * @throws Problem `unavailable` while Redis cannot be reached
 */
export interface Limiter {
  /** A request with a secret key. */
  account(accountId: number, keyId: number, quota: Quota): Awaitable<Decision>;
  /** A request without a valid key. `address` as the socket or a trusted proxy reports it. */
  address(address: string): Awaitable<Decision>;
  /** A request with a publishable key; `quota` is the account's. The decision shows the minute and the day with the fewest requests left. */
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

const messages: Record<Exclude<Verdict, "pass">, (seconds: number) => string> = {
  key_banned: (seconds) => `This key is banned for another ${seconds} seconds, because it kept sending requests after they were refused.`,
  unavailable: (seconds) => `Too many requests are waiting to be counted. Try again in ${seconds} seconds.`,
  rate_limit_exceeded: (seconds) => `The request limit is reached. Try again in ${seconds} seconds.`,
};

let last: { refusal: ProblemFields; seconds: number } | undefined;

/** Returns the refusal of a request because of its limits; undefined if it passes. Requests of a flood share one object. */
export function refusalOf({ verdict, retryAfterSeconds: seconds }: Decision): ProblemFields | undefined {
  if (verdict === "pass") return undefined;
  if (last?.refusal.code !== verdict || last.seconds !== seconds)
    last = { refusal: { code: verdict, message: messages[verdict](seconds) }, seconds };
  return last.refusal;
}
