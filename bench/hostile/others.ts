import { join } from "node:path";
import { runLoad } from "../processes.ts";
import type { Shop } from "../shop.ts";
import { openProbe } from "./probing.ts";

/** The animals of the account that others use: `fillWithAnimals` makes them. */
export const animals = 1_000;
const seconds = 9;

/** The 99th percentile of another account's reads and orders, and the longest wait for `/healthz`, in ms. */
export type Others = { reads: number; orders: number; healthz: number };

/** What others see for nine seconds of an attack. @throws if a request of theirs is refused */
export async function othersOf(shop: Shop, attack: (isOver: () => boolean) => Promise<unknown>): Promise<Others> {
  const { origin } = new URL(shop.url);
  const probe = await openProbe(origin, shop.pid);
  const load = { url: shop.url, key: shop.key, idsMax: animals, seconds };
  const wait = async (asked: { path: string; isOrder: boolean; perSecond: number }): Promise<number> =>
    Number(
      await runLoad([process.execPath, join(import.meta.dirname, "../open-loop.ts")], { LOAD: JSON.stringify({ ...load, ...asked }) }),
    );
  let isOver = false;
  const loads = Promise.all([
    wait({ path: "/v1/pets", isOrder: false, perSecond: 100 }),
    wait({ path: "/v1/store/orders", isOrder: true, perSecond: 30 }),
  ]).finally(() => (isOver = true));
  const [[reads, orders]] = await Promise.all([loads, attack(() => isOver)]);
  return { reads, orders, healthz: await probe.end() };
}
