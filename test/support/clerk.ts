import assert from "node:assert/strict";
import type { InventoryItem, Order, Pet } from "./models.ts";
import { ask, type Reply } from "./service.ts";

type Call = { method: string; path: string; body?: Record<string, unknown>; idempotencyKey?: string; orderId?: number };
type Kept = { call: Call; body: unknown };

/** A client that remembers what was acknowledged, and sends again what was not. */
export type Clerk = {
  orders: Map<number, Order>;
  pets: Map<number, Pet>;
  /** Units counted in beyond the first ones, by animal. */
  added: Map<number, number>;
  /** What was answered to POSTs, for the Idempotency-Keys. */
  kept: Kept[];
  /** Works, request after request, until the connection breaks or `stop` says so. */
  work(address: string, answered: () => void, stop: () => boolean): Promise<void>;
  /** Sends again what the last connection left without an answer. */
  settle(address: string): Promise<void>;
  /** Sends an answered POST again, which must be answered the same. */
  replay(address: string, kept: Kept): Promise<void>;
};

/** All ids that any clerk ever received, by kind. */
export type Given = { orders: Set<number>; pets: Set<number> };

type ClerkOptions = { key: string; name: string; animals: number[]; categoryId: number; given: Given };

/** `animals` are tracked and have enough units. */
export function openClerk(options: ClerkOptions): Clerk {
  const { key, given } = options;
  const orders = new Map<number, Order>();
  const pets = new Map<number, Pet>();
  const added = new Map<number, number>();
  const kept: Kept[] = [];
  let count = 0;
  let unanswered: Call | undefined;

  /** `again` marks a request that may already have been carried out without an answer. */
  function take(call: Call, { status, body }: Reply, again: boolean): void {
    const told = `${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`;
    if (call.method === "DELETE") {
      assert.ok(status === 204 || (again && status === 404), told);
      orders.delete(Number(call.orderId));
    } else if (call.method === "PATCH") {
      assert.equal(status, 200, told);
      const changed: Order = { ...orders.get(Number(call.orderId)), ...call.body };
      assert.deepEqual(body, changed);
      orders.set(Number(call.orderId), changed);
    } else {
      assert.ok(status < 300, told);
      kept.push({ call, body });
      if (call.path === "/store/orders") remember(orders, given.orders, body as Order, told);
      else if (call.path === "/pets") remember(pets, given.pets, body as Pet, told);
      else added.set((body as InventoryItem).petId, (added.get((body as InventoryItem).petId) ?? 0) + Number(call.body?.["delta"]));
    }
  }

  async function settle(address: string): Promise<void> {
    if (!unanswered) return;
    take(unanswered, await send(address, key, unanswered), true);
    unanswered = undefined;
  }

  return {
    orders,
    pets,
    added,
    kept,
    settle,
    async work(address, answered, stop) {
      while (!stop()) {
        count += 1;
        unanswered = callOf(count, options, orders);
        const reply = await send(address, key, unanswered).catch(() => undefined);
        if (!reply) return;
        take(unanswered, reply, false);
        unanswered = undefined;
        answered();
      }
    },
    async replay(address, { call, body }) {
      const reply = await send(address, key, call);
      assert.deepEqual([reply.body, reply.headers.get("idempotent-replayed")], [body, "true"]);
    },
  };
}

/** Returns the call of a clerk's turn: mostly orders, and now and then a pet or an adjustment. */
function callOf(turnCount: number, { name, animals, categoryId }: ClerkOptions, orders: Map<number, Order>): Call {
  const petId = animals[turnCount % animals.length] ?? 0;
  const open = [...orders].filter(([, { complete }]) => !complete);
  const [orderId] = open[Math.floor(Math.random() * open.length)] ?? [];
  const idempotencyKey = `${name} ${turnCount}`;
  const path = `/store/orders/${orderId}`;
  const turn = turnCount % 10;
  if (turn === 9) return { method: "POST", path: "/pets", body: { name: idempotencyKey, categoryId }, idempotencyKey };
  if (turn === 8) return { method: "POST", path: `/store/inventory/${petId}/adjustments`, body: { delta: turn }, idempotencyKey };
  if (orderId === undefined || turn < 4) {
    return { method: "POST", path: "/store/orders", body: { petId, quantity: 1 + (turnCount % 5), complete: turn === 0 }, idempotencyKey };
  }
  if (turn === 4) return { method: "DELETE", path, orderId };
  if (turn === 5) return { method: "PATCH", path, orderId, body: { complete: true } };
  return { method: "PATCH", path, orderId, body: { petId, quantity: 1 + (turnCount % 7) } };
}

function remember<T extends { id?: number }>(rows: Map<number, T>, ids: Set<number>, row: T, told: string): void {
  const id = Number(row.id);
  assert.ok(!ids.has(id), `an id was given twice: ${told}`);
  ids.add(id);
  rows.set(id, row);
}

function send(address: string, key: string, { method, path, body, idempotencyKey }: Call): Promise<Reply> {
  const headers = idempotencyKey === undefined ? undefined : { "idempotency-key": idempotencyKey };
  return ask(`${address}/v1${path}`, method, { key, ...(body && { body }), ...(headers && { headers }) });
}
