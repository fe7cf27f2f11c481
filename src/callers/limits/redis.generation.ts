import { dayMs } from "../../platform/clock.ts";

/** The prefix of all keys and channels of a single server. */
const singlePrefix = "petstore:limits:";

/**
 * Hash tags whose slots are in the middles of sixteen equal parts of a cluster's slots, so that up to sixteen masters share them evenly. More tags would
 * make smaller batches (decision 0113).
 */
const tags = [18, 455, 333, 223, 553, 443, 95, 663, 265, 375, 908, 155, 985, 895, 405, 515];
const clusterPrefixes = tags.map((tag) => `${singlePrefix}{${tag}}:`);

/** The prefixes of keys that need to be on one server each. All keys of an account have the same one. */
export const prefixesOf = (kind: "single" | "sentinel" | "cluster"): string[] => (kind === "cluster" ? clusterPrefixes : [singlePrefix]);

/** The keys that all scripts of a node share, and the channel on which nodes send each other the figures of meters. `save` below makes the messages. */
export const runsKey = (prefix: string, node: string, connection: number): string => `${prefix}runs:${node}:${connection}`;
export const generationKey = (prefix: string): string => `${prefix}generation`;
export const reportsChannel = (prefix: string): string => `${prefix}reports`;
/** The channel on which nodes tell each other which bans are deleted. `unbanScript` makes the messages. */
export const unbansChannel = (prefix: string): string => `${prefix}unbans`;

/** The beginning of the error with which a script answers if it finds that Redis has lost counts. */
export const lostError = "LOST";

/**
 * The start of each script that decides or counts. It does so only if Redis still has all that it answered (decision 0116):
 *
 *   KEYS[1] counts the scripts that Redis ran on the node's connection. If it is not above ARGV[2], the number of answers that the node has received
 *   on it, Redis has gone back in time or lost its data. When the node reconnects, it sets the count of the old connection far below zero
 *   (`fenceScript`): a script that arrives later on the old connection does nothing.
 *   KEYS[2] is the generation of the counts: a random name. A script that finds a loss deletes it, and then no script of a node decides until the node
 *   has joined the next generation. ARGV[1] is the generation that the node has joined.
 *
 * A script that finds a loss is not counted as run.
 */
export const guard = `
local call, KEYS, ARGV = redis.call, KEYS, ARGV
local lost = redis.error_reply('${lostError} counts that this node knows are gone')
local ran = call('INCR', KEYS[1])
if ran < 0 then
  call('DECR', KEYS[1])
  return {}
end
local found = call('MGET', unpack(KEYS, 2))
if ran <= tonumber(ARGV[2]) then
  call('DEL', KEYS[1])
  if found[1] == ARGV[1] then call('DEL', KEYS[2]) end
  return lost
end
if found[1] ~= ARGV[1] then
  call('DECR', KEYS[1])
  return lost
end
`;

/** A number that no count of scripts reaches. Subtracted from a connection's count, it fences the connection. */
const fenceOffset = 1e15;

/** The keys of `fenceScript`. */
export const fenceKeys = (prefix: string, node: string, previous: number, connection: number): string[] => [
  runsKey(prefix, node, previous),
  runsKey(prefix, node, connection),
  generationKey(prefix),
  `${prefix}settled`,
];

/**
 * Fences the node's previous connection: scripts that were sent on it and arrive later do nothing. Starts the count of the new connection, as its
 * first script. Begins a new generation if there is none, or if Redis lacks scripts that it has answered and no other node has noticed. Idempotent.
 * KEYS: `fenceKeys`.
 * ARGV: the generation that the node has joined; the number of answers that it has received on the previous connection; the name of a new generation;
 * and the run id of this server, which every start changes.
 * Answer: the number of scripts that Redis ran on the previous connection, as text (nil if Redis has no such count); the generation; and 1 if its
 * counts were complete since this server started.
 */
export const fenceScript = `
local text = redis.call('GET', KEYS[1])
local ran = tonumber(text)
if ran and ran < 0 then ran = ran + ${fenceOffset} end
local generation = redis.call('GET', KEYS[3])
if not generation or (generation == ARGV[1] and (ran or 0) < tonumber(ARGV[2])) then
  generation = ARGV[3]
  redis.call('SET', KEYS[3], generation, 'PX', ${dayMs})
end
redis.call('SET', KEYS[2], '1', 'PX', ${dayMs})
if ran then redis.call('SET', KEYS[1], string.format('%d', ran - ${fenceOffset}), 'PX', ${dayMs}) end
return {ran and string.format('%d', ran) or false, generation, redis.call('GET', KEYS[4]) == generation .. ' ' .. ARGV[4] and 1 or 0}
`;

/** The keys of `heartbeatScript` after those of `guard`. */
export const heartbeatKeys = (prefix: string): string[] =>
  ["settled", "beats", "nodes", "reported", "busy"].map((name) => `${prefix}${name}`);

/**
 * Reports how far a node has come. Redis numbers the heartbeats of all nodes,
 * so nodes need not compare clocks. A heartbeat may arrive long after it was sent, so its own number does not
 * show when that was. But it names the node's previous heartbeat, so it was sent after that one: Redis records that number.
 * KEYS: after the first two, `heartbeatKeys`.
 * ARGV, after the first two: the node; the number of its previous heartbeat on this connection (0: none); the number of its first one (`+inf`: none);
 * its stage: 0 while it raises or adds counts, 1 if the counts in Redis have reached those that it knows, 2 if it has also added all requests that it
 * admitted alone, 3 if every node has; and the run id of this server.
 * Answer: the number of this heartbeat; how many nodes have certainly sent one since the first one in ARGV, in each of the stages 1 and 2; and the
 * number of the last heartbeat of stage 0. A node of 1.2.0 has no stage 1, and counts in both once it has added its requests.
 */
export const heartbeatScript = `${guard}
local number, stage = call('INCR', KEYS[4]), tonumber(ARGV[6])
if stage == 0 then call('SET', KEYS[7], number) end
for i = 1, stage > 0 and 2 or 0 do
  local key = KEYS[7 - i]
  if i < 2 or stage > 1 then call('ZADD', key, ARGV[4], ARGV[3]) end
  call('ZREMRANGEBYRANK', key, 0, -1001)
end
if stage > 2 then call('SET', KEYS[3], ARGV[1] .. ' ' .. ARGV[7]) end
for _, key in ipairs(KEYS) do call('PEXPIRE', key, ${dayMs}) end
local reported = call('ZCOUNT', KEYS[6], ARGV[5], '+inf')
local added = call('ZRANGEBYSCORE', KEYS[5], ARGV[5], '+inf')
if stage < 2 then
  for _, node in ipairs(added) do
    if not call('ZSCORE', KEYS[6], node) then reported = reported + 1 end
  end
end
return {number, reported, #added, tonumber(call('GET', KEYS[7]) or 0)}
`;
