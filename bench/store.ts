import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { measureBatch } from "./batch.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { measureLatency } from "./latency.ts";
import { answerOf, requestsPerCpuSecond, requestsPerSecond, startBare, type Load } from "./load.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

const connections = 64;
/** Ids above those of small whole numbers in V8. */
const idUncached = 2 ** 31;
/** The number of animals that orders are for. */
const ordered = 1_000;
const limit = 20;
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
    await readEach(shop, scale);
    for (const row of await rowsOf(shop, scale)) yield await compare(shop, row, scale);
    yield* measureReadsOfTable(scale);
    const reads = { id: "read-p99", what: "`GET /pets/{id}`", idsMax: scale.animals, isOrder: false, script: anyRead(scale) };
    const orders = { id: "order-p99", what: "`POST /store/orders`, durable,", idsMax: ordered, isOrder: true, script: anyOrder };
    for (const row of [reads, orders]) yield await measureLatency(shop, row, scale);
    yield await measureBatch();
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** Reads each animal once or twice, so that its row is in memory. */
async function readEach({ url, key }: Shop, { animals, seconds }: Scale): Promise<void> {
  for (let from = 0; from < animals;) {
    const script = `local id = ${from}; request = function() id = id % ${animals} + 1; return wrk.format(nil, "/v1/pets/" .. id) end`;
    from += Math.ceil((await requestsPerSecond({ url: `${url}/pets/1`, key, connections, seconds, script })) * seconds * 0.9);
  }
}

/** Measures reads whose rows are not in memory: the same shop with ids above those that the service keeps in memory. */
async function* measureReadsOfTable(scale: Scale): AsyncGenerator<Figure> {
  const folder = makeFolder();
  fillWithAnimals(folder, scale.animals, idUncached);
  const shop = await openShop(folder);
  const [animals, path] = [scale.animals.toLocaleString("en"), `/pets/${idUncached + 1}`];
  const what = `\`GET /pets/{id}\`, random ids of ${animals} animals, none in memory`;
  try {
    yield await compare(shop, { id: "read-table", what, goal: "≥ 0.75", path, load: { script: anyRead(scale, idUncached) } }, scale);
    yield await compare(shop, listOf(await pagesOf(shop, scale), { id: "list-table", what: `${animals} animals, none in memory` }), scale);
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** A row for a list, each request of which is for a random page. */
function listOf(pages: string, { id, what }: Pick<Row, "id" | "what">): Row {
  const path = `/pets?limit=${limit}`;
  return { id, what: `\`GET ${path}\`, random cursors of all pages of ${what}`, goal: "≥ 0.45", path, load: { script: anyLineOf(pages) } };
}

async function rowsOf(shop: Shop, scale: Scale): Promise<Row[]> {
  const pages = await pagesOf(shop, scale);
  const order = { petId: 1, quantity: 1 };
  return [
    {
      id: "read",
      what: `\`GET /pets/{id}\`, random ids of ${scale.animals.toLocaleString("en")} animals, their rows in memory,`,
      goal: "≥ 0.75",
      path: "/pets/1",
      load: { script: anyRead(scale) },
    },
    { id: "read-one", what: "`GET /pets/{id}`, one id, its row in memory,", goal: "≥ 0.75", path: "/pets/1" },
    { id: "read-by-ids", what: "`GET /pets?id=`, its row in memory,", goal: "≥ 0.5", path: "/pets?id=1" },
    listOf(pages, { id: "list", what: `${scale.animals.toLocaleString("en")} animals, their rows in memory,` }),
    {
      id: "order",
      what: `\`POST /store/orders\`, durable, any of ${ordered.toLocaleString("en")} animals`,
      goal: "≥ 0.5",
      path: "/store/orders",
      body: order,
      load: { script: anyOrder },
    },
    { id: "order-one", what: "`POST /store/orders`, durable, one animal", goal: "≥ 0.5", path: "/store/orders", body: order },
    {
      id: "rate-limited",
      what: "429 `rate_limit_exceeded`",
      goal: "≥ 0.9",
      path: "/pets/1",
      load: { isRefused: true, key: limitedKey(shop) },
    },
    { id: "key-banned", what: "429 `key_banned`", goal: "≥ 0.9", path: "/pets/1", load: { isRefused: true, key: await bannedKey(shop) } },
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

/** For wrk: each request is for a random animal. */
const anyRead = ({ animals }: Scale, idBefore = 0): string =>
  `request = function() return wrk.format(nil, "/v1/pets/" .. ${idBefore} + math.random(${animals})) end`;

/** For wrk: each order is for a random one of the `ordered` animals. */
const anyOrder = `
  wrk.method = "POST"; wrk.headers["Content-Type"] = "application/json"
  request = function() return wrk.format(nil, nil, nil, '{"petId":' .. math.random(${ordered}) .. ',"quantity":1}') end`;

/** For wrk: each request is for a random path of a file. */
const anyLineOf = (file: string): string => `
  local paths = {}
  for line in io.lines("${file}") do paths[#paths + 1] = line end
  request = function() return wrk.format(nil, paths[math.random(#paths)]) end`;

/** Follows the list to its end, and writes the path of each page into a file. */
async function pagesOf(shop: Shop, { animals }: Scale): Promise<string> {
  const paths: string[] = [];
  for (let path: string | undefined = `/pets?limit=${limit}`; path !== undefined;) {
    paths.push(`/v1${path}`);
    const answer = await shop.ask("GET", path);
    await answer.arrayBuffer();
    path = /<\/v1([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  if (paths.length !== animals / limit) throw new Error(`the list has ${paths.length} pages`);
  const file = join(shop.dataDir, "pages");
  writeFileSync(file, paths.join("\n"));
  return file;
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
