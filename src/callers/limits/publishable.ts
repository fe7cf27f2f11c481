import { type Decision, passed, type Quota } from "./windows.ts";

/** The quota of one address for its requests with the publishable keys of one account (specification 3.5). */
export const visitorQuota: Quota = { perMinute: 60, perDay: Infinity };

/** The quota that all publishable keys of an account share: half of the account's minute and day, rounded down. */
export function publishableShare({ perMinute, perDay }: Quota): Quota {
  return { perMinute: Math.floor(perMinute / 2), perDay: Math.floor(perDay / 2) };
}

/**
 * The requests used in the five windows in which a request with a publishable key counts: the visitor's minute, the minute and
 * day of all publishable keys of the account, and the account's minute and day.
 */
export type PublishableUse = {
  visitor: number;
  publishable: number;
  publishableDay: number;
  minute: number;
  day: number;
};

/** Returns a `pass` that shows the minute window and the day window with the fewest requests left. */
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
 * Whether a refused request with a secret key would have passed if nobody had used the publishable keys. Such a refusal is no
 * strike. `spared` counts the earlier refusals in the same windows that were no strikes by this rule: without the publishable
 * keys, those requests would have passed and counted too.
 */
export function isSpared(quota: Quota, account: WindowUse, publishable: WindowUse, spared: WindowUse): boolean {
  return account.minute - publishable.minute + spared.minute < quota.perMinute && account.day - publishable.day + spared.day < quota.perDay;
}

type WindowUse = { minute: number; day: number };
