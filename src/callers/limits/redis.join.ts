import { dayMs } from "./windows.ts";
import { prefix, scriptStart } from "./redis.script.ts";

/** A number that no count of scripts reaches. Subtracted from a connection's count, it fences the connection. */
const fenceOffset = 1e15;

/** The key that counts the scripts that Redis ran on a node's connection. */
export const runsKey = (node: string, connection: number): string => `${prefix}runs:${node}:${connection}`;

/**
 * Fences the node's previous connection: scripts that were sent on it and arrive later do nothing. Starts the count of the new
 * connection. Idempotent: a second run gives the same answer.
 * KEYS: the counts of the previous and of the new connection.
 * Answer: the number of scripts that Redis ran on the previous connection, as text; nil if Redis has no such count.
 */
export const fenceScript = `
local ran = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[2], '0', 'PX', ${dayMs})
if not ran then return nil end
if tonumber(ran) >= 0 then
  redis.call('SET', KEYS[1], string.format('%d', tonumber(ran) - ${fenceOffset}), 'PX', ${dayMs})
  return ran
end
return string.format('%d', tonumber(ran) + ${fenceOffset})
`;

/**
 * Adds the requests that a node admitted while it counted alone, to the windows that have not ended. First raises each count to
 * the one that the node knows, in case Redis has lost data.
 * KEYS: see `scriptStart`.
 * ARGV, after the first two, for each meter: "1" if it has a quota per day, else "0"; then, for its minute and then for
 * its day: the window's number, the count that the node knows, and the requests to add.
 */
export const addScript = `${scriptStart}
for k = 2, #KEYS do
  local name, arg = KEYS[k], 3 + 7 * (k - 2)
  local meter = loadMeter(name, call('GET', name))
  meter[5] = ARGV[arg] == '1'
  if tonumber(ARGV[arg + 1]) == minute then meter[1] = math.max(meter[1], tonumber(ARGV[arg + 2])) + tonumber(ARGV[arg + 3]) end
  if tonumber(ARGV[arg + 4]) == day then meter[2] = math.max(meter[2], tonumber(ARGV[arg + 5])) + tonumber(ARGV[arg + 6]) end
  change(meter, name)
end
save()
return {now}
`;

export const heartbeatKeys = [`${prefix}nodes`, `${prefix}beats`];

/**
 * Reports that a node is connected and has added all requests that it admitted alone. Redis numbers the heartbeats of all nodes,
 * so nodes need not compare clocks. A heartbeat may arrive long after it was sent, so its own number does not
 * show when that was. But it names the node's previous heartbeat, so it was sent after that one: Redis records that number.
 * KEYS: `heartbeatKeys`, then the count of scripts of the node's connection.
 * ARGV: the node; the number of its previous heartbeat on this connection (0: none); the number of its first one (`+inf`: none).
 * Answer: the number of this heartbeat, and how many nodes have certainly sent one since the first one in ARGV.
 */
export const heartbeatScript = `
local number = redis.call('INCR', KEYS[2])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1001)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${dayMs}) end
return {number, redis.call('ZCOUNT', KEYS[1], ARGV[3], '+inf')}
`;
