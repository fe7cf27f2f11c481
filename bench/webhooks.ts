import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { socketPath } from "../src/app/storage.ts";
import { callSocket } from "../src/platform/socket.ts";
import { atMost, byTurns, type Figure } from "./figures.ts";
import { fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

const env = { WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9" };
const full = { animals: 1_000, orderSeconds: 20, accounts: 1_000, hanging: 100, hangingSeconds: 30, imported: 28_754, rounds: 3 };
const quick = { animals: 100, orderSeconds: 5, accounts: 100, hanging: 10, hangingSeconds: 10, imported: 5_000, rounds: 1 };
const ordersPerSecond = 200;
const batchSize = 1_000;
const created = 16;
const arrivalMsMax = 60_000;
const pollMs = 20;

const medianMsMax = 50;
const slowMsMax = 500;
const besideHangingMsMax = 1_000;

type Size = typeof full;
type Caller = { url: string; key: string };

/** How soon events reach endpoints on this machine, also beside endpoints that never answer, and what endpoints cost an import. */
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

/** Takes messages, except at `/hang`, where it never answers. Keeps when the first message about each name or number came to each path. */
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
  const endpoint = await sent(shop, "/webhooks", { url: receiver.url, types: ["order.created"] });
  const waits = await waitsOf(receiver, orderSeconds, ordersPerSecond, async (number) => {
    const { id } = await sent(shop, "/store/orders", { petId: 1 + (number % animals), quantity: 1 });
    return `/ ${id}`;
  });
  await shop.ask("DELETE", `/webhooks/${endpoint.id}`);
  const what = (share: string): string => `from sending an order to its webhook, ${ordersPerSecond} orders a second, ${share}`;
  return [
    atMost("webhooks-p50", what("median"), percentile(waits, 0.5), medianMsMax, "ms"),
    atMost("webhooks-p99", what("p99"), percentile(waits, 0.99), slowMsMax, "ms"),
  ];
}

/** An event a second of each account, each with an endpoint of its own. The waits are those of the accounts whose endpoint answers. */
async function measureBesideHanging(shop: Shop, receiver: Receiver, { accounts, hanging, hangingSeconds }: Size): Promise<Figure> {
  const callers = await newCallers(shop, accounts);
  await inTurns(callers, (caller, index) =>
    sent(caller, "/webhooks", { url: `${receiver.url}${index < hanging ? "/hang" : ""}`, types: ["category.created"] }),
  );
  const waits = await waitsOf(receiver, hangingSeconds, accounts, async (number) => {
    const index = number % accounts;
    const name = `${index} ${number}`;
    await sent(callers[index]!, "/categories", { name });
    return index < hanging ? undefined : `/ ${name}`;
  });
  const what = `the same for ${accounts} accounts with an event a second each, ${hanging} of whose endpoints hang, p99 of the others`;
  return atMost("webhooks-hanging", what, percentile(waits, 0.99), besideHangingMsMax, "ms");
}

/** Each import is into an account of its own. The time is that of the import; the next one begins when its messages have all come. */
async function measureImport(shop: Shop, receiver: Receiver, { imported, rounds }: Size): Promise<Figure> {
  const importing = async (endpoints: string[]): Promise<number> => {
    const [caller] = await newCallers(shop, 1);
    const { id: categoryId } = await sent(caller!, "/categories", { name: "Dogs" });
    for (const path of endpoints) await sent(caller!, "/webhooks", { url: receiver.url + path, types: ["pet.created"] });
    const names = Array.from({ length: imported }, (_, i) => `Animal ${i}`);
    const start = performance.now();
    for (let from = 0; from < imported; from += batchSize) {
      const pets = names.slice(from, from + batchSize).map((name) => ({ name, categoryId }));
      await sent(caller!, "/pets/batch", pets);
    }
    const seconds = (performance.now() - start) / 1_000;
    await untilArrived(
      receiver,
      endpoints.flatMap((path) => names.map((name) => `${path} ${name}`)),
    );
    receiver.arrivedAt.clear();
    return seconds;
  };
  const measured = await byTurns(
    rounds,
    () => importing(["/one", "/other"]),
    () => importing([]),
  );
  const what = `an import of ${imported.toLocaleString("en")} animals with two endpoints, which get every event / without`;
  return { id: "webhooks-import", what, ...measured, unit: "s", goal: "≤ 1.5" };
}

/**
 * Sends at a rate that does not depend on the answers, and waits until all messages are there.
 *
 * @param send returns what the receiver finds the message by; undefined if none is waited for
 * @returns the ms from sending each request to its message, in order: more than from its commit, by the way to the service
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

/** Waits until a message about each has come. @throws Error if one has not in time: each event must be delivered */
async function untilArrived({ arrivedAt }: Receiver, abouts: string[]): Promise<void> {
  const until = performance.now() + arrivalMsMax;
  for (const about of abouts) {
    while (!arrivedAt.has(about)) {
      if (performance.now() > until) throw new Error(`the message about ${about} did not come within ${arrivalMsMax} ms`);
      await sleep(pollMs);
    }
  }
}

/** Accounts whose limits no load of this suite reaches. */
async function newCallers({ url, dataDir }: Shop, count: number): Promise<Caller[]> {
  const terms = { plan: "enterprise", perMinute: 1_000_000, perDay: 1_000_000 };
  const callers: Caller[] = [];
  await inTurns(Array.from({ length: count }), async () => {
    const made = await callSocket(socketPath({ dataDir }), "accounts.create", { name: "Bench", ...terms });
    callers.push({ url, key: (made as { key: string }).key });
  });
  return callers;
}

/** Does something with each item, a few at once. */
async function inTurns<T>(items: readonly T[], work: (item: T, index: number) => Promise<unknown>): Promise<void> {
  const entries = items.entries(); // which all turns share
  const turn = async (): Promise<void> => {
    for (const [index, item] of entries) await work(item, index);
  };
  await Promise.all(Array.from({ length: created }, turn));
}

/** Fewer than those of which a service closes idle ones. */
const agent = new Agent({ keepAlive: true, maxSockets: 128 });

/** What a POST creates. @throws Error if it is refused */
async function sent({ url, key }: Caller, path: string, body: unknown): Promise<{ id: number }> {
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
