import { type Decision, passed, type Quota } from "./windows.ts";

/** What a caller's address has on the publishable keys of one account (decisions, part 3). */
export const visitorQuota: Quota = { perMinute: 60, perDay: Infinity };

/** What an account's publishable keys may take together: half of its minute. */
export function publishableShare(quota: Quota): number {
  return Math.floor(quota.perMinute / 2);
}

/** The decision that shows, of the three minutes that such a request counts on, the one with the fewest requests left. */
export function fullest(now: number, quota: Quota, used: { visitor: number; shared: number; minute: number; day: number }): Decision {
  let [perMinute, minuteUsed] = [visitorQuota.perMinute, used.visitor];
  const share = publishableShare(quota);
  if (share - used.shared < perMinute - minuteUsed) [perMinute, minuteUsed] = [share, used.shared];
  if (quota.perMinute - used.minute < perMinute - minuteUsed) [perMinute, minuteUsed] = [quota.perMinute, used.minute];
  return passed(now, perMinute, minuteUsed, quota.perDay, used.day);
}
