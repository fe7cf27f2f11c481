import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Quota } from "../../src/callers/limits/windows.ts";
import { runCommand } from "./commands.ts";
import { ask, unlimited, type Reply } from "./service.ts";
import { until } from "./until.ts";

const stock = 1_000_000;
/** How many requests the limited account may make in all. It tries more. */
export const quota = 300;
const limitedPerSecond = 20;
/** The most orders, and requests of limited accounts, in flight at once. A node closes quiet connections of a client that has more than 256. */
const [ordersMax, limitedMax] = [500, 100];

/** Where clients send requests: a balancer or a node. */
export type Entrance = { name: string; url: string };

export type OrderShop = { key: string; limitedKey: string; petId: number };

/** Makes an account by a command, for which `env` is the environment, and returns its id and its key. */
export async function newAccount(env: Record<string, string>, { perMinute, perDay }: Quota): Promise<{ id: number; key: string }> {
  const words = ["accounts", "create", "--name", "Shop", "--plan", "enterprise", "--per-minute", `${perMinute}`, "--per-day", `${perDay}`];
  const made = await runCommand([...words, "--json"], env);
  assert.equal(made.code, 0, made.error);
  const { account, key } = JSON.parse(made.out) as { account: { id: number }; key: string };
  return { id: account.id, key };
}

/** Makes a shop with an animal of a large stock, and the limited account. */
export async function openOrderShop(env: Record<string, string>, url: string): Promise<OrderShop> {
  const { key } = await newAccount(env, unlimited);
  const limited = await newAccount(env, { perMinute: quota, perDay: quota });
  const make = async (method: string, path: string, body: unknown): Promise<{ id: number }> => {
    const made = await ask<{ id: number }>(`${url}/v1${path}`, method, { key, body });
    assert.ok(made.status < 300, JSON.stringify(made.body));
    return made.body;
  };
  const category = await make("POST", "/categories", { name: "Dogs" });
  const pet = await make("POST", "/pets", { name: "Rex", categoryId: category.id });
  await make("PUT", `/store/inventory/${pet.id}`, { quantity: stock });
  return { key, limitedKey: limited.key, petId: pet.id };
}

/** An answer to a request of a limited account. `window`: when the window that its headers describe ends (Unix seconds). */
export type LimitedAnswer = { isPass: boolean; window: number; sentAt: number; at: number };

/** The requests of a limited account. `stop` ends them, and waits for the last answers. */
export type Asking = { answers: LimitedAnswer[]; stop(): Promise<void> };

export type OrderLoad = {
  /** When (ms) the newest order was acknowledged. */
  lastAt(): number;
  /** The entrance that may be gone. */
  excused: { name: string };
  /** Begins to send requests of a limited account at an even rate, with its keys in turn. */
  ask(keys: readonly string[], perSecond: number): Asking;
  /** Stops, and waits until every order is acknowledged, or at once. */
  stop(how: { gracefully: boolean }): Promise<{ acknowledged: number[]; admitted: number; wrong: string[] }>;
};

/** An answer to an order, and how long it took (ms). */
export type OrderAnswer = { entrance: string; status: number; ms: number };

type Options = { ordersPerSecond: number; onOrderAnswer?: (answer: OrderAnswer) => void };

