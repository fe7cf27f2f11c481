import { join } from "node:path";
import { measureBatch } from "./batch.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { measureLatency, measureLoopDelay } from "./latency.ts";
import { answerOf, requestsPerCpuSecond, startBare, type Load } from "./load.ts";
import { anyOrder, anyPage, anyRead, pagePath } from "./requests.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

const connections = 64;
/** The number of animals that orders are for. */
const ordered = 1_000;
const unit = "requests a second of CPU";

type Scale = { animals: number; rounds: number; seconds: number };
const whole: Scale = { animals: 100_000, rounds: 5, seconds: 3 };
/** Enough to see that each row can be measured, and its approximate ratio. */
const quick: Scale = { animals: 10_000, rounds: 3, seconds: 1 };

/** A row that is compared with a bare `node:http` server that answers the same bytes. */
type Row = { id: string; what: string; goal: string; path: string; load?: Partial<Load>; body?: unknown };

/** Compares reads, orders and refusals in a shop of 100,000 animals with a bare `node:http` server that answers the same bytes. */
export async function* measureStore({ isQuick }: { isQuick: boolean }): AsyncGenerator<Figure> {
  const scale = isQuick ? quick : whole;
  const folder = makeFolder();
  fillWithAnimals(folder, scale.animals);
  const shop = await openShop(folder);
  try {
    for (const row of await rowsOf(shop, scale)) yield await compare(shop, row, scale);
    const reads = { id: "read-p99", what: "`GET /pets/{id}`", idsMax: scale.animals, isOrder: false, script: anyRead(scale.animals) };
    const orders = { id: "order-p99", what: "`POST /store/orders`, durable,", idsMax: ordered, isOrder: true, script: anyOrder(ordered) };
    for (const row of [reads, orders]) yield await measureLatency(shop, row, scale);
    if (!isQuick) yield await measureLoopDelay(shop, orders);
    yield await measureBatch();
  } finally {
    await shop.stop();
    folder.remove();
  }
}

async function rowsOf(shop: Shop, scale: Scale): Promise<Row[]> {
  const animals = scale.animals.toLocaleString("en");
  const order = { petId: 1, quantity: 1 };
  return [
    {
      id: "read",
      what: `\`GET /pets/{id}\`, random ids of ${animals} animals`,
      goal: "≥ 0.78",
      path: "/pets/1",
      load: { script: anyRead(scale.animals) },
    },
    { id: "read-one", what: "`GET /pets/{id}`, one id", goal: "≥ 0.78", path: "/pets/1" },
    { id: "read-by-ids", what: "`GET /pets?id=`", goal: "≥ 0.5", path: "/pets?id=1" },
    {
      id: "list",
      what: `\`GET ${pagePath}\`, random pages of ${animals} animals`,
      goal: "≥ 0.5",
      path: pagePath,
      load: { script: anyPage(scale.animals, join(shop.dataDir, "pages")) },
    },
    {
      id: "order",
      what: `\`POST /store/orders\`, durable, any of ${ordered.toLocaleString("en")} animals`,
      goal: "≥ 0.3",
      path: "/store/orders",
      body: order,
      load: { script: anyOrder(ordered) },
    },
    { id: "order-one", what: "`POST /store/orders`, durable, one animal", goal: "≥ 0.36", path: "/store/orders", body: order },
    {
      id: "rate-limited",
      what: "429 `rate_limit_exceeded`",
      goal: "≥ 0.95",
      path: "/pets/1",
      load: { isRefused: true, key: limitedKey(shop) },
    },
    { id: "key-banned", what: "429 `key_banned`", goal: "≥ 1", path: "/pets/1", load: { isRefused: true, key: await bannedKey(shop) } },
  ];
}

async function compare(shop: Shop, row: Row, { rounds, seconds }: Scale): Promise<Figure> {
  const { id, what, goal, path, load: more, body } = row;
  const key = more?.key ?? shop.key;
  const bare = await startBare(await answerOf(await shop.ask(body === undefined ? "GET" : "POST", path, body, key)));
  const load: Omit<Load, "url"> = { key, connections, seconds, ...(body !== undefined && { body: JSON.stringify(body) }), ...more };
  try {
    const measured = await measureAlternately(
      rounds,
      () => requestsPerCpuSecond(shop.pid, { ...load, url: shop.url + path }),
      () => requestsPerCpuSecond(bare.pid, { ...load, url: new URL(`/v1${path}`, bare.url).href }),
    );
    return { id, what: `${what} / bare \`node:http\``, ...measured, unit, goal };
  } finally {
    await bare.stop();
  }
}

/** A key whose account has used up its daily quota; so many strikes are allowed that no load gets the key banned. */
function limitedKey(shop: Shop): string {
  return createAccount(shop.dataDir, { perDay: 1 }).key;
}

async function bannedKey(shop: Shop): Promise<string> {
  const { key } = createAccount(shop.dataDir, { perMinute: 1 });
  for (let tries = 0; tries < 2_000; tries++) {
    const { code } = (await (await shop.ask("GET", "/pets/1", undefined, key)).json()) as { code?: string };
    if (code === "key_banned") return key;
  }
  throw new Error("2,000 requests did not get the key banned");
}
