import assert from "node:assert/strict";
import fc from "fast-check";
import type { Failure, InventoryItem, Order, Pet } from "./models.ts";
import type { TestService } from "./service.ts";
import { made, newCategory } from "./shop.ts";
import { operations, type Action, type Outcome, type Shop } from "./stock-model.ts";

/** The next request of a client. Slots are resolved to the animals and orders that exist when it is sent. */
export type Wish = { op: keyof typeof operations; slot: number; petSlot: number | null | undefined; body: Action["body"] };

/** An own shop, and all ids that its clients have seen, those of deleted resources included. */
export type Scene = { shop: Shop; pets: number[]; orders: number[]; send(action: Action): Promise<Outcome>; lists(): Promise<Lists> };
type Lists = { pets: Pet[]; orders: Order[]; items: InventoryItem[] };

const nobody = 999_999_999;
const units = fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 4 }) }, { weight: 1, arbitrary: fc.constant(2_147_483_647) });
const shipDate = fc
  .constantFrom("2026-12-24T10:00:00Z", "2027-01-01T00:00:00.5Z")
  .map((date) => new Date(date).toISOString().replace(".000Z", "Z"));
const status = fc.constantFrom("available", "pending", "sold");
const optional = { requiredKeys: [] };
const order = fc.record({ quantity: units, complete: rarely(fc.boolean()), shipDate }, optional);
const patch = fc.record(
  { quantity: fc.option(units, { freq: 9 }), complete: rarely(fc.option(fc.boolean())), shipDate: fc.option(shipDate) },
  optional,
);
const bodies = {
  createOrder: order,
  replaceOrder: order,
  updateOrder: patch,
  deleteOrder: fc.constant({}),
  count: fc.record({ quantity: fc.oneof({ weight: 20, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: units }) }),
  untrack: fc.constant({}),
  adjust: fc.record({ delta: fc.oneof({ weight: 20, arbitrary: fc.integer({ min: -3, max: 5 }) }, { weight: 1, arbitrary: units }) }),
  createPet: fc.record({ name: fc.constant("Rex"), status }, { requiredKeys: ["name"] }),
  replacePet: fc.record({ name: fc.constantFrom("Rex", "Luna"), status }, { requiredKeys: ["name"] }),
  updatePet: fc.record({ name: fc.constantFrom("Rex", "Luna"), status: fc.option(status) }, optional),
  deletePet: fc.constant({}),
} satisfies Record<keyof typeof operations, fc.Arbitrary<object>>;

const slots = fc.nat(20);
/** The animal of an order: mostly set when the order is placed, and seldom changed; null makes a draft. */
const petSlots: Record<string, fc.Arbitrary<number | null | undefined>> = {
  create: fc.option(slots, { nil: undefined, freq: 10 }),
  replace: fc.option(slots, { nil: undefined, freq: 5 }),
  update: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.option(slots, { freq: 4 })),
};

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | false> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(false as const) }, { weight: 1, arbitrary });
}

/** Wishes for these operations, in these proportions. */
export function wishes(weights: Partial<Record<keyof typeof operations, number>>): fc.Arbitrary<Wish> {
  const ops = Object.entries(weights) as [keyof typeof operations, number][];
  return fc.oneof(
    ...ops.map(([op, weight]) => ({
      weight,
      arbitrary: fc.record({
        op: fc.constant(op),
        slot: slots,
        petSlot: petSlots[op.slice(0, -5)] ?? fc.constant(undefined),
        body: bodies[op] as fc.Arbitrary<Action["body"]>,
      }),
    })),
  );
}

/** An own account with an animal for each of these stocks; undefined: untracked. */
export async function openScene(service: TestService, stocks: (number | undefined)[]): Promise<Scene> {
  const { key } = await service.newAccount();
  const category = await newCategory(service, "Dogs", key);
  const shop: Shop = { categories: [category.id], pets: {}, orders: {} };
  for (const free of stocks) {
    const { id, ...pet } = await made<Pet>(service, "POST", "/pets", { name: "Rex", categoryId: category.id }, key);
    if (free !== undefined) await made(service, "PUT", `/store/inventory/${id}`, { quantity: free }, key);
    shop.pets[id] = { ...pet, ...(free !== undefined && { stock: { free, held: 0 } }) };
  }
  const scene: Scene = { shop, pets: Object.keys(shop.pets).map(Number), orders: [], send, lists };

  async function send({ op, id, body }: Action): Promise<Outcome> {
    const { method, path } = operations[op];
    const { status: code, body: answer } = await service.ask<Failure & { id: number }>(method, path(id), {
      key,
      ...(method !== "DELETE" && { body }),
    });
    assert.ok(code < 500, `${method} ${path(id)} ${JSON.stringify(body)}: ${code}`);
    if (code >= 400) return { status: code, code: answer.code };
    if (op === "createOrder") scene.orders.push(answer.id);
    if (op === "createPet") scene.pets.push(answer.id);
    return { status: code, body: answer };
  }

  async function lists(): Promise<Lists> {
    return { pets: await every<Pet>("/pets"), orders: await every<Order>("/store/orders"), items: await every("/store/inventory") };
  }

  async function every<T>(path: string): Promise<T[]> {
    const rows: T[] = [];
    for (let next = `${path}?limit=100`; next !== "";) {
      const page = await service.ask<T[]>("GET", next, { key });
      rows.push(...page.body);
      next = /<\/v1([^>]*)>/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
    }
    return rows;
  }
  return scene;
}

/** The request that a wish makes now; slot 0 stands for an id that never existed. */
export function actionOf({ op, slot, petSlot, body }: Wish, { shop, pets, orders }: Scene): Action {
  const known = op.endsWith("Order") ? orders : pets;
  const at = (ids: number[], index: number): number => (index === 0 ? nobody : (ids[index % ids.length] ?? nobody));
  const id = op.startsWith("create") ? 0 : at(known, slot);
  if (op === "createPet" || op === "replacePet")
    return { op, id, body: { ...body, categoryId: slot === 0 ? nobody : (shop.categories[0] ?? 0) } };
  if (!/^(create|replace|update)Order$/.test(op) || petSlot === undefined) return { op, id, body };
  if (petSlot === null) return { op, id, body: op === "updateOrder" ? { ...body, petId: null } : body };
  return { op, id, body: { ...body, petId: at(pets, petSlot) } };
}

/** The id of what an answer says was created. */
export function newIdIn({ status: code, body }: Outcome): number {
  return code === 201 ? ((body as { id?: number }).id ?? 0) : 0;
}
