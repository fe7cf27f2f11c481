import { createHash } from "node:crypto";
import { minuteMs, dayMs } from "../../platform/clock.ts";
import { guard } from "./redis.generation.ts";
import { banMemoryMs, firstBanMs, longestBanMs, strikesWindowMs } from "./strikes.ts";

export type Script = { text: string; sha: string };
export const scriptOf = (text: string): Script => ({ text, sha: createHash("sha1").update(text).digest("hex") });

/**
 * The start of each script that changes meters, after `guard`. The keys after the first two are meters, in `limitScript` also bans and strikes.
 * ARGV[3] is the time in ms (empty: Redis' own clock). ARGV[4] is the name under which the node reports figures to other nodes (empty: there are none).
 *
 * A meter is eight numbers of 4 bytes: the requests used in the minute and in the day; the numbers of both windows; and, for the
 * minute and for the day, the number of the previous window and the requests used in it. Most requests change only the first two.
 */
const scriptStart = `${guard}
local unpackBytes, packBytes, byte, format = struct.unpack, struct.pack, string.byte, string.format
local floor, max, huge = math.floor, math.max, math.huge
local now = tonumber(ARGV[3])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local minute, day = floor(now / ${minuteMs}), floor(now / ${dayMs})

local meters, changed, changes = {}, {}, 0

-- Returns {used in the minute, used in the day, bytes of the other six numbers if they changed, whether to save it, whether it has a quota per day, name}.
local function loadMeter(name, bytes)
  local mu, du, m, d = 0, 0
  if bytes then mu, du, m, d = unpackBytes('<I4I4I4I4', bytes) end
  local meter = {mu, du, false, false, false, name}
  if m ~= minute or d ~= day then
    local om, omu, od, odu = 0, 0, 0, 0
    if bytes then om, omu, od, odu = unpackBytes('<I4I4I4I4', bytes, 17) end
    if bytes and m ~= minute then
      local known = minute == om and omu or 0
      om, omu, meter[1] = m, mu, (minute > m or known > mu) and known or mu
    end
    if bytes and d ~= day then
      local known = day == od and odu or 0
      od, odu, meter[2] = d, du, (day > d or known > du) and known or du
    end
    meter[3] = packBytes('<I4I4I4I4I4I4', minute, day, om, omu, od, odu)
  end
  meters[name] = meter
  return meter
end

local function change(meter)
  if meter[4] then return end
  changes = changes + 1
  meter[4], changed[changes] = true, meter
end

-- Saves the meters that changed, and publishes their figures to the other nodes.
local function save()
  local publishes, lines = ARGV[4] ~= '' and changes > 0, {}
  for i = 1, changes do
    local meter = changed[i]
    local used = packBytes('<I4I4', meter[1], meter[2])
    if meter[3] then
      local lasts = meter[5] and 7200 + floor((day + 1) * ${dayMs / 1000} - now / 1000) or 7260
      call('SETEX', meter[6], lasts, used .. meter[3])
    else
      call('SETRANGE', meter[6], '0', used)
    end
    if publishes then lines[i] = format('%s %d %d', meter[6], meter[1], meter[2]) end
  end
  if publishes then
    call('PUBLISH', (string.gsub(KEYS[2], 'generation$', 'reports')), format('%s %d %d', ARGV[4], minute, day) .. '\\n' .. table.concat(lines, '\\n'))
  end
end
`;

/** Added to the index of a rule: see `limitScript`. */
export const knownMeters = 64;

/**
 * Decides a batch of requests in order, by the rules of `windows.ts` and `strikes.ts`. A request counts on all its meters or on
 * none. A key that several requests share is read and written once.
 *
 * KEYS, after the first two, for each request: its meters; and its ban and the other bans that count for it, if its refusals are strikes.
 * ARGV, after the first four:
 *   for each request, a byte: the index of its rule in the list that follows, from 0; and 64 more if the node knows that Redis has all its meters, so
 *   that one which is absent was lost
 *   then the rules, each a text of numbers (`ruleOf`), in this order:
 *     0 to read only, 1 to count, 2 to count a request with a secret key, -1 to give back
 *     the number of strikes allowed (0: its refusals are no strikes)
 *     the number of the other bans
 *     for each meter, its quota per minute and per day; to give back, the numbers of the minute and day that counted the request
 * Answer, as bytes: the time in ms, a number of 8 bytes; then, in 4 bytes each, for each request:
 *   0 (pass), 1 (over a limit) or 2 (banned)
 *   the ms until the ban ends
 *   the number of recent strikes
 *   for each meter, the requests used in the minute and in the day
 *
 * Rules and answer are packed because converting arguments and answers is most of the cost of a plain command.
 *
 * A ban is the text "SINCE LENGTH", both in ms. All keys expire two hours later than needed, so that a clock that jumps back
 * loses no count.
 */