/** Sends orders at an even rate, each with a key of its own until it is acknowledged, and the requests of the limited account. */
export function startOrders(
  entrances: readonly Entrance[],
  { key, limitedKey, petId }: OrderShop,
  { ordersPerSecond, onOrderAnswer }: Options,
): OrderLoad {
  const [acknowledged, wrong]: [number[], string[]] = [[], []];
  const [excused, askings]: [{ name: string }, Asking[]] = [{ name: "" }, []];
  let [lastAt, isGone] = [0, false];

  /** Sends a request to one entrance after the other, until the answer is not a refusal that asks to try again. */
  async function send(first: number, method: string, path: string, asked: Parameters<typeof ask>[2]): Promise<Reply | undefined> {
    for (let turn = first; ; turn++) {
      const { name, url } = entrances[turn % entrances.length]!;
      const begunAt = performance.now();
      try {
        const answer = await ask(`${url}${path}`, method, asked);
        if (method === "POST") onOrderAnswer?.({ entrance: name, status: answer.status, ms: performance.now() - begunAt });
        if (answer.status !== 503) return answer;
        if (answer.headers.get("retry-after") === null) wrong.push(`503 of ${name} without Retry-After`);
      } catch (error) {
        if (name !== excused.name) wrong.push(`${name}: ${String(error)}`);
      }
      if (isGone) return undefined;
      await pause(500 + Math.random() * 500);
    }
  }
  async function order(number: number): Promise<void> {
    const asked = { key, body: { petId, quantity: 1 }, headers: { "idempotency-key": `order-${number}` } };
    const answer = await send(number, "POST", "/v1/store/orders", asked);
    if (answer?.status !== 201) return void wrong.push(`order ${number} got ${answer?.status}: ${JSON.stringify(answer?.body)}`);
    acknowledged.push((answer.body as { id: number }).id);
    lastAt = Date.now();
  }
  async function askLimited(limited: string, number: number, answers: LimitedAnswer[]): Promise<void> {
    const sentAt = Date.now();
    const answer = await send(number, "GET", "/v1/pets", { key: limited });
    if (answer === undefined) return;
    const [{ status, headers }, isPass] = [answer, answer.status === 200];
    if (!isPass && (status !== 429 || headers.get("retry-after") === null)) wrong.push(`a limited request got ${status}`);
    answers.push({ isPass, window: Number(headers.get("x-ratelimit-reset")), sentAt, at: Date.now() });
  }
  function beginAsking(keys: readonly string[], perSecond: number): Asking {
    const answers: LimitedAnswer[] = [];
    const work = (number: number) => askLimited(keys[number % keys.length]!, number, answers);
    askings.push({ answers, ...evenly({ perSecond, most: limitedMax }, work) });
    return askings.at(-1)!;
  }
  const { answers } = beginAsking([limitedKey], limitedPerSecond);
  const ordering = evenly({ perSecond: ordersPerSecond, most: ordersMax }, order);
  return {
    lastAt: () => lastAt,
    excused,
    ask: beginAsking,
    async stop({ gracefully }) {
      isGone = !gracefully;
      await Promise.all([ordering, ...askings].map((one) => one.stop()));
      return { acknowledged, admitted: answers.filter(({ isPass }) => isPass).length, wrong };
    },
  };
}

/** Starts work at an even rate, unless `most` is running. `stop` ends that, and waits for what has started. */
function evenly(
  { perSecond, most }: { perSecond: number; most: number },
  work: (number: number) => Promise<void>,
): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>();
  let number = 0;
  const timer = setInterval(() => {
    if (running.size >= most) return;
    const one: Promise<void> = work(number++).finally(() => running.delete(one));
    running.add(one);
  }, 1_000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

type Read = <R extends Record<string, unknown>>(text: string) => Promise<R[]>;

/** Each acknowledged order is there once, the stock agrees, and each order has its event at its place. */
export async function requireExact(read: Read, acknowledged: number[]): Promise<void> {
  const orders = await read<{ id: string }>("SELECT id FROM orders ORDER BY id");
  assert.deepEqual(
    orders.map(({ id }) => Number(id)),
    acknowledged.toSorted((a, b) => a - b),
  );
  const [entry] = await read<{ quantity: string; held: string }>("SELECT quantity, held FROM inventory");
  assert.deepEqual(Object.values(entry!).map(Number), [stock - acknowledged.length, acknowledged.length]);
  await until(async () => (await read("SELECT FROM event_outbox")).length === 0);
  const events = await read<{ resource: string }>("SELECT resource FROM events WHERE type = 'order.created'");
  assert.deepEqual(events.map(({ resource }) => resource).toSorted(), orders.map(({ id }) => `order/${id}`).toSorted());
  const gaps = await read("SELECT account_id FROM events GROUP BY account_id HAVING MIN(position) <> 1 OR MAX(position) <> COUNT(*)");
  assert.deepEqual(gaps, []);
}
