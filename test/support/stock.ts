import assert from "node:assert/strict";
import type { PetStatus } from "../../src/store/pets/pets.ts";
import type { Failure, InventoryItem, Order, Pet } from "./models.ts";
import type { Reply, TestService } from "./service.ts";
import { made, newCategory, newPet } from "./shop.ts";

/** An animal's visible stock: the count and status of its entry, if it has one, and the animal's status. */
export type Seen = { quantity?: number; entry?: PetStatus; pet: PetStatus };

export type Stock = {
  /** An animal without an entry. */
  untracked(fields?: Partial<Pet>): Promise<number>;
  /** An animal with `quantity` units. */
  tracked(quantity: number): Promise<number>;
  order(fields: Order): Promise<Order & { id: number }>;
  patch(orderId: number, fields: { [field in keyof Order]: Order[field] | null }): Promise<Order>;
  count(petId: number, quantity: number): Promise<InventoryItem>;
  untrack(petId: number): Promise<void>;
  cancel(orderId: number): Promise<void>;
  seen(petId: number): Promise<Seen>;
  /** Sends a request that must be refused with this, and must change neither order nor stock. */
  refused(expected: [number, string], method: string, path: string, body?: unknown): Promise<Failure>;
};

/** The operations of the stock as a shop's clerk knows them; each must succeed unless it says otherwise. */
async function openStock(service: TestService): Promise<Stock> {
  const category = await newCategory(service, "Dogs");
  const untracked: Stock["untracked"] = async (fields) => (await newPet(service, category.id, fields)).id;
  const count: Stock["count"] = (petId, quantity) => made(service, "PUT", `/store/inventory/${petId}`, { quantity });

  async function seen(petId: number): Promise<Seen> {
    const [pet] = await made<Pet[]>(service, "GET", `/pets?id=${petId}`);
    const entry: Reply<InventoryItem> = await service.ask("GET", `/store/inventory/${petId}`);
    assert.ok(pet);
    return { ...(entry.status === 200 && { quantity: entry.body.quantity, entry: entry.body.status }), pet: pet.status };
  }

  async function everything(): Promise<unknown> {
    const orders = await made<Order[]>(service, "GET", "/store/orders?limit=100");
    const entries = await made<InventoryItem[]>(service, "GET", "/store/inventory?limit=100");
    return { orders, entries, pets: await made<Pet[]>(service, "GET", "/pets?limit=100") };
  }

  return {
    untracked,
    async tracked(quantity) {
      const id = await untracked();
      await count(id, quantity);
      return id;
    },
    order: (fields) => made(service, "POST", "/store/orders", fields),
    patch: (orderId, fields) => made(service, "PATCH", `/store/orders/${orderId}`, fields),
    count,
    untrack: (petId) => made(service, "DELETE", `/store/inventory/${petId}`),
    cancel: (orderId) => made(service, "DELETE", `/store/orders/${orderId}`),
    seen,
    async refused([status, code], method, path, body) {
      const before = await everything();
      const reply: Reply<Failure> = await service.ask(method, path, body === undefined ? {} : { body });
      assert.deepEqual([reply.status, reply.body.code, reply.body.status], [status, code, status], JSON.stringify(reply.body));
      assert.deepEqual(await everything(), before);
      return reply.body;
    },
  };
}

/** The stock of a new account, and the service as that account's key sees it. */
export async function openStockOfNewAccount(running: TestService): Promise<{ service: TestService; stock: Stock }> {
  const { key } = await running.newAccount();
  const service: TestService = { ...running, key, ask: (method, path, asked) => running.ask(method, path, { key, ...asked }) };
  return { service, stock: await openStock(service) };
}
