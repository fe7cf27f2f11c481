import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { socketPath } from "../src/app/storage.ts";
import { callSocket } from "../src/platform/socket.ts";
import { atMost, measureAlternately, type Figure } from "./figures.ts";
import { fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

const env = { WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9" };
const full = { animals: 1_000, orderSeconds: 20, accounts: 1_000, hanging: 100, hangingSeconds: 30, imported: 28_754, rounds: 3 };
const quick = { animals: 100, orderSeconds: 5, accounts: 100, hanging: 10, hangingSeconds: 10, imported: 5_000, rounds: 1 };
const ordersPerSecond = 200;
const batchSize = 1_000;
const concurrency = 16;
const arrivalMsMax = 60_000;
const pollMs = 20;

const medianMsMax = 50;
const slowMsMax = 500;
const besideHangingMsMax = 1_000;

type Size = typeof full;
type Caller = { url: string; key: string };

/** Measures how soon events reach endpoints on this machine, also while other endpoints never answer, and what endpoints cost an import. */
export async function* measureWebhooks({ isQuick }: { isQuick: boolean }): AsyncGenerator<Figure> {
  const size = isQuick ? quick : full;
  const [folder, receiver] = [makeFolder(env), await openReceiver()];
  fillWithAnimals(folder, size.animals);
  const shop = await openShop(folder, env);
  try {
    yield* await measureOrders(shop, receiver, size);
    yield await measureBesideHanging(shop, receiver, size);
    yield await measureImport(shop, receiver, size);
  } finally {
    agent.destroy();
    await shop.stop();
    await receiver.close();
    folder.remove();
  }
}

type Receiver = { url: string; arrivedAt: Map<string, number>; close(): Promise<void> };

/** Accepts messages, but never answers at `/hang`. Notes when the first message about each name or number arrives at each path. */
async function openReceiver(): Promise<Receiver> {
  const arrivedAt = new Map<string, number>();
  const server = createServer((message, response) => {
    if (message.url === "/hang") return void message.resume();
    const take = async (): Promise<void> => {
      const { data } = JSON.parse(await text(message)) as { data: { id: number; name?: string } };
      const about = `${message.url} ${data.name ?? data.id}`;
      if (!arrivedAt.has(about)) arrivedAt.set(about, performance.now());
      response.writeHead(204).end();
    };
    take().catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivedAt, close };
}

async function measureOrders(shop: Shop, receiver: Receiver, { animals, orderSeconds }: Size): Promise<Figure[]> {
  const endpoint = await create(shop, "/webhooks", { url: receiver.url, types: ["order.created"] });
  const waits = await waitsOf(receiver, orderSeconds, ordersPerSecond, async (number) => {
    const { id } = await create(shop, "/store/orders", { petId: 1 + (number % animals), quantity: 1 });
    return `/ ${id}`;
  });
  await shop.ask("DELETE", `/webhooks/${endpoint.id}`);
  const what = (share: string): string => `from sending an order to its webhook, ${ordersPerSecond} orders a second, ${share}`;
  return [
    atMost("webhooks-p50", what("median"), percentile(waits, 0.5), medianMsMax, "ms"),
    atMost("webhooks-p99", what("p99"), percentile(waits, 0.99), slowMsMax, "ms"),
  ];
}

/** Each account has an endpoint and one event a second. Measures the latency for accounts whose endpoint answers. */
async function measureBesideHanging(shop: Shop, receiver: Receiver, { accounts, hanging, hangingSeconds }: Size): Promise<Figure> {
  const callers = await newCallers(shop, accounts);
  await concurrently(callers, (caller, index) =>
    create(caller, "/webhooks", { url: `${receiver.url}${index < hanging ? "/hang" : ""}`, types: ["category.created"] }),
  );
  const waits = await waitsOf(receiver, hangingSeconds, accounts, async (number) => {
    const index = number % accounts;
    const name = `${index} ${number}`;
    await create(callers[index]!, "/categories", { name });
    return index < hanging ? undefined : `/ ${name}`;
  });
  const what = `the same for ${accounts} accounts with an event a second each, ${hanging} of whose endpoints hang, p99 of the others`;
  return atMost("webhooks-hanging", what, percentile(waits, 0.99), besideHangingMsMax, "ms");
}

/** Imports into a new account each time, and measures the import. The next import begins when all messages of this one have arrived. */
async function measureImport(shop: Shop, receiver: Receiver, { imported, rounds }: Size): Promise<Figure> {
  const importing = async (endpoints: string[]): Promise<number> => {
    const [caller] = await newCallers(shop, 1);
    const { id: categoryId } = await create(caller!, "/categories", { name: "Dogs" });
    for (const path of endpoints) await create(caller!, "/webhooks", { url: receiver.url + path, types: ["pet.created"] });
    const names = Array.from({ length: imported }, (_, i) => `Animal ${i}`);
    const start = performance.now();
    for (let from = 0; from < imported; from += batchSize) {
      const pets = names.slice(from, from + batchSize).map((name) => ({ name, categoryId }));
      await create(caller!, "/pets/batch", pets);
    }
    const seconds = (performance.now() - start) / 1_000;
    await untilArrived(
      receiver,
      endpoints.flatMap((path) => names.map((name) => `${path} ${name}`)),
    );
    receiver.arrivedAt.clear();
    return seconds;
  };
  const measured = await measureAlternately(
    rounds,
    () => importing(["/one", "/other"]),
    () => importing([]),
  );
  const what = `an import of ${imported.toLocaleString("en")} animals with two endpoints, which get every event / without`;
  return { id: "webhooks-import", what, ...measured, unit: "s", goal: "≤ 1.5" };
}

/**
 * Sends requests at a rate that does not depend on the answers, and waits until all messages have arrived.
 *
 * @param send returns the receiver's key of the message; undefined if no message is expected
 * @returns the ms from sending each request to its message, sorted; they include the request's way to the service
 */
async function waitsOf(
  receiver: Receiver,
  seconds: number,
  perSecond: number,
  send: (number: number) => Promise<string | undefined>,
): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const start = performance.now();
  const running: Promise<void>[] = [];
  for (let number = 0; number < seconds * perSecond; number++) {
    const dueAt = start + (number * 1_000) / perSecond;
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 0) await sleep(earlyMs);
    const at = performance.now();
    const one = send(number).then((about) => void (about !== undefined && sentAt.set(about, at)));
    one.catch(() => undefined);
    running.push(one);
  }
  await Promise.all(running);
  await untilArrived(receiver, [...sentAt.keys()]);
  const waits = [...sentAt].map(([about, at]) => receiver.arrivedAt.get(about)! - at);
  receiver.arrivedAt.clear();
  return waits.toSorted((a, b) => a - b);
}

/** Waits until a message about each has arrived. @throws Error if one does not arrive in time, because each event must be delivered */
async function untilArrived({ arrivedAt }: Receiver, abouts: string[]): Promise<void> {
  const until = performance.now() + arrivalMsMax;
  for (const about of abouts) {
    while (!arrivedAt.has(about)) {
      if (performance.now() > until) throw new Error(`the message about ${about} did not arrive within ${arrivalMsMax} ms`);
      await sleep(pollMs);
    }
  }
}

/** Accounts whose limits no load of this suite reaches. */
async function newCallers({ url, dataDir }: Shop, count: number): Promise<Caller[]> {
  const terms = { plan: "enterprise", perMinute: 1_000_000, perDay: 1_000_000 };
  const callers: Caller[] = [];
  await concurrently(Array.from({ length: count }), async () => {
    const made = await callSocket(socketPath({ dataDir }), "accounts.create", { name: "Bench", ...terms });
    callers.push({ url, key: (made as { key: string }).key });
  });
  return callers;
}

/** Works on the items, `concurrency` of them at once. */
async function concurrently<T>(items: readonly T[], work: (item: T, index: number) => Promise<unknown>): Promise<void> {
  const entries = items.entries(); // shared by all workers
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) await work(item, index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Has fewer connections than the number from which the service closes idle ones. */
const agent = new Agent({ keepAlive: true, maxSockets: 128 });

/** Sends a POST and returns what it created. @throws Error if it is refused */
async function create({ url, key }: Caller, path: string, body: unknown): Promise<{ id: number }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const asked = request(url + path, { method: "POST", headers, agent });
  asked.end(JSON.stringify(body));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const shown = await text(answer);
  if (answer.statusCode !== 201) throw new Error(`POST ${path} got ${answer.statusCode}: ${shown}`);
  return JSON.parse(shown) as { id: number };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}
