import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { runCommand } from "./support/commands.ts";
import { runs } from "./support/fault-runs.ts";
import { startHighAvailability, type Machine } from "./support/high-availability.ts";
import { ask } from "./support/service.ts";
import { until } from "./support/until.ts";

const ordersPerSecond = 100;
const stock = 1_000_000;
/** What the limited account may ask in all; more is asked. */
const quota = 300;
const inFlightMax = 500;
const rounds = runs(1, 10);

/** A failover of the recipe, and how the machines are whole again afterwards. */
type Fault = "primary" | "machine of the primary" | "redis master" | "node" | "balancer";

test("the recipe for high availability loses no order, event or unit of stock to failovers, and answers only 503 meanwhile", async (t) => {
  const { machines, close } = await startHighAvailability();
  const ends = new AsyncDisposableStack();
  t.after(() => ends.disposeAsync());
  ends.defer(close);
  await until(() => isReplicated(machines));
  const shop = await openShop(machines);
  const load = startOrders(machines, shop);
  ends.defer(async () => void (await load.stop({ gracefully: false })));
  for (let round = 0; round < rounds; round++) {
    const primary: Fault = round % 5 === 4 ? "machine of the primary" : "primary";
    const faults: Fault[] = rounds === 1 ? [primary] : [primary, "redis master", "node", "balancer"];
    for (const fault of faults) await breakAndWait(t, machines, load, fault, round);
  }
  const { acknowledged, admitted, wrong } = await load.stop({ gracefully: true });
  assert.deepEqual(wrong, []);
  t.diagnostic(`${acknowledged.length} orders acknowledged; ${admitted} of ${quota} requests admitted`);
  assert.ok(admitted <= quota, `${admitted} admitted`);
  await requireExact(machines, acknowledged);
});

type Shop = { key: string; limitedKey: string; petId: number };

async function openShop(machines: readonly Machine[]): Promise<Shop> {
  const { env, balancer } = machines[0]!;
  const account = async (perDay: number): Promise<string> => {
    const words = ["accounts", "create", "--name", "Shop", "--plan", "enterprise", "--per-minute", `${perDay}`, "--per-day", `${perDay}`];
    return (JSON.parse((await runCommand([...words, "--json"], env)).out) as { key: string }).key;
  };
  const [key, limitedKey] = [await account(1_000_000_000), await account(quota)];
  const make = async (method: string, path: string, body: unknown): Promise<{ id: number }> => {
    const made = await ask<{ id: number }>(`${balancer}/v1${path}`, method, { key, body });
    assert.ok(made.status < 300, JSON.stringify(made.body));
    return made.body;
  };
  const category = await make("POST", "/categories", { name: "Dogs" });
  const pet = await make("POST", "/pets", { name: "Rex", categoryId: category.id });
  await make("PUT", `/store/inventory/${pet.id}`, { quantity: stock });
  return { key, limitedKey, petId: pet.id };
}

type Load = {
  /** When (ms) the newest order was acknowledged. */
  lastAt(): number;
  /** The machine whose balancer may be gone. */
  excused: { address: string };
  /** Stops, and waits until every order is acknowledged, or at once. */
  stop(how: { gracefully: boolean }): Promise<{ acknowledged: number[]; admitted: number; wrong: string[] }>;
};

