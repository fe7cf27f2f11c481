import { createCache, type Cache } from "../../platform/cache.ts";
import { guard, unbansChannel } from "./redis.generation.ts";
import { banMemoryMs } from "./strikes.ts";

/** When a ban ends, and how much of it was left when this node learned of it: all of it on the node that made the ban. */
type KnownBan = { until: number; lengthMs: number; isCallers: boolean };

/**
 * The bans that a node knows, which hold while Redis cannot be reached, and which it restores in a Redis that has lost them. `deleted`: when a ban was
 * deleted, by Redis' clock, since an answer from before may arrive later.
 */
export type Bans = { known: Cache<string, KnownBan>; deleted: Cache<string, number> };

export const openBans = (max: number): Bans => ({ known: createCache(max), deleted: createCache(max) });

/** Records a ban under the caller's key, also one of the key that made it. */
export function recordBan({ known, deleted }: Bans, [name, ...others]: readonly string[], now: number, leftMs: number): void {
  if (now < (deleted.peek(name!) ?? 0)) return;
  const [until, before] = [now + leftMs, known.peek(name!)];
  known.set(name!, { until, lengthMs: before?.until === until ? before.lengthMs : leftMs, isCallers: others.length === 0 });
}

/** Records a ban that this node has read in Redis. `text`: see `limitScript`. */
export function recordFoundBan({ known, deleted }: Bans, name: string, text: string): void {
  const [since = 0, lengthMs = 0] = text.split(" ").map(Number);
  if (since >= (deleted.peek(name) ?? 0)) known.set(name, { until: since + lengthMs, lengthMs, isCallers: true });
}

/** Records that a ban was deleted. `message`: see `unbanScript`. */
export function recordUnban({ known, deleted }: Bans, message: string): void {
  const [name = "", at] = message.split(" ");
  deleted.set(name, Number(at));
  // Keys that the key made may be known as banned because of it. If their own bans hold, the next answer says so.
  for (const [one, { isCallers }] of known) if (one === name || !isCallers) known.delete(one);
}

/** Returns the ms until the last of these bans ends; 0 if none is in force. */
export const banLeft = ({ known }: Bans, names: readonly string[], now: number): number =>
  Math.max(0, ...names.map((name) => (known.peek(name)?.until ?? 0) - now));

/** Yields the bans of keys themselves that have not ended: each one’s key, when it began, and its length. */
export function* knownBans({ known }: Bans, now: number): Generator<[name: string, since: number, lengthMs: number]> {
  for (const [name, { until, lengthMs, isCallers }] of known) if (isCallers && until > now) yield [name, until - lengthMs, lengthMs];
}

export function sweepBans({ known, deleted }: Bans, now: number): void {
  known.sweep(({ until }) => until <= now);
  deleted.sweep((at) => at <= now - banMemoryMs);
}

/**
 * Restores bans that Redis has lost.
 * KEYS, after the first two: the bans.
 * ARGV, after the first two, for each ban: when it began, in ms, and its length.
 */
export const banScript = `${guard}
for k = 3, #KEYS do
  local since, length = ARGV[2 * k - 3], ARGV[2 * k - 2]
  local foundSince, foundLength = string.match(found[k - 1] or '', '^(%d+) (%d+)$')
  if not foundSince or foundSince + foundLength < since + length then
    call('SET', KEYS[k], since .. ' ' .. length, 'PX', ${banMemoryMs + 7_200_000})
  end
end
return {}
`;

/**
 * Deletes a ban and the strikes of its key, and publishes that to all nodes.
 * KEYS: the ban; the strikes.
 * ARGV: the channel; the time in ms (empty: Redis' own clock).
 * Answer: how many of the two existed.
 */
export const unbanScript = `
local time = redis.call('TIME')
local now = ARGV[2] ~= '' and ARGV[2] or string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
local count = redis.call('DEL', KEYS[1], KEYS[2])
redis.call('PUBLISH', ARGV[1], KEYS[1] .. ' ' .. now)
return count
`;

export const banName = (prefix: string, keyId: number): string => `${prefix}ban:${keyId}`;

/** Returns the keys and arguments of `unbanScript`. */
export function unbanCall(prefix: string, keyId: number, now: number | undefined): { keys: string[]; args: (string | number)[] } {
  return { keys: [banName(prefix, keyId), `${prefix}strikes:${keyId}`], args: [unbansChannel(prefix), now ?? ""] };
}
