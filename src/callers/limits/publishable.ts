import { type Decision, passed, type Quota } from "./windows.ts";

/** The quota of a caller's address on the publishable keys of one account (specification 3.5). */
export const visitorQuota: Quota = { perMinute: 60, perDay: Infinity };

/** The quota of all publishable keys of an account together: half of its minute and half of its day, rounded down. */
export function publishableShare({ perMinute, perDay }: Quota): Quota {
  return { perMinute: Math.floor(perMinute / 2), perDay: Math.floor(perDay / 2) };
}

/**
 * The requests used in the windows that a request with a publishable key counts in: the minute of the visitor, the minute and
 * the day of all publishable keys of the account, and the minute and the day of the account.
 */
export type PublishableUse = {
  visitor: number;
  publishable: number;
  publishableDay: number;
  minute: number;
  day: number;
};

/** Returns the decision with the figures of the minute and the day that have the fewest requests left. */
export function decidePublishable(now: number, quota: Quota, used: PublishableUse): Decision {
  const share = publishableShare(quota);
  let [perMinute, minuteUsed] = [visitorQuota.perMinute, used.visitor];
  if (share.perMinute - used.publishable < perMinute - minuteUsed) [perMinute, minuteUsed] = [share.perMinute, used.publishable];
  if (quota.perMinute - used.minute < perMinute - minuteUsed) [perMinute, minuteUsed] = [quota.perMinute, used.minute];
  const byShare = share.perDay - used.publishableDay < quota.perDay - used.day;
  const [perDay, dayUsed] = byShare ? [share.perDay, used.publishableDay] : [quota.perDay, used.day];
  return passed(now, perMinute, minuteUsed, perDay, dayUsed);
}

/**
 * Whether a refused request with a secret key would have passed if the publishable keys had used nothing. Such a refusal is
 * no strike. `spared` counts the refusals in the same windows that were no strikes by this rule.
 */
export function isSpared(quota: Quota, account: Used, publishable: Used, spared: Used): boolean {
  return account.minute - publishable.minute + spared.minute < quota.perMinute && account.day - publishable.day + spared.day < quota.perDay;
}

type Used = { minute: number; day: number };