export const limitScript = `${scriptStart}
local bans = {}

-- Loads a meter that only refusals need. Its name is that of the account's meter, with kind in place of ':account:'.
local function meterBeside(account, kind)
  local name = string.gsub(account, ':account:', kind, 1)
  local meter = meters[name] or loadMeter(name, call('GET', name))
  meter[5] = true
  return meter
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

-- The name of the list of strikes that belongs to a ban.
local function listBeside(k)
  return (string.gsub(KEYS[k], 'ban:', 'strikes:', 1))
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
  return max(0, ban[1] + ban[2] - now)
end

-- Whether a refusal is no strike, because the requests of publishable keys caused it (see isSpared). Counts it if so.
local function spare(k, perMinute, perDay)
  local account, publishable = meters[KEYS[k]], meterBeside(KEYS[k], ':publishable:')
  if publishable[1] == 0 and publishable[2] == 0 then return false end
  local spared = meterBeside(KEYS[k], ':spared:')
  if account[1] - publishable[1] + spared[1] >= perMinute or account[2] - publishable[2] + spared[2] >= perDay then return false end
  spared[1], spared[2] = spared[1] + 1, spared[2] + 1
  change(spared)
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

local indexes, rules = ARGV[5], {}
for i = 6, #ARGV do
  local rule = {}
  for number in string.gmatch(ARGV[i], '%S+') do rule[#rule + 1] = tonumber(number) end
  rule.meters = (#rule - 3) / 2
  rules[i - 6] = rule
end

local reply, size, key = {}, 0, 3
for i = 1, #indexes do
  local index = byte(indexes, i)
  local isKnown = index >= ${knownMeters}
  local rule = rules[isKnown and index - ${knownMeters} or index]
  local kind, allowed, next = rule[1], rule[2], key + rule.meters
  local limit, over, counts, verdict, left, strikes = 4, false, kind > 0, 0, 0, 0
  for k = key, next - 1 do
    local meter = meters[KEYS[k]]
    if not meter then
      if isKnown and not found[k - 1] then
        call('DECR', KEYS[1])
        call('DEL', KEYS[2])
        return lost
      end
      meter = loadMeter(KEYS[k], found[k - 1])
    end
    if rule[limit + 1] ~= huge then meter[5] = true end
    if meter[1] >= rule[limit] or meter[2] >= rule[limit + 1] then over = true end
    if counts and meter[3] then change(meter) end
    limit = limit + 2
  end
  if allowed > 0 then
    for k = next, next + rule[3] do
      if found[k - 1] or bans[KEYS[k]] then left = max(left, banLeft(k)) end
    end
  end
  if left > 0 then
    verdict, counts = 2, false
  elseif counts and over then
    verdict, counts = 1, false
    if kind == 2 and spare(key, rule[4], rule[5]) then
      strikes = recentStrikes(listBeside(next))
    elseif allowed > 0 then
      verdict, left, strikes = strike(next, listBeside(next), allowed)
    end
  end
  if kind == 0 and allowed > 0 then strikes = recentStrikes(listBeside(next)) end
  reply[size + 1], reply[size + 2], reply[size + 3], size = verdict, left, strikes, size + 3
  limit = 4
  for k = key, next - 1 do
    local meter = meters[KEYS[k]]
    if counts then
      meter[1], meter[2] = meter[1] + 1, meter[2] + 1
      change(meter)
    elseif kind < 0 then
      if rule[limit] == minute then meter[1] = max(0, meter[1] - 1) end
      if rule[limit + 1] == day then meter[2] = max(0, meter[2] - 1) end
      change(meter)
      limit = limit + 2
    end
    reply[size + 1], reply[size + 2], size = meter[1], meter[2], size + 2
  end
  key = allowed > 0 and next + 1 + rule[3] or next
end
save()
return packBytes('<d' .. string.rep('I4', size), now, unpack(reply))
`;

/** `give-back`: gives back a request that passed. `count-secret`: its refusal is no strike if publishable keys caused it (`isSpared`). */
type Kind = "read" | "count" | "count-secret" | "give-back";
const kinds: Record<Kind, number> = { read: 0, count: 1, "count-secret": 2, "give-back": -1 };

/** What the script does with requests of one kind and quota. See `ruleOf`. */
export type Rule = { kind: Kind; isCounting: boolean; limits: readonly number[]; text: string };

/**
 * Makes a rule.
 *
 * @param allowed strikes allowed before a ban; 0 if refusals are no strikes, and requests have no `bans`
 * @param limits requests per minute and per day of each meter; to give back, the numbers of the minute and day that counted the request
 * @param otherBans bans of other keys that count too
 */
export function ruleOf(kind: Kind, allowed: number, limits: readonly number[], otherBans = 0): Rule {
  const text = `${kinds[kind]} ${allowed} ${otherBans} ${limits.join(" ")}`;
  return { kind, isCounting: kind.startsWith("count"), limits, text };
}

/**
 * Adds the requests that a node admitted while it counted alone, to the windows that have not ended. First raises each count to
 * the one that the node knows, in case Redis has lost data. Saves and publishes only counts that changed, so that the second node to restore the same
 * counts costs little.
 * KEYS: see `scriptStart`.
 * ARGV, after the first four, for each meter: "1" if it has a quota per day, else "0"; then, for its minute and then for
 * its day: the window's number, the count that the node knows, and the requests to add.
 */
export const addScript = `${scriptStart}
for k = 3, #KEYS do
  local arg = 5 + 7 * (k - 3)
  local meter = loadMeter(KEYS[k], found[k - 1])
  local usedInMinute, usedInDay = meter[1], meter[2]
  meter[5] = ARGV[arg] == '1'
  if tonumber(ARGV[arg + 1]) == minute then meter[1] = max(meter[1], tonumber(ARGV[arg + 2])) + tonumber(ARGV[arg + 3]) end
  if tonumber(ARGV[arg + 4]) == day then meter[2] = max(meter[2], tonumber(ARGV[arg + 5])) + tonumber(ARGV[arg + 6]) end
  if meter[1] ~= usedInMinute or meter[2] ~= usedInDay then change(meter) end
end
save()
return {now}
`;
