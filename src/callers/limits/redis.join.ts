import { dayMs } from "./windows.ts";
import { prefix, scriptStart } from "./redis.script.ts";

/** Subtracted from the count of a connection to fence it: a number that no count ever reaches. */
const fencedBy = 1e15;

/** The key that counts the scripts that one connection of a node has run. */
export const runsKey = (node: string, connection: number): string => `${prefix}runs:${node}:${connection}`;

/**
 * Fences the node's last connection, so that its scripts do nothing if they arrive later, and starts the count of the next.
 * KEYS: the counts of the last connection and of the next.
 * Answer: the number of scripts that the last connection has run, as text; nil if Redis does not know it. Repeating the
 * script gives the same answer.
 */
export const fenceScript = `
local ran = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[2], '0', 'PX', ${dayMs})
if not ran then return nil end
if tonumber(ran) >= 0 then
  redis.call('SET', KEYS[1], string.format('%d', tonumber(ran) - ${fencedBy}), 'PX', ${dayMs})
  return ran
end
return string.format('%d', tonumber(ran) + ${fencedBy})
`;

/**
 * Adds the requests that a node admitted while it counted alone, in the windows that have not ended.
 * KEYS: see `scriptStart`. ARGV: after the first two, for each meter "1" if its day counts, then three numbers for its minute
 * and three for its day: the window's number, the used requests that the node knew of before, and the requests to add.
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
 * Reports that a node is connected and has added all requests that it admitted alone. Redis numbers the
 * heartbeats, so that nodes need not compare clocks. A heartbeat may arrive long after it was sent, so Redis records with it the
 * number of the node's previous heartbeat: the node certainly sent this one after that.
 * KEYS: `heartbeatKeys`, then the count of the node's connection. ARGV: the node, the number of its previous heartbeat (0: none), and the number
 * of the node's first heartbeat on this connection (`+inf`: none yet).
 * Answer: the number of this heartbeat, and how many nodes have sent one since that first one.
 */
export const heartbeatScript = `
local number = redis.call('INCR', KEYS[2])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1001)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${dayMs}) end
return {number, redis.call('ZCOUNT', KEYS[1], ARGV[3], '+inf')}
`;
