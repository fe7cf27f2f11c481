import { banMemoryMs, firstBanMs, longestBanMs, strikesWindowMs } from "./strikes.ts";
import { dayMs, minuteMs } from "./windows.ts";

/**
 * Requests, one after the other, each on one or more meters, all or nothing: the rules of `windows.ts` and `strikes.ts`,
 * run by Redis in one step. What several requests have in common is read and written once.
 *
 * KEYS: in the order of the requests their meters, each followed by the key of the ban where strikes are made; after
 *       all of these, in the same order, the keys of the lists of strikes.
 * ARGV: the time in ms (empty: Redis' own clock), the number of meters and bans, then for each request "1" to count or
 *       "0" to look only, the strikes allowed (0: none are made), the number of its meters, and requests per minute and per day of each.
 * Answer: the time in ms, then for each request 0 pass, 1 over a limit or 2 banned; ms left of the ban; strikes made;
 *       and the minute's and the day's used requests of each meter.
 *
 * A meter is eight numbers in 32 bytes, of which the first two (used in the minute, in the day) change with each request
 * and the rest (the windows, the ones before and what was used in them) when a window ends. A ban is "since length".
 * All keys expire by themselves, with two hours' grace.
 */
export const limitScript = `
local call, floor, unpackBytes, packBytes = redis.call, math.floor, struct.unpack, struct.pack
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local minute, day = floor(now / ${minuteMs}), floor(now / ${dayMs})
local plain = tonumber(ARGV[2])
local found = call('MGET', unpack(KEYS, 1, plain))

local meters, changed, bans = {}, {}, {}

-- {used in the minute, used in the day, the rest if it changed, whether it must be saved, whether its day counts}
local function meterAt(k)
  local meter = meters[KEYS[k]]
  if meter then return meter end
  local mu, du, m, d, om, omu, od, odu = 0, 0, minute, day, 0, 0, 0, 0
  if found[k] then mu, du, m, d, om, omu, od, odu = unpackBytes('<I4I4I4I4I4I4I4I4', found[k]) end
  meter = {mu, du, false, false, false}
  if m ~= minute or d ~= day or not found[k] then
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
  meters[KEYS[k]] = meter
  return meter
end

local function change(meter, k)
  if meter[4] then return end
  meter[4] = true
  changed[#changed + 1] = KEYS[k]
end

local function banAt(k)
  local ban = bans[KEYS[k]]
  if not ban then
    local since, length = string.match(found[k] or '', '^(%d+) (%d+)$')
    ban = {tonumber(since) or 0, tonumber(length) or 0}
    bans[KEYS[k]] = ban
  end
  return ban
end

local function saveBan(ban, k)
  call('SET', KEYS[k], string.format('%d %d', ban[1], ban[2]), 'PX', string.format('%d', ${banMemoryMs} + 7200000))
end

local function recentStrikes(strikes)
  local newest = tonumber(call('LINDEX', strikes, -1))
  if newest and newest > now then
    local times = call('LRANGE', strikes, 0, -1)
    call('DEL', strikes)
    for _, time in ipairs(times) do call('RPUSH', strikes, string.format('%d', time - newest + now)) end
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

-- Gives the verdict, ms left of the ban and the strikes made.
local function strike(k, strikes, allowed)
  local made = recentStrikes(strikes) + 1
  if made <= allowed then
    call('RPUSH', strikes, string.format('%d', now))
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

local reply, size, key, arg, list = {now}, 1, 1, 3, plain + 1
while ARGV[arg] do
  local counting, allowed, last = ARGV[arg] == '1', tonumber(ARGV[arg + 1]), key + tonumber(ARGV[arg + 2]) - 1
  local over, verdict, left, strikes = false, 0, 0, 0
  for k = key, last do
    local meter, limit = meterAt(k), arg + 3 + 2 * (k - key)
    if ARGV[limit + 1] ~= 'Infinity' then meter[5] = true end
    if meter[1] >= tonumber(ARGV[limit]) or meter[2] >= tonumber(ARGV[limit + 1]) then over = true end
    if counting and meter[3] then change(meter, k) end
  end
  if allowed > 0 and (found[last + 1] or bans[KEYS[last + 1]]) then left = banLeft(last + 1) end
  if left > 0 then verdict = 2 end
  if not counting then
    if allowed > 0 then strikes = recentStrikes(KEYS[list]) end
  elseif verdict == 0 and over then
    verdict = 1
    if allowed > 0 then verdict, left, strikes = strike(last + 1, KEYS[list], allowed) end
  elseif verdict == 0 then
    for k = key, last do
      local meter = meters[KEYS[k]]
      meter[1], meter[2] = meter[1] + 1, meter[2] + 1
      change(meter, k)
    end
  end
  reply[size + 1], reply[size + 2], reply[size + 3], size = verdict, left, strikes, size + 3
  for k = key, last do
    local meter = meters[KEYS[k]]
    reply[size + 1], reply[size + 2], size = meter[1], meter[2], size + 2
  end
  arg = arg + 3 + 2 * (last - key + 1)
  key = last + 1
  if allowed > 0 then key, list = key + 1, list + 1 end
end

for i = 1, #changed do
  local meter = meters[changed[i]]
  local used = packBytes('<I4I4', meter[1], meter[2])
  if meter[3] then
    local lasts = meter[5] and 7200 + floor((day + 1) * ${dayMs / 1000} - now / 1000) or 7260
    call('SETEX', changed[i], lasts, used .. meter[3])
  else
    call('SETRANGE', changed[i], 0, used)
  end
end
return reply
`;
