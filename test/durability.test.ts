import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openClerk, type Clerk, type Given } from "./support/clerk.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Category, InventoryItem, Order, Pet } from "./support/models.ts";
import { createAccount, startServer } from "./support/process.ts";
import { openRaw } from "./support/raw.ts";
import { ask } from "./support/service.ts";

const clerksMax = 12;
const unitsAtFirst = 1_000_000;
const kills = runs(2, 10);

/** A data folder with a shop in it, and its clerks. */
async function openShop(t: TestContext) {
  const dataDir = join(temporaryFolder(t), "data");
  const key = await createAccount(dataDir);
  const start = () => startServer(t, dataDir);
  const server = await start();
  const send = async <T>(method: string, path: string, body: unknown): Promise<T> =>
    (await ask<T>(`${server.address}/v1${path}`, method, { key, body })).body;
  const category = await send<Category>("POST", "/categories", { name: "Dogs" });
  const given: Given = { orders: new Set(), pets: new Set() };
  const animals: number[] = [];
  for (const name of ["Rex", "Luna", "Max"]) {
    const { id } = await send<Pet>("POST", "/pets", { name, categoryId: category.id });
    await send("PUT", `/store/inventory/${id}`, { quantity: unitsAtFirst });
    animals.push(id);
    given.pets.add(id);
  }
  await server.kill();
  const clerks = Array.from({ length: clerksMax }, (_, index) =>
    openClerk({ key, name: `clerk ${index}`, animals, categoryId: category.id, given }),
  );
  return { key, start, animals, clerks };
}

type Shop = Awaited<ReturnType<typeof openShop>>;

/** The service shows exactly what was acknowledged, and no unit was lost or created. */
async function requireAllKept(address: string, { key, clerks, animals }: Pick<Shop, "key" | "clerks" | "animals">): Promise<void> {
  const all = async <T>(path: string): Promise<T[]> => {
    const rows: T[] = [];
    for (let next = path; next !== "";) {
      const page = await ask<T[]>(`${address}/v1${next}`, "GET", { key });
      rows.push(...page.body);
      next = /<\/v1([^>]*)>/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
    }
    return rows;
  };
  const orders = await all<Order>("/store/orders?limit=100");
  const pets = await all<Pet>("/pets?limit=100");
  const items = await all<InventoryItem>("/store/inventory?limit=100");
  const acknowledged = <T>(rows: (clerk: Clerk) => Map<number, T>): T[] =>
    clerks
      .flatMap((clerk) => [...rows(clerk)])
      .toSorted(([a], [b]) => a - b)
      .map(([, row]) => row);
  assert.deepEqual(
    orders,
    acknowledged((clerk) => clerk.orders),
  );
  assert.deepEqual(
    pets.filter(({ id }) => !animals.includes(id)),
    acknowledged((clerk) => clerk.pets),
  );
  for (const { petId, quantity } of items) {
    const added = clerks.reduce((sum, clerk) => sum + (clerk.added.get(petId) ?? 0), 0);
    const soldOrHeld = orders.filter((order) => order.petId === petId).reduce((sum, order) => sum + Number(order.quantity), 0);
    assert.equal(unitsAtFirst + added - soldOrHeld, quantity, `units of animal ${petId}`);
  }
}

test("a service that is killed again and again under load starts without help each time, and has every write that it acknowledged", async (t) => {
  const shop = await openShop(t);
  const { clerks } = shop;
  for (let round = 0; round < kills; round += 1) {
    const server = await shop.start();
    await Promise.all(clerks.map((clerk) => clerk.settle(server.address)));
    await requireAllKept(server.address, shop);
    for (const clerk of clerks) for (const kept of clerk.kept.slice(-2)) await clerk.replay(server.address, kept);

    let left = random(20, 300);
    const killed = Promise.withResolvers<void>();
    const answered = (): void => {
      left -= 1;
      if (left === 0) server.kill().then(killed.resolve, killed.reject);
    };
    await Promise.all([killed.promise, ...clerks.map((clerk) => clerk.work(server.address, answered, () => left <= 0))]);
  }
  const server = await shop.start();
  await Promise.all(clerks.map((clerk) => clerk.settle(server.address)));
  await requireAllKept(server.address, shop);
  await server.kill();
});

test("a service that is asked to stop under load answers the requests in flight, and keeps every write that it answered", async (t) => {
  const shop = await openShop(t);
  const { clerks, key } = shop;
  const server = await shop.start();
  const body = JSON.stringify({ quantity: 3 });
  const inFlight = await Promise.all(Array.from({ length: 20 }, () => openRaw(server.address)));
  for (const connection of inFlight) {
    const head = [
      "POST /v1/store/orders HTTP/1.1",
      "Host: a",
      `X-API-Key: ${key}`,
      "Content-Type: application/json",
      "Expect: 100-continue",
    ];
    await connection.write(`${[...head, `Content-Length: ${body.length}`].join("\r\n")}\r\n\r\n`);
    assert.equal((await connection.answer()).status, 100);
  }
  let stopping: Promise<void> | undefined;
  let left = 100;
  const answered = (): void => {
    left -= 1;
    if (left === 0) stopping = server.terminate();
  };
  await Promise.all(clerks.map((clerk) => clerk.work(server.address, answered, () => false)));
  await stopping;

  const drafts = new Map<number, Order>();
  for (const connection of inFlight) {
    await connection.write(body);
    const { status, body: text } = await connection.answer();
    assert.equal(status, 201, text);
    const draft = JSON.parse(text) as Order;
    drafts.set(Number(draft.id), draft);
  }
  assert.equal(await server.ended, 0);

  const again = await shop.start();
  await Promise.all(clerks.map((clerk) => clerk.settle(again.address)));
  for (const [id, draft] of drafts) clerks[0]?.orders.set(id, draft);
  await requireAllKept(again.address, shop);
  await again.kill();
});