/** Sends orders at an even rate, each with a key of its own until it is acknowledged, and the requests of the limited account. */
function startOrders(machines: readonly Machine[], { key, limitedKey, petId }: Shop): Load {
  const [acknowledged, wrong]: [number[], string[]] = [[], []];
  const excused = { address: "" };
  let [count, inFlight, admitted, lastAt, isGone] = [0, 0, 0, 0, false];

  /** Sends a request to one balancer after the other, until the answer is not a refusal that asks to try again. */
  async function send(
    first: number,
    method: string,
    path: string,
    asked: Parameters<typeof ask>[2],
  ): Promise<{ status: number; body: unknown }> {
    for (let turn = first; ; turn++) {
      const { address, balancer } = machines[turn % machines.length]!;
      try {
        const answer = await ask(`${balancer}${path}`, method, asked);
        if (answer.status !== 503) return answer;
        if (answer.headers.get("retry-after") === null) wrong.push(`503 of ${address} without Retry-After`);
      } catch (error) {
        if (address !== excused.address) wrong.push(`${address}: ${String(error)}`);
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

/** Makes a fault and waits until all is whole again. Fails if orders need over two seconds once the store takes writes. */
async function breakAndWait(t: TestContext, machines: readonly Machine[], load: Load, fault: Fault, round: number): Promise<void> {
  const brokenAt = Date.now();
  if (fault === "primary" || fault === "machine of the primary") {
    const primary = await primaryOf(machines);
    const others = machines.filter((one) => one !== primary);
    if (fault === "primary") primary.killPostgres();
    else await primary.kill("patroni");
    const storeAt = await when(async () => (await Promise.all(others.map(({ isPrimary }) => isPrimary()))).includes(true));
    const orderAt = await when(() => load.lastAt() >= storeAt);
    if (fault !== "primary") primary.start("patroni");
    t.diagnostic(`${fault}: the store took writes again after ${storeAt - brokenAt} ms, and orders went on ${orderAt - storeAt} ms later`);
    requireSoon(orderAt - storeAt);
    await until(() => isReplicated(machines));
    return;
  }
  const broken = fault === "redis master" ? machines.find(({ isMaster }) => isMaster())! : machines[round % machines.length]!;
  const program = ({ "redis master": "redis", node: "petstore", balancer: "haproxy" } as const)[fault];
  if (fault === "balancer") load.excused.address = broken.address;
  await broken.kill(program);
  const orderAt = await when(() => load.lastAt() > Date.now() - 50 && load.lastAt() > brokenAt + 50);
  if (fault === "redis master") {
    const masterAt = await when(() => machines.some((one) => one !== broken && one.isMaster()));
    t.diagnostic(`${fault}: Redis had a master again after ${masterAt - brokenAt} ms`);
  }
  t.diagnostic(`${fault}: orders went on after ${orderAt - brokenAt} ms`);
  requireSoon(orderAt - brokenAt);
  broken.start(program);
  for (const address of [broken.node, broken.balancer])
    await until(async () => (await fetch(`${address}/readyz`).catch(() => undefined))?.status === 200);
  await until(() => machines.filter(({ isMaster }) => isMaster()).length === 1);
  load.excused.address = "";
}

/** In `npm test` other tests have the processors, so only `npm run test:faults` measures. */
function requireSoon(ms: number): void {
  if (rounds > 1) assert.ok(ms <= 2_000, `${ms} ms`);
}

/** Returns when (ms) something became so. */
async function when(so: () => boolean | Promise<boolean>): Promise<number> {
  await until(so);
  return Date.now();
}

/** Waits for it: commits wait while the standby that they need is being replaced. */
async function primaryOf(machines: readonly Machine[]): Promise<Machine> {
  let primary: Machine | undefined;
  await until(async () => {
    const takes = await Promise.all(machines.map(({ isPrimary }) => isPrimary()));
    return (primary = machines[takes.indexOf(true)]) !== undefined;
  });
  return primary!;
}

/** Whether a synchronous standby and another one follow the primary. A server that is busy with its start may not answer. */
async function isReplicated(machines: readonly Machine[]): Promise<boolean> {
  const text = "SELECT sync_state AS state FROM pg_stat_replication WHERE state = 'streaming'";
  const primary = await primaryOf(machines);
  const rows = await primary.query<{ state: string }>("postgres", text).catch(() => []);
  return rows.length === 2 && rows.some(({ state }) => state === "sync");
}

/** What was acknowledged is there once, the stock agrees, and each order has its event at its place. */
async function requireExact(machines: readonly Machine[], acknowledged: number[]): Promise<void> {
  const primary = await primaryOf(machines);
  const read = async <R extends Record<string, unknown>>(text: string) => primary.query<R>("petstore", text);
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
