import { randomUUID } from "node:crypto";
import type { Redis } from "iovalkey";
import { banScript, unbanCall, unbanScript } from "./redis.bans.ts";
import * as keys from "./redis.generation.ts";
import { addScript, limitScript, ruleOf, scriptOf } from "./redis.script.ts";
import { serverFinder, withClient } from "./redis.server.ts";
import type { RedisPlace } from "./redis.url.ts";

/**
 * What the limiter needs to know of a server. `server`: its address and port. `eviction`: the policy by which it may evict counts, if it does. `isListing`: whether the user may list
 * counts.
 */
export type RedisFacts = {
  server: string;
  version: string;
  runId: string;
  eviction: string | undefined;
  now: number;
  isListing: boolean;
};

/** Reads the answer of `INFO`. All keys of the limiter expire, so every policy but `noeviction` evicts them too. */
export function readInfo(info: string): Pick<RedisFacts, "version" | "runId" | "eviction"> {
  const fields = new Map(info.split("\r\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
  const field = (name: string): string => fields.get(name) ?? "";
  const policy = field("maxmemory_policy");
  return {
    version: field("redis_version"),
    runId: field("run_id"),
    eviction: field("maxmemory") !== "0" && policy !== "" && policy !== "noeviction" ? policy : undefined,
  };
}

/**
 * Finds out whether the limiter can count in Redis: runs each of its scripts with keys of its own, which it deletes, and subscribes and publishes to
 * its channel, on each server of a cluster. Rejects with what Redis answered, or why there was no answer. Calls `learn` before the first script on a
 * server, once for each part of the limiter that it has.
 */
export async function probeRedis(
  place: RedisPlace,
  ca: string | undefined,
  answerMs: number,
  learn: (facts: RedisFacts) => void,
): Promise<void> {
  const findServer = serverFinder(place, ca);
  for (const prefix of keys.prefixesOf(place.kind)) {
    const newClient = await findServer(prefix)();
    await withClient(newClient(), answerMs, async (client) => {
      const [info, [seconds]] = await Promise.all([client.info(), client.time()]);
      const isListing = await client.scan(0, "COUNT", 1).then(
        () => true,
        () => false,
      );
      const { host = "", port = 0 } = client.options;
      const server = `${host.includes(":") ? `[${host}]` : host}:${port}`;
      learn({ ...readInfo(info), server, now: Number(seconds) * 1_000, isListing });
      await tryCounting(client, prefix);
    });
    await withClient(newClient(), answerMs, async (client) => {
      await client.subscribe(keys.reportsChannel(prefix), keys.unbansChannel(prefix));
      await client.ping();
    });
  }
}

/**
 * Runs every command with which the limiter counts, in one round trip and on keys of its own, which it then deletes. Rejects with the first refusal.
 */
export async function tryCounting(client: Redis, shardPrefix: string): Promise<void> {
  const [node, prefix] = ["doctor", `${shardPrefix}doctor:${randomUUID()}:`]; // others may try at the same time
  const guarded = [keys.runsKey(prefix, node, 1), keys.generationKey(prefix)];
  const [account, ban] = [`${prefix}account:1`, `${prefix}ban:1`];
  const fenced = keys.fenceKeys(prefix, node, 0, 1);
  const heartbeatKeys = keys.heartbeatKeys(prefix);
  const asked: Promise<unknown>[] = [client.eval(keys.fenceScript, fenced.length, ...fenced, "", 0, node, "")];
  const run = (text: string, names: string[], args: (string | number)[]): void => {
    const { sha } = scriptOf(text);
    asked.push(client.script("LOAD", text), client.evalsha(sha, 2 + names.length, ...guarded, ...names, node, 0, ...args));
  };
  for (const stage of [0, 3]) run(keys.heartbeatScript, heartbeatKeys, [node, 0, "+inf", stage, ""]);
  run(addScript, [account], ["", "", "1", 0, 0, 0, 0, 0, 0]);
  // The first request is a strike, and the second one bans.
  run(limitScript, [account, ban, account, ban], ["", "", "\0\0", ruleOf("count-secret", 1, [0, 0]).text]);
  run(banScript, [ban], [1, 1]);
  const unban = unbanCall(prefix, 1, undefined);
  asked.push(client.eval(unbanScript, unban.keys.length, ...unban.keys, ...unban.args));
  asked.push(client.del(...fenced, ...heartbeatKeys, account, ban, `${prefix}strikes:1`));
  asked.push(client.publish(keys.reportsChannel(shardPrefix), "")); // a report of nothing
  await Promise.all(asked);
}
