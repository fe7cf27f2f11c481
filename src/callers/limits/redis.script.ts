import { banMemoryMs, firstBanMs, longestBanMs, strikesWindowMs } from "./strikes.ts";
import { dayMs, minuteMs } from "./windows.ts";

/**
 * One request on one or more meters, all or nothing: the rules of `windows.ts` and `strikes.ts`, run by Redis in one step.
 *
 * KEYS: the meters; then, if strikes are made, the key of the ban and the key of the list of strikes.
 * ARGV: the time in ms (empty: Redis' own clock), "1" to count or "0" to look only, the strikes allowed (0: none are made),
 *       then requests per minute and per day of each meter.
 * Answer: 0 pass, 1 over a limit, 2 banned; the time in ms; ms left of the ban; strikes made; then the minute's and the
 *       day's used requests of each meter.
 *
 * A meter is eight numbers in 32 bytes, of which the first two (used in the minute, in the day) change with each request
 * and the rest (the windows, the ones before and what was used in them) when a window ends. A ban is "since length". All keys expire by themselves, with two hours' grace.
 */
export const limitScript = `
local call, floor = redis.call, math.floor
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local counting, allowed, meters = ARGV[2] == '1', tonumber(ARGV[3]), (#ARGV - 3) / 2
local minute, day = floor(now / ${minuteMs}), floor(now / ${dayMs})
local found = call('MGET', unpack(KEYS, 1, allowed > 0 and meters + 1 or meters))

local reply, tails, over = {0, now, 0, 0}, {}, false
for i = 1, meters do
  local mu, du, m, d, om, omu, od, odu = 0, 0, minute, day, 0, 0, 0, 0
  if found[i] then mu, du, m, d, om, omu, od, odu = struct.unpack('<I4I4I4I4I4I4I4I4', found[i]) end
  if m ~= minute then
    local known = minute == om and omu or 0
    om, omu, mu = m, mu, (minute > m or known > mu) and known or mu
  end
  if d ~= day then
    local known = day == od and odu or 0
    od, odu, du = d, du, (day > d or known > du) and known or du
  end
  if m ~= minute or d ~= day or not found[i] then tails[i] = struct.pack('<I4I4I4I4I4I4', minute, day, om, omu, od, odu) end
  if mu >= tonumber(ARGV[2 + 2 * i]) or du >= tonumber(ARGV[3 + 2 * i]) then over = true end
  reply[3 + 2 * i], reply[4 + 2 * i] = mu, du
end

local function save(i)
  local used = struct.pack('<I4I4', reply[3 + 2 * i], reply[4 + 2 * i])
  if not tails[i] then return call('SETRANGE', KEYS[i], 0, used) end
  local lasts = 7260
  if ARGV[3 + 2 * i] ~= 'Infinity' then lasts = 7200 + floor((day + 1) * ${dayMs / 1000} - now / 1000) end
  call('SETEX', KEYS[i], lasts, used .. tails[i])
end

local function pass()
  for i = 1, meters do
    reply[3 + 2 * i], reply[4 + 2 * i] = reply[3 + 2 * i] + 1, reply[4 + 2 * i] + 1
    save(i)
  end
  return reply
end

if counting and not over and (allowed == 0 or not found[meters + 1]) then return pass() end

local ban, strikes, banSince, banMs = KEYS[meters + 1], KEYS[meters + 2], 0, 0

local function saveBan()
  call('SET', ban, string.format('%d %d', banSince, banMs), 'PX', string.format('%d', ${banMemoryMs} + 7200000))
end

local function recentStrikes()
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

if allowed > 0 and found[meters + 1] then
  local since, length = string.match(found[meters + 1], '^(%d+) (%d+)$')
  banSince, banMs = tonumber(since), tonumber(length)
  if now < banSince then
    banSince = now
    saveBan()
  end
  if now < banSince + banMs then reply[1], reply[3] = 2, banSince + banMs - now end
end

if not counting then
  if allowed > 0 then reply[4] = recentStrikes() end
  return reply
end

if reply[1] == 0 and not over then return pass() end

for i = 1, meters do
  if tails[i] then save(i) end
end
if reply[1] == 2 then return reply end

reply[1] = 1
if allowed == 0 then return reply end
reply[4] = recentStrikes() + 1
if reply[4] > allowed then
  banMs = banMs > 0 and now - banSince < ${banMemoryMs} and math.min(banMs * 2, ${longestBanMs}) or ${firstBanMs}
  banSince = now
  saveBan()
  call('DEL', strikes)
  reply[1], reply[3] = 2, banMs
else
  call('RPUSH', strikes, string.format('%d', now))
  call('PEXPIRE', strikes, ${2 * strikesWindowMs + 7_200_000})
end
return reply
`;
