import { join } from "node:path";
import { atMost, measureAlternately, type Figure } from "./figures.ts";
import { answerOf, requestsPerSecond, startBare } from "./load.ts";
import type { OpenLoad } from "./open-loop.ts";
import { runLoad } from "./processes.ts";
import type { Shop } from "./shop.ts";

const connections = 64;
/** The longest load that one generator sends (s). */
const loadSeconds = 60;
/** The service shows the delay of the last one to two minutes. */
const windowSeconds = 120;
const loopMsMax = 10;
const loopRounds = 3;

type Row = { id: string; what: string; idsMax: number; isOrder: boolean; script: string };

/** Compares the 99th percentile of latency, at half of the rate that saturates the service, with a bare server's at the same rate. */
export async function measureLatency(shop: Shop, row: Row, { rounds, seconds }: { rounds: number; seconds: number }): Promise<Figure> {
  const { id, what, isOrder } = row;
  const path = pathOf(row);
  const asked = isOrder ? shop.ask("POST", path, { petId: 1, quantity: 1 }) : shop.ask("GET", `${path}/1`);
  const bare = await startBare(await answerOf(await asked), isOrder ? join(shop.dataDir, "bare-orders") : undefined);
  try {
    const load = { ...(await halfOfSaturation(shop, row)), seconds };
    const wait = (url: string): Promise<number> => percentileOf({ ...load, url });
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

/**
 * Measures the delay of the service's event loop (p99, from its metrics) at half of the rate that saturates it. The load lasts so long that the metrics
 * cover nothing else.
 */
export async function measureLoopDelay(shop: Shop, row: Row): Promise<Figure> {
  const load = { ...(await halfOfSaturation(shop, row)), url: shop.url, seconds: loadSeconds };
  const found: number[] = [];
  for (let seconds = loadSeconds; found.length < loopRounds; seconds += loadSeconds) {
    await percentileOf(load);
    if (seconds >= windowSeconds) found.push(await loopDelayMs(new URL(shop.url).origin));
  }
  return atMost("order-loop-delay", `p99 of the delay of the event loop while ${row.what} at half of saturation`, found, loopMsMax, "ms");
}

async function loopDelayMs(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const seconds = /^nodejs_eventloop_delay_seconds\{quantile="0.99"\} (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error(`${origin}/metrics shows no delay of the event loop`);
  return Number(seconds) * 1_000;
}

function pathOf({ isOrder }: Row): string {
  return isOrder ? "/store/orders" : "/pets";
}

async function halfOfSaturation(shop: Shop, row: Row): Promise<Omit<OpenLoad, "url" | "seconds">> {
  const { idsMax, isOrder, script } = row;
  const { key } = shop;
  const saturated = await requestsPerSecond({ url: shop.url + pathOf(row), key, connections, script });
  return { key, path: `/v1${pathOf(row)}`, idsMax, isOrder, perSecond: Math.round(saturated / 2) };
}

/** Sends a load, and returns the 99th percentile of its latency (ms). */
async function percentileOf(load: OpenLoad): Promise<number> {
  return Number(await runLoad([process.execPath, join(import.meta.dirname, "open-loop.ts")], { LOAD: JSON.stringify(load) }));
}
