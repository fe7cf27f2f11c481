import { Redis } from "iovalkey";
import { startRedis } from "../src/callers/limits/redis-process.ts";
import { limitScript } from "../src/callers/limits/redis.script.ts";
const server = await startRedis();
const r = new Redis(server.url, { enableAutoPipelining: true });
const variants: Record<string, string> = {
  ret: "return 1",
  ret6: "return {0,1781524800000,0,0,1,1}",
  time: "local t = redis.call('TIME') return 1",
  mget: "local f = redis.call('MGET', KEYS[1], KEYS[2]) return 1",
  mgetu: "local f = redis.call('MGET', unpack(KEYS, 1, 2)) return 1",
  get2: "local f, g = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) return 1",
  get: "local f = redis.call('GET', KEYS[1]) return 1",
  setrange: "redis.call('SETRANGE', KEYS[1], 0, 'abcdefgh') return 1",
  set: "redis.call('SET', KEYS[1], 'abcdefghabcdefghabcdefghabcdefgh') return 1",
  pack: "local used = struct.pack('<I4I4', 1, 2) return 1",
  unpack: "local mu, du, m, d, om, omu, od, odu = struct.unpack('<I4I4I4I4I4I4I4I4', 'abcdefghabcdefghabcdefghabcdefgh') return 1",
  full: limitScript,
  toFound: limitScript.slice(0, limitScript.indexOf("local reply")) + " return 1",
  toLoop: limitScript.slice(0, limitScript.indexOf("local function save")) + " return 1",
  toLoop6: limitScript.slice(0, limitScript.indexOf("local function save")) + " return reply",
  toPass: limitScript.slice(0, limitScript.indexOf("if counting and not over and (")) + " return 1",
  intreply: "return {0, 1781524, 0, 0, 1, 1}",
  strreply: "return '0 1781524800000 0 0 1 1'",

};
for (let k = 0; k < 1000; k++) await r.set(`k${k}`, "x".repeat(32));
await r.flushall();
for (const [name, text] of Object.entries(variants)) {
  const sha = await r.script("LOAD", text) as string;
  const runs = [];
  for (let round = 0; round < 4; round++) {
    await r.config("RESETSTAT");
    for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 500 }, (_, j) => r.evalsha(sha, 3, `k${j}`, `b${j}`, `s${j}`, "", "1", 20, 1e9, 1e9)));
    const info = await r.info("commandstats");
    runs.push(Number(/cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(info)![1]));
  }
  console.log(name, Math.min(...runs));
}
r.disconnect(); await server.remove();
