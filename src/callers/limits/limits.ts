/**
 * How requests are limited (specification 4.2).
 *
 * **Windows.** A caller has a quota of requests per minute and per day, counted in fixed UTC windows (`windows.ts`). A request
 * passes if each of its windows has room, and then counts once in each. Otherwise it is refused and counts in none. The limiter
 * reads, decides and counts in one atomic step: one turn of the event loop in `memory.ts`, one run of a Lua script in `redis.ts`.
 * So if k requests are left and more arrive at once, exactly k pass, and their answers show k-1 down to 0 remaining.
 *
 * **Where a request counts.**
 *   a secret key       its account, whatever the number of its keys
 *   no valid key       the caller's address; with IPv6 its /64 network
 *   a publishable key  the caller's address at the key's account (60 a minute); all publishable keys of that account
 *                      together (half of its minute and half of its day); and the account
 *   the dashboard      the member (300 a minute), never an account
 *
 * **Strikes and bans** (`strikes.ts`). A request that is refused because the account is over a limit is a strike on its key.
 * Anybody can read a publishable key, so its strikes fall on the caller's address at that account instead. A refused request
 * with a secret key is no strike if it would have passed without the requests of publishable keys (`publishable.ts`).
 * In any 60 seconds a key may have 20 strikes, or a fifth of its plan's requests per minute if that is more. The next strike bans
 * the key for five minutes. Each further ban within a day lasts twice as long, up to an hour. Requests of a banned key count nowhere.
 * The keys that it made by the API are banned with it, so a program cannot escape its ban through keys of its own.
 *
 * **Clocks.** A single process uses the system's clock; nodes that share a Redis use its clock. If the clock jumps, no window
 * grants its quota twice, and every refusal ends by the time its window or ban ends on the changed clock.
 *
 * **Memory.** An entry (an account, an address, a member, or a key with strikes) takes about 300 bytes. It is removed two hours
 * after the end of its last window, or 26 hours after its last strike or ban. Each kind has a maximum number of entries: beyond
 * it, a new entry replaces the oldest, whose caller starts again with a full quota.
 *
 * **Restarts.** Without Redis, all counters, strikes and bans are saved to a file every second and when the service stops, and
 * loaded when it starts: a kill loses at most one second of counting. With Redis nothing is lost while it or a node keeps running.
 *
 * **A slow or unreachable Redis** (decision 0039).
 *   Slow: while Redis answers within 500 ms, it alone decides, and each request waits for its answer. At most 10,000 requests
 *   wait on a node; further ones are refused as `unavailable`.
 *   Unreachable: after 500 ms without an answer the node counts alone. In each window it admits its share of the requests that
 *   were left: their number divided by the live nodes, rounded down. In a window that begins during the outage it admits its
 *   share of the whole quota. Every node knows how many requests are left, because nodes publish the figures of each
 *   decision to each other. A node that counts alone makes no strikes; the bans that it knows still hold.
 *   Back: a node first raises the counts in Redis to those that it knows, if Redis has lost some. Once every live node has, it adds the requests
 *   that it admitted alone; until every live node has done that too, a request must pass both Redis and the node's share. The two waits
 *   last for at most about five seconds after the last progress of another node.
 *   A process that starts decides nothing, and refuses as `unavailable`, until it counts together with the others or knows that Redis is unreachable.
 *   A node that joins reads all counts in Redis (decision 120).
 *   Gone back in time: if Redis has lost counts, all nodes learn of it before it decides anything, and proceed as if it had been away (decision 0116).
 *   Guarantee: all nodes together never admit more than the quota, except in the cases of decisions 0039 and 0116.
 */
import type { Awaitable } from "../../platform/db/database.ts";
import type { ProblemFields } from "../../platform/problem.ts";
import type { Decision, Quota, Verdict } from "./windows.ts";

/** How close a key is to a ban. `bannedUntil` in ms since the epoch. */
export type StrikeStatus = { strikes: number; strikesRemaining: number; bannedUntil: number | undefined };

/** `process`: counts in this process, without Redis. `shared`: counts in Redis with all nodes. `alone`: keeps to this node's share. */
export type Mode = "process" | "shared" | "alone";

/** The caller whose windows a request was counted in. `visitor`: the address that sent it, if it had a publishable key. */
export type CountedCaller = { accountId: number; quota: Quota; visitor?: string | undefined } | { memberId: number };

/**
 * Counts requests. The limiter in memory returns results, the one in Redis may return promises. Only a promise of `unban` can reject.
 *
 * @throws Problem `unavailable`, by `unban`, while Redis cannot be reached
 */
export interface Limiter {
  /** A request with a secret key. Bans of its `makers` count for it too. Default: none. */
  account(accountId: number, keyId: number, quota: Quota, makers?: readonly number[]): Awaitable<Decision>;
  /** A request without a valid key. `address` as the socket or a trusted proxy reports it. */
  address(address: string): Awaitable<Decision>;
  /** A request with a publishable key; `quota` is the account's. Shows the minute window and the day window with the fewest requests left. */
  publishable(accountId: number, address: string, quota: Quota): Awaitable<Decision>;
  /** A call of the dashboard by a signed-in member. */
  dashboard(memberId: number): Awaitable<Decision>;
  /** Returns the account's figures and counts nothing. The verdict is always `pass`. */
  peekAccount(accountId: number, quota: Quota): Awaitable<Decision>;
  /** Like `peekAccount`, for an address. */
  peekAddress(address: string): Awaitable<Decision>;
  /**
   * Subtracts a passed request from its windows that have not ended, and returns the caller's figures. `at` is the request's
   * `Decision.at`.
   */
  giveBack(counted: CountedCaller, at: number): Awaitable<Decision>;
  strikeStatus(accountId: number, keyId: number, quota: Quota, makers?: readonly number[]): Awaitable<StrikeStatus>;
  /** Deletes a key's ban, strikes and earlier bans. Returns whether there were any. */
  unban(keyId: number): Awaitable<boolean>;
  mode(): Mode;
  /** Requests that this node has decided alone because Redis could not be reached. */
  decidedAlone(): number;
  /** Requests that are waiting to be counted. */
  waiting(): number;
  /** Whether Redis may evict counts to free memory. */
  mayLoseCounts(): boolean;
  /** Removes some idle entries of this process, in bounded time. Called about once a second. */
  sweep(): void;
  close(): Awaitable<void>;
}

/** The quota of a member in the dashboard (specification 3.10). */
export const dashboardQuota: Quota = { perMinute: 300, perDay: Infinity };

const messages: Record<Exclude<Verdict, "pass">, (seconds: number) => string> = {
  key_banned: (seconds) => `This key is banned for another ${seconds} seconds, because it kept sending requests after they were refused.`,
  unavailable: (seconds) => `Too many requests are waiting to be counted. Try again in ${seconds} seconds.`,
  rate_limit_exceeded: (seconds) => `The request limit is reached. Try again in ${seconds} seconds.`,
};

/** The last refusal, reused so that a flood does not create an object for each request. */
let last: { refusal: ProblemFields; seconds: number } | undefined;

/** Returns the refusal for a decision; undefined if the request passes. */
export function refusalOf({ verdict, retryAfterSeconds: seconds }: Decision): ProblemFields | undefined {
  if (verdict === "pass") return undefined;
  if (last?.refusal.code !== verdict || last.seconds !== seconds)
    last = { refusal: { code: verdict, message: messages[verdict](seconds) }, seconds };
  return last.refusal;
}
