import { byTurns, type Figure } from "./figures.ts";
import { requestsPerSecond, startBare, type Load } from "./load.ts";
import { makeFolder, openShop, type Shop } from "./shop.ts";

const rounds = 5;
const connections = 64;
/** Node writes these by itself. */
const automatic = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

/** Reads and orders beside a bare `node:http` server that answers the same bytes. */
export async function measureStore(): Promise<Figure[]> {
  const folder = makeFolder();
  const shop = await openShop(folder);
  try {
    await shop.ask("POST", "/categories", { name: "Dogs" });
    await shop.ask("POST", "/pets", { name: "Rex", categoryId: 1 });
    await shop.ask("PUT", "/store/inventory/1", { quantity: 2_000_000_000 });
    return [
      await compare(shop, "GET /v1/pets/{id}", "/pets/1", "≥ 0.5"),
      await compare(shop, "GET /v1/pets?id=", "/pets?id=1", "≥ 0.5"),
      await compare(shop, "POST /v1/store/orders, durable, with stock", "/store/orders", "≥ 0.3", { petId: 1, quantity: 1 }),
    ];
  } finally {
    await shop.stop();
    folder.remove();
  }
}

async function compare(shop: Shop, what: string, path: string, goal: string, body?: unknown): Promise<Figure> {
  const answer = await shop.ask(body === undefined ? "GET" : "POST", path, body);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !automatic.has(name)));
  const bare = await startBare({ status: answer.status, headers, body: await answer.text() });
  const load: Omit<Load, "url"> = { key: shop.key, connections, ...(body !== undefined && { body: JSON.stringify(body) }) };
  try {
    const figures = await byTurns(
      rounds,
      () => requestsPerSecond({ ...load, url: shop.url + path }),
      () => requestsPerSecond({ ...load, url: bare.url }),
    );
    return { what: `${what} / bare node:http, ${connections} connections`, ...figures, unit: "requests/s", goal };
  } finally {
    await bare.stop();
  }
}
