import { Redis } from "iovalkey";
import { startRedis } from "../src/callers/limits/redis-process.ts";
import { openRedisLimiter } from "../src/callers/limits/redis.ts";
import { limitScript } from "../src/callers/limits/redis.script.ts";
import { createHash } from "node:crypto";
const server = await startRedis();
const bare = new Redis(server.url);
const sha = createHash("sha1").update(limitScript).digest("hex");
const limiter = await openRedisLimiter({
  url: server.url,
  addressQuota: { perMinute: 60, perDay: 1000 },
  clock: Date.now,
  log: { info() {}, warn() {} },
});
const plenty = { perMinute: 1e9, perDay: 1e9 };
await bare.script("LOAD", "return {0,1781524800000,0,0,1,1}");
const sha2 = createHash("sha1").update("return {0,1781524800000,0,0,1,1}").digest("hex");
async function rate(name: string, f: (i: number) => any) {
  for (let r = 0; r < 3; r++) {
    let next = 0;
    const n = 60000;
    const cpu = process.cpuUsage();
    await bare.config("RESETSTAT");
    const t = performance.now();
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (next < n) await f(next++);
      }),
    );
    const s = (performance.now() - t) / 1000;
    const c = process.cpuUsage(cpu);
    const info = await bare.info("commandstats");
    if (r === 2)
      console.log(
        name,
        Math.round(n / s),
        "client cpu us/op",
        ((c.user + c.system) / n).toFixed(1),
        info
          .split("\n")
          .filter((l) => /evalsha|incr/.test(l))
          .join(" "),
      );
  }
}
await rate("incr", (i) => bare.incr(`b:${i % 1000}`));
await rate("evalsha trivial", (i) =>
  bare.evalsha(
    sha2,
    3,
    `petstore:limits:account:${i % 1000}`,
    `petstore:limits:ban:${i % 1000}`,
    `petstore:limits:strikes:${i % 1000}`,
    "",
    "1",
    20,
    60,
    1000,
  ),
);
await rate("evalsha real", (i) =>
  bare.evalsha(
    sha,
    3,
    `petstore:limits:account:${i % 1000}`,
    `petstore:limits:ban:${i % 1000}`,
    `petstore:limits:strikes:${i % 1000}`,
    "",
    "1",
    20,
    1e9,
    1e9,
  ),
);
await rate("limiter", (i) => limiter.account(i % 1000, i % 1000, plenty));
await limiter.close();
bare.disconnect();
await server.remove();
