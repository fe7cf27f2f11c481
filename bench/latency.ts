import { join } from "node:path";
import { measureAlternately, type Figure } from "./figures.ts";
import { answerOf, requestsPerSecond, startBare } from "./load.ts";
import type { OpenLoad } from "./open-loop.ts";
import { runLoad } from "./processes.ts";
import type { Shop } from "./shop.ts";

const connections = 64;

/** Compares the 99th percentile of latency, at half of the rate that saturates the service, with a bare server's at the same rate. */
export async function measureLatency(
  shop: Shop,
  row: { id: string; what: string; idsMax: number; isOrder: boolean; script: string },
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Figure> {
  const { id, what, idsMax, isOrder, script } = row;
  const path = isOrder ? "/store/orders" : "/pets";
  const asked = isOrder ? shop.ask("POST", path, { petId: 1, quantity: 1 }) : shop.ask("GET", `${path}/1`);
  const bare = await startBare(await answerOf(await asked), isOrder ? join(shop.dataDir, "bare-orders") : undefined);
  try {
    const saturated = await requestsPerSecond({ url: shop.url + path, key: shop.key, connections, script });
    const load: Omit<OpenLoad, "url"> = {
      key: shop.key,
      path: `/v1${path}`,
      idsMax,
      isOrder,
      perSecond: Math.round(saturated / 2),
      seconds,
    };
    const wait = async (url: string): Promise<number> =>
      Number(await runLoad([process.execPath, join(import.meta.dirname, "open-loop.ts")], { LOAD: JSON.stringify({ ...load, url }) }));
    const measured = await measureAlternately(
      rounds,
      () => wait(shop.url),
      () => wait(bare.url),
    );
    return { id, what: `p99 of ${what} at half of saturation / bare \`node:http\` at the same rate`, ...measured, unit: "ms", goal: "≤ 3" };
  } finally {
    await bare.stop();
  }
}
