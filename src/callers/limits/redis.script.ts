import { minuteMs, dayMs } from "../../platform/clock.ts";
import { banMemoryMs, firstBanMs, longestBanMs, strikesWindowMs } from "./strikes.ts";

/** The prefix of all keys and channels in Redis. */
export const prefix = "petstore:limits:";
/** The channel on which nodes send each other the figures of meters. `save` below makes the messages. */
export const reportsChannel = `${prefix}reports`;

/**
 * The start of each script that changes meters. KEYS[1] counts the scripts that Redis ran on the node's connection. When the node
 * reconnects, it sets the count of the old connection far below zero (`fenceScript`). A script that arrives later on the old
 * connection finds it negative and does nothing.
 * The following keys are meters, in `limitScript` also bans and strikes. ARGV[1] is the time in ms (empty: Redis' own clock).
 * ARGV[2] is the name under which the node reports figures to other nodes (empty: there are none).
 *
 * A meter is eight numbers of 4 bytes: the requests used in the minute and in the day; the numbers of both windows; and, for the
 * minute and for the day, the number of the previous window and the requests used in it. Most requests change only the first two.
 */
const scriptStart = `
local call, floor, unpackBytes, packBytes, format = redis.call, math.floor, struct.unpack, struct.pack, string.format
if call('INCR', KEYS[1]) < 0 then
  call('DECR', KEYS[1])
  return {}
end
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local minute, day = floor(now / ${minuteMs}), floor(now / ${dayMs})

local meters, changed = {}, {}

-- Returns {used in the minute, used in the day, bytes of the other six numbers if they changed, whether to save it, whether it has a quota per day}.
local function loadMeter(name, bytes)
  local mu, du, m, d, om, omu, od, odu = 0, 0, minute, day, 0, 0, 0, 0
  if bytes then mu, du, m, d, om, omu, od, odu = unpackBytes('<I4I4I4I4I4I4I4I4', bytes) end
  local meter = {mu, du, false, false, false}
  if m ~= minute or d ~= day or not bytes then
    if m ~= minute then
      local known = minute == om and omu or 0
      om, omu, meter[1] = m, mu, (minute > m or known > mu) and known or mu
    end
    if d ~= day then
      local known = day == od and odu or 0
      od, odu, meter[2] = d, du, (day > d or known > du) and known or du
    end
    meter[3] = packBytes('<I4I4I4I4I4I4', minute, day, om, omu, od, odu)
  end
  meters[name] = meter
  return meter
end

local function change(meter, name)
  if meter[4] then return end
  meter[4] = true
  changed[#changed + 1] = name
end

-- Saves the meters that changed, and publishes their figures to the other nodes.
local function save()
  local publishes, lines = ARGV[2] ~= '' and #changed > 0, {}
  for i = 1, #changed do
    local name = changed[i]
    local meter = meters[name]
    local used = packBytes('<I4I4', meter[1], meter[2])
    if meter[3] then
      local lasts = meter[5] and 7200 + floor((day + 1) * ${dayMs / 1000} - now / 1000) or 7260
      call('SETEX', name, lasts, used .. meter[3])
    else
      call('SETRANGE', name, 0, used)
    end
    if publishes then lines[i] = format('%s %d %d', name, meter[1], meter[2]) end
  end
  if publishes then
    call('PUBLISH', '${reportsChannel}', format('%s %d %d', ARGV[2], minute, day) .. '\\n' .. table.concat(lines, '\\n'))
  end
end
`;

/**
 * Decides a batch of requests in order, by the rules of `windows.ts` and `strikes.ts`. A request counts on all its meters or on
 * none. A key that several requests share is read and written once.
 *
 * KEYS, after the first:
 *   for each request: its meters; and the keys of its ban and of the other bans that count for it, if its refusals are strikes
 *   then, for each request with such a key: the key of its list of strikes
 * ARGV, after the first two:
 *   the number of meters and bans among the keys
 *   then, for each request:
 *     "0" to read only, "1" to count, "2" to count a request with a secret key, "-1" to give back
 *     the number of strikes allowed (0: its refusals are no strikes)
 *     the number of its meters
 *     the number of the other bans
 *     for each meter, its quota per minute and per day; to give back, the numbers of the minute and day that counted the request
 * Answer:
 *   the time in ms
 *   then, for each request:
 *     0 (pass), 1 (over a limit) or 2 (banned)
 *     the ms until the ban ends
 *     the number of recent strikes
 *     for each meter, the requests used in the minute and in the day
 *
 * A ban is the text "SINCE LENGTH", both in ms. All keys expire two hours later than needed, so that a clock that jumps back
 * loses no count.
 */
