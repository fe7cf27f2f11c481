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

const medianMsMax = 100;
const slowMsMax = 1_000;

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

type Receiver = { url: string; arrivedAt: Map<unknown, number>; close(): Promise<void> };

/** Takes messages, except below `/hang`, where it never answers. Keeps when the first message about each name or number came. */
async function openReceiver(): Promise<Receiver> {
  const arrivedAt = new Map<unknown, number>();
  const server = createServer((message, response) => {
    if (message.url === "/hang") return void message.resume();
    const take = async (): Promise<void> => {
      const { data } = JSON.parse(await text(message)) as { data: { id: number; name?: string } };
      const about = data.name ?? data.id;
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
    return (await sent(shop, "/store/orders", { petId: 1 + (number % animals), quantity: 1 })).id;
  });
  await shop.ask("DELETE", `/webhooks/${endpoint.id}`);
  const what = (share: string): string => `from the answer to an order to its webhook, ${ordersPerSecond} orders a second, ${share}`;
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
    return index < hanging ? undefined : name;
  });
  const what = `the same for ${accounts} accounts with an event a second each, ${hanging} of whose endpoints hang, p99 of the others`;
  return atMost("webhooks-hanging", what, percentile(waits, 0.99), slowMsMax, "ms");
}

/** Each import is into an account of its own. Its endpoints are deleted after it, so that their queue does not slow the next one. */
async function measureImport(shop: Shop, receiver: Receiver, { imported, rounds }: Size): Promise<Figure> {
  const importing = async (endpoints: number): Promise<number> => {
    const [caller] = await newCallers(shop, 1);
    const { id: categoryId } = await sent(caller!, "/categories", { name: "Dogs" });
    const made = [];
    for (let i = 0; i < endpoints; i++) made.push(await sent(caller!, "/webhooks", { url: receiver.url, types: ["pet.created"] }));
    const start = performance.now();
    for (let from = 0; from < imported; from += batchSize) {
      const length = Math.min(batchSize, imported - from);
      const pets = Array.from({ length }, (_, i) => ({ name: `Animal ${from + i}`, categoryId }));
      await sent(caller!, "/pets/batch", pets);
    }
    const seconds = (performance.now() - start) / 1_000;
    for (const { id } of made) await shop.ask("DELETE", `/webhooks/${id}`, undefined, caller!.key);
    return seconds;
  };
  const measured = await byTurns(
    rounds,
    () => importing(2),
    () => importing(0),
  );
  const what = `an import of ${imported.toLocaleString("en")} animals with two endpoints / without`;
  return { id: "webhooks-import", what, ...measured, unit: "s", goal: "≤ 1.5" };
}

/**
 * Sends at a rate that does not depend on the answers, and waits until all messages are there.
 *
 * @param send returns what the receiver finds the message by; undefined if none is waited for
 * @returns the ms from each answer to its message, in order; 0 if the message came first
 */
async function waitsOf(
  receiver: Receiver,
  seconds: number,
  perSecond: number,
  send: (number: number) => Promise<unknown>,
): Promise<number[]> {
  const answeredAt = new Map<unknown, number>();
  const start = performance.now();
  const running: Promise<void>[] = [];
  for (let number = 0; number < seconds * perSecond; number++) {
    const dueAt = start + (number * 1_000) / perSecond;
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 0) await sleep(earlyMs);
    const one = send(number).then((about) => void (about !== undefined && answeredAt.set(about, performance.now())));
    one.catch(() => undefined);
    running.push(one);
  }
  await Promise.all(running);
  const until = performance.now() + arrivalMsMax;
  const missing = (): unknown => answeredAt.keys().find((about) => !receiver.arrivedAt.has(about));
  while (missing() !== undefined) {
    if (performance.now() > until) throw new Error(`the message about ${String(missing())} did not come within ${arrivalMsMax} ms`);
    await sleep(pollMs);
  }
  const waits = [...answeredAt].map(([about, at]) => Math.max(0, receiver.arrivedAt.get(about)! - at));
  receiver.arrivedAt.clear();
  return waits.toSorted((a, b) => a - b);
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
