import { createCache } from "../../platform/cache.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "./site.ts";

const logEveryMs = 60_000;
const sitesMax = 10_000;

/** Notes a refused request of a site. `cause`: an error behind the refusal. */
export type OnRefused = (site: string, host: string | undefined, cause?: unknown) => void;

/** Logs refused requests: at most one line a minute for a site, with the number of those since its last line. */
export function openRefusalLog(log: Log, clock: Clock): OnRefused {
  const lines = createCache<string, { at: number; since: number }>(sitesMax);
  return (site, host, cause) => {
    const last = lines.get(site);
    const now = clock();
    if (last !== undefined && Math.abs(now - last.at) < logEveryMs) return void (last.since += 1);
    lines.set(site, { at: now, since: 0 });
    const refused = (last?.since ?? 0) + 1;
    log.warn({ host, refused, ...(cause !== undefined && { err: cause }) }, "requests to a site were refused, because too much waits");
  };
}