export const limitScript = `${scriptStart}
local strings = tonumber(ARGV[3])
local found = call('MGET', unpack(KEYS, 2, strings + 1))
local bans = {}

local function meterAt(k)
  return meters[KEYS[k]] or loadMeter(KEYS[k], found[k - 1])
end

-- Loads a meter that only refusals need. Its name is the account meter's, with kind for ':account:'.
local function meterBeside(account, kind)
  local name = string.gsub(account, ':account:', kind, 1)
  local meter = meters[name] or loadMeter(name, call('GET', name))
  meter[5] = true
  return meter, name
end

local function banAt(k)
  local ban = bans[KEYS[k]]
  if not ban then
    local since, length = string.match(found[k - 1] or '', '^(%d+) (%d+)$')
    ban = {tonumber(since) or 0, tonumber(length) or 0}
    bans[KEYS[k]] = ban
  end
  return ban
end

local function saveBan(ban, k)
  call('SET', KEYS[k], format('%d %d', ban[1], ban[2]), 'PX', format('%d', ${banMemoryMs} + 7200000))
end

local function recentStrikes(strikes)
  local newest = tonumber(call('LINDEX', strikes, -1))
  if newest and newest > now then
    local times = call('LRANGE', strikes, 0, -1)
    call('DEL', strikes)
    for _, time in ipairs(times) do call('RPUSH', strikes, format('%d', time - newest + now)) end
  end
  local oldest = tonumber(call('LINDEX', strikes, 0))
  while oldest and now - oldest >= ${strikesWindowMs} do
    call('LPOP', strikes)
    oldest = tonumber(call('LINDEX', strikes, 0))
  end
  return call('LLEN', strikes)
end

local function banLeft(k)
  local ban = banAt(k)
  if now < ban[1] then
    ban[1] = now
    saveBan(ban, k)
  end
  return math.max(0, ban[1] + ban[2] - now)
end

-- Whether a refusal is no strike, because the requests of publishable keys caused it (see isSpared). Counts it if so.
local function spare(k, perMinute, perDay)
  local account, publishable = meterAt(k), meterBeside(KEYS[k], ':publishable:')
  if publishable[1] == 0 and publishable[2] == 0 then return false end
  local spared, name = meterBeside(KEYS[k], ':spared:')
  if account[1] - publishable[1] + spared[1] >= perMinute or account[2] - publishable[2] + spared[2] >= perDay then return false end
  spared[1], spared[2] = spared[1] + 1, spared[2] + 1
  change(spared, name)
  return true
end

-- Adds a strike or bans the key. Returns the verdict, the ms until the ban ends and the number of recent strikes.
local function strike(k, strikes, allowed)
  local made = recentStrikes(strikes) + 1
  if made <= allowed then
    call('RPUSH', strikes, format('%d', now))
    call('PEXPIRE', strikes, ${2 * strikesWindowMs + 7_200_000})
    return 1, 0, made
  end
  local ban = banAt(k)
  ban[2] = ban[2] > 0 and now - ban[1] < ${banMemoryMs} and math.min(ban[2] * 2, ${longestBanMs}) or ${firstBanMs}
  ban[1] = now
  saveBan(ban, k)
  call('DEL', strikes)
  return 2, ban[2], made
end

local reply, size, key, arg, list = {now}, 1, 2, 4, strings + 2
while ARGV[arg] do
  local counting, allowed, last = tonumber(ARGV[arg]) > 0, tonumber(ARGV[arg + 1]), key + tonumber(ARGV[arg + 2]) - 1
  local others, over, verdict, left, strikes = tonumber(ARGV[arg + 3]), false, 0, 0, 0
  for k = key, last do
    local meter, limit = meterAt(k), arg + 4 + 2 * (k - key)
    if ARGV[limit + 1] ~= 'Infinity' then meter[5] = true end
    if meter[1] >= tonumber(ARGV[limit]) or meter[2] >= tonumber(ARGV[limit + 1]) then over = true end
    if counting and meter[3] then change(meter, KEYS[k]) end
  end
  if allowed > 0 then
    for k = last + 1, last + 1 + others do
      if found[k - 1] or bans[KEYS[k]] then left = math.max(left, banLeft(k)) end
    end
  end
  if left > 0 then verdict = 2 end
  if ARGV[arg] == '-1' then
    for k = key, last do
      local meter, windows = meters[KEYS[k]], arg + 4 + 2 * (k - key)
      if tonumber(ARGV[windows]) == minute then meter[1] = math.max(0, meter[1] - 1) end
      if tonumber(ARGV[windows + 1]) == day then meter[2] = math.max(0, meter[2] - 1) end
      change(meter, KEYS[k])
    end
  elseif not counting then
    if allowed > 0 then strikes = recentStrikes(KEYS[list]) end
  elseif verdict == 0 and over then
    verdict = 1
    if ARGV[arg] == '2' and spare(key, tonumber(ARGV[arg + 4]), tonumber(ARGV[arg + 5])) then
      strikes = recentStrikes(KEYS[list])
    elseif allowed > 0 then
      verdict, left, strikes = strike(last + 1, KEYS[list], allowed)
    end
  elseif verdict == 0 then
    for k = key, last do
      local meter = meters[KEYS[k]]
      meter[1], meter[2] = meter[1] + 1, meter[2] + 1
      change(meter, KEYS[k])
    end
  end
  reply[size + 1], reply[size + 2], reply[size + 3], size = verdict, left, strikes, size + 3
  for k = key, last do
    local meter = meters[KEYS[k]]
    reply[size + 1], reply[size + 2], size = meter[1], meter[2], size + 2
  end
  arg = arg + 4 + 2 * (last - key + 1)
  key = last + 1
  if allowed > 0 then key, list = key + 1 + others, list + 1 end
end
save()
return reply
`;

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
