import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { runCommand } from "./commands.ts";
import { ask, type Reply } from "./service.ts";
import { until } from "./until.ts";

const stock = 1_000_000;
/** How many requests the limited account may send in all; it sends more. */
export const quota = 300;
const inFlightMax = 500;

/** Where clients send requests: a balancer or a node. */
export type Entrance = { name: string; url: string };

export type OrderShop = { key: string; limitedKey: string; petId: number };

/** Makes a shop with an animal of a large stock, and the limited account. */
export async function openOrderShop(env: Record<string, string>, url: string): Promise<OrderShop> {
  const account = async (perDay: number): Promise<string> => {
    const words = ["accounts", "create", "--name", "Shop", "--plan", "enterprise", "--per-minute", `${perDay}`, "--per-day", `${perDay}`];
    return (JSON.parse((await runCommand([...words, "--json"], env)).out) as { key: string }).key;
  };
  const [key, limitedKey] = [await account(1_000_000_000), await account(quota)];
  const make = async (method: string, path: string, body: unknown): Promise<{ id: number }> => {
    const made = await ask<{ id: number }>(`${url}/v1${path}`, method, { key, body });
    assert.ok(made.status < 300, JSON.stringify(made.body));
    return made.body;
  };
  const category = await make("POST", "/categories", { name: "Dogs" });
  const pet = await make("POST", "/pets", { name: "Rex", categoryId: category.id });
  await make("PUT", `/store/inventory/${pet.id}`, { quantity: stock });
  return { key, limitedKey, petId: pet.id };
}

export type OrderLoad = {
  /** When (ms) the newest order was acknowledged. */
  lastAt(): number;
  /** The entrance that may be gone. */
  excused: { name: string };
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
  const excused = { name: "" };
  let [count, inFlight, admitted, lastAt, isGone] = [0, 0, 0, 0, false];

  /** Sends a request to one entrance after the other, until the answer is not a refusal that asks to try again. */
  async function send(
    first: number,
    method: string,
    path: string,
    asked: Parameters<typeof ask>[2],
  ): Promise<Pick<Reply, "status" | "body">> {
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
      if (isGone) return { status: 0, body: undefined };
      await pause(500 + Math.random() * 500);
    }
  }
  async function order(number: number): Promise<void> {
    const asked = { key, body: { petId, quantity: 1 }, headers: { "idempotency-key": `order-${number}` } };
    const { status, body } = await send(number, "POST", "/v1/store/orders", asked);
    if (status !== 201) return void wrong.push(`order ${number} got ${status}: ${JSON.stringify(body)}`);
    acknowledged.push((body as { id: number }).id);
    lastAt = Date.now();
  }
  const started: Promise<void>[] = [];
  const follow = (work: Promise<void>): void => {
    inFlight++;
    started.push(work.finally(() => inFlight--));
  };
  const ordering = setInterval(() => void (inFlight < inFlightMax && follow(order(count++))), 1_000 / ordersPerSecond);
  const asking = setInterval(() => {
    follow(send(count, "GET", "/v1/pets", { key: limitedKey }).then(({ status }) => void (status === 200 && admitted++)));
  }, 50);
  return {
    lastAt: () => lastAt,
    excused,
    async stop({ gracefully }) {
      isGone = !gracefully;
      clearInterval(ordering);
      clearInterval(asking);
      await Promise.all(started);
      return { acknowledged, admitted, wrong };
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
