import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { runs } from "./support/fault-runs.ts";
import { linearizable, type Event } from "./support/linearize.ts";
import type { Order } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { actionOf, newIdIn, openScene, wishes, type Scene, type Wish } from "./support/stock-clients.ts";
import { shown, step } from "./support/stock-model.ts";

const stocks = fc.array(fc.option(fc.nat(4), { nil: undefined }), { minLength: 1, maxLength: 3 });
const onOrders = { createOrder: 8, replaceOrder: 3, updateOrder: 8, deleteOrder: 3 };
const onStock = { count: 3, untrack: 1, adjust: 3 };
const onPets = { createPet: 1, replacePet: 1, updatePet: 2, deletePet: 1 };
const anything = wishes({ ...onOrders, ...onStock, ...onPets });

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** Runs the clients' wishes, each client's in sequence and all clients at once, and returns the events. */
async function play(scene: Scene, clients: Wish[][]): Promise<Event[]> {
  const events: Event[] = [];
  let moment = 0;
  const run = async (script: Wish[]): Promise<void> => {
    for (const wish of script) {
      const action = actionOf(wish, scene);
      const sent = moment++;
      const outcome = await scene.send(action);
      events.push({ action, outcome, sent, answered: moment++ });
    }
  };
  await Promise.all(clients.map(run));
  return events;
}

test("sequential requests: every response and every list is what the rules say", async () => {
  const script = fc.array(anything, { minLength: 5, maxLength: 40, size: "max" });
  const property = fc.asyncProperty(stocks, script, async (counts, wished) => {
    const scene = await openScene(service, counts);
    let { shop } = scene;
    let newest = 0;
    for (const wish of wished) {
      const action = actionOf(wish, scene);
      const outcome = await scene.send(action);
      const expected = step(shop, action, newIdIn(outcome));
      assert.deepEqual(outcome, expected.outcome, JSON.stringify({ action, shop }));
      if (action.op === "createOrder" && outcome.status === 201) assert.ok(newIdIn(outcome) > newest, "no id is used twice");
      if (action.op === "createOrder") newest = Math.max(newest, newIdIn(outcome));
      ({ shop } = expected);
    }
    assert.deepEqual(await scene.lists(), shown(shop));
  });
  await fc.assert(property, { numRuns: runs(10, 80) });
});

test("concurrent requests are linearizable: the responses fit some order of the requests", async () => {
  const clients = fc.array(fc.array(anything, { minLength: 2, maxLength: 5, size: "max" }), {
    minLength: 3,
    maxLength: 5,
    size: "max",
  });
  const property = fc.asyncProperty(stocks, clients, async (counts, scripts) => {
    const scene = await openScene(service, counts);
    const events = await play(scene, scripts);
    assert.ok(linearizable(scene.shop, events, await scene.lists()), JSON.stringify({ shop: scene.shop, events }, undefined, 1));
  });
  await fc.assert(property, { numRuns: runs(10, 80), endOnFailure: true });
});

test("with many clients, counted in − sold − held = quantity, and never more is sold than was counted in", async () => {
  const busy = wishes({
    createOrder: 10,
    replaceOrder: 3,
    updateOrder: 10,
    deleteOrder: 4,
    adjust: 4,
    replacePet: 1,
    updatePet: 1,
    deletePet: 1,
  });
  const clients = fc.array(fc.array(busy, { minLength: 10, maxLength: 25, size: "max" }), { minLength: 16, maxLength: 16 });
  const property = fc.asyncProperty(fc.array(fc.nat(8), { minLength: 3, maxLength: 4 }), clients, async (counts, scripts) => {
    const scene = await openScene(service, counts);
    const events = await play(scene, scripts);
    const { pets, orders, items } = await scene.lists();
    for (const { petId, quantity, status } of items) {
      const added = events.filter(({ action, outcome }) => action.op === "adjust" && action.id === petId && outcome.status === 200);
      const countedIn = added.reduce((sum, { action }) => sum + Number(action.body["delta"]), scene.shop.pets[petId]?.stock?.free ?? 0);
      const [sold, held] = [unitsOf(orders, petId, true), unitsOf(orders, petId, false)];
      assert.equal(countedIn - sold - held, quantity, `pet ${petId}`);
      assert.ok(quantity >= 0 && sold <= countedIn, `pet ${petId}`);
      assert.equal(status, quantity > 0 ? "available" : held > 0 ? "pending" : "sold");
      assert.equal(pets.find(({ id }) => id === petId)?.status, status);
    }
  });
  await fc.assert(property, { numRuns: runs(3, 8), endOnFailure: true });
});

test("of many concurrent orders of one unit, exactly as many are accepted as there are units", async () => {
  const property = fc.asyncProperty(fc.nat(20), fc.nat(40), fc.infiniteStream(fc.boolean()), async (units, more, completes) => {
    const scene = await openScene(service, [units]);
    const petId = scene.pets[0] ?? 0;
    const bodies = [...completes.take(units + more)].map((complete) => ({ petId, complete }));
    const outcomes = await Promise.all(bodies.map((body) => scene.send({ op: "createOrder", id: 0, body })));
    const { orders, items } = await scene.lists();
    assert.equal(orders.length, units);
    assert.equal(items[0]?.quantity, 0);
    assert.equal(outcomes.filter(({ status }) => status === 201).length, units);
    const refused = new Set(outcomes.filter(({ status }) => status !== 201).map(({ code }) => code));
    assert.ok(refused.isSubsetOf(new Set(["insufficient_stock", "pet_not_available"])), [...refused].join());
  });
  await fc.assert(property, { numRuns: runs(3, 15), endOnFailure: true });
});

function unitsOf(orders: Order[], petId: number, complete: boolean): number {
  return orders
    .filter((order) => order.petId === petId && order.complete === complete)
    .reduce((sum, { quantity = 0 }) => sum + quantity, 0);
}
