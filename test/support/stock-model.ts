import type { PetStatus } from "../../src/store/pets/pets.ts";
import type { InventoryItem, Order, Pet } from "./models.ts";

/**
 * The rules of stock, written a second time and as simply as possible: plain objects, one request at a time. The
 * service must answer as this model does, and its concurrent answers must fit some order of the requests.
 */
export type Shop = { categories: number[]; pets: Record<number, ModelPet>; orders: Record<number, ModelOrder> };
type ModelPet = { name: string; categoryId: number; status: PetStatus; stock?: { free: number; held: number } };
type ModelOrder = { petId?: number; quantity: number; shipDate?: string; complete: boolean; held: number };

/** A request: `id` is that of the animal or order in the path, 0 where the path has none. */
export type Action = { op: keyof typeof operations; id: number; body: Fields };
type Fields = Record<string, string | number | boolean | null>;

/** An answer as it is compared: the body of a success, the code of a refusal. */
export type Outcome = { status: number; body?: unknown; code?: string };

const mostUnits = 2_147_483_647;
const refusals = {
  invalid_request: 400,
  not_found: 404,
  unknown_reference: 422,
  pet_not_available: 409,
  insufficient_stock: 409,
  order_complete: 409,
  pet_in_use: 409,
  status_follows_stock: 409,
};

class Refusal extends Error {
  readonly code: keyof typeof refusals;
  constructor(code: keyof typeof refusals) {
    super(code);
    this.code = code;
  }
}

type Rule = { method: string; path: (id: number) => string; apply: (shop: Shop, id: number, body: Fields, newId: number) => Outcome };

/** Every operation that moves units or affects how they move. */
export const operations = {
  createOrder: { method: "POST", path: () => "/store/orders", apply: createOrder },
  replaceOrder: { method: "PUT", path: (id) => `/store/orders/${id}`, apply: replaceOrder },
  updateOrder: { method: "PATCH", path: (id) => `/store/orders/${id}`, apply: updateOrder },
  deleteOrder: { method: "DELETE", path: (id) => `/store/orders/${id}`, apply: deleteOrder },
  count: { method: "PUT", path: (id) => `/store/inventory/${id}`, apply: count },
  untrack: { method: "DELETE", path: (id) => `/store/inventory/${id}`, apply: untrack },
  adjust: { method: "POST", path: (id) => `/store/inventory/${id}/adjustments`, apply: adjust },
  createPet: { method: "POST", path: () => "/pets", apply: createPet },
  replacePet: { method: "PUT", path: (id) => `/pets/${id}`, apply: replacePet },
  updatePet: { method: "PATCH", path: (id) => `/pets/${id}`, apply: updatePet },
  deletePet: { method: "DELETE", path: (id) => `/pets/${id}`, apply: deletePet },
} satisfies Record<string, Rule>;

/** The answer to a request, and the shop after it, which is unchanged if the request is refused. A created resource gets `newId`. */
export function step(shop: Shop, { op, id, body }: Action, newId: number): { shop: Shop; outcome: Outcome } {
  const after = structuredClone(shop);
  try {
    return { outcome: operations[op].apply(after, id, body, newId), shop: after };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { outcome: { status: refusals[error.code], code: error.code }, shop };
  }
}

/** All that the lists of the service show of the shop. */
export function shown(shop: Shop): { pets: Pet[]; orders: Order[]; items: InventoryItem[] } {
  const pets = Object.keys(shop.pets).map(Number);
  return {
    pets: pets.map((id) => shownPet(shop, id)),
    orders: Object.keys(shop.orders).map((id) => shownOrder(shop, Number(id))),
    items: pets.filter((id) => shop.pets[id]?.stock).map((id) => shownItem(shop, id)),
  };
}

function createOrder(shop: Shop, _id: number, body: Fields, newId: number): Outcome {
  const order = { ...orderOf(body), held: 0 };
  if (order.petId !== undefined) order.held = take(shop, order.petId, order.quantity);
  shop.orders[newId] = order;
  if (order.complete) sell(shop, order);
  return { status: 201, body: shownOrder(shop, newId) };
}

function replaceOrder(shop: Shop, id: number, body: Fields): Outcome {
  found(shop.orders[id]);
  return change(shop, id, orderOf(body));
}

function updateOrder(shop: Shop, id: number, body: Fields): Outcome {
  const { held: _held, ...current } = found(shop.orders[id]);
  return change(shop, id, orderOf({ ...current, ...body }));
}

function deleteOrder(shop: Shop, id: number): Outcome {
  const order = found(shop.orders[id]);
  if (order.complete) throw new Refusal("order_complete");
  giveBack(shop, order, order.held);
  delete shop.orders[id];
  return { status: 204, body: "" };
}

function change(shop: Shop, id: number, next: Omit<ModelOrder, "held">): Outcome {
  const order = found(shop.orders[id]);
  const otherPet = next.petId !== order.petId;
  const more = next.quantity - order.quantity;
  if (otherPet && next.petId !== undefined && !shop.pets[next.petId]) throw new Refusal("unknown_reference");
  if (order.complete && (otherPet || more !== 0 || !next.complete)) throw new Refusal("order_complete");

  let { held } = order;
  if (otherPet) {
    giveBack(shop, order, held);
    held = next.petId === undefined ? 0 : take(shop, next.petId, next.quantity);
  } else if (next.petId !== undefined && more > 0) {
    held += take(shop, next.petId, more);
  } else if (next.petId !== undefined && more < 0) {
    if (statusOf(found(shop.pets[next.petId])) === "sold") throw new Refusal("pet_not_available");
    const back = Math.min(held, -more);
    giveBack(shop, order, back);
    held -= back;
  }
  const changed = { ...next, held };
  shop.orders[id] = changed;
  if (next.complete) sell(shop, changed);
  return { status: 200, body: shownOrder(shop, id) };
}

/** The units that an order of so many then holds. */
function take(shop: Shop, petId: number, units: number): number {
  const pet = shop.pets[petId];
  if (!pet) throw new Refusal("unknown_reference");
  if (statusOf(pet) === "sold") throw new Refusal("pet_not_available");
  if (!pet.stock) return 0;
  if (pet.stock.free < units) throw new Refusal("insufficient_stock");
  pet.stock.free -= units;
  pet.stock.held += units;
  return units;
}

function giveBack(shop: Shop, { petId }: ModelOrder, units: number): void {
  if (petId === undefined || units === 0) return;
  const stock = found(shop.pets[petId]?.stock);
  stock.free += units;
  stock.held -= units;
}

function sell(shop: Shop, order: ModelOrder): void {
  if (order.petId !== undefined && order.held > 0) found(shop.pets[order.petId]?.stock).held -= order.held;
  order.held = 0;
}

function count(shop: Shop, id: number, body: Fields): Outcome {
  const pet = found(shop.pets[id]);
  const status = pet.stock ? 200 : 201;
  pet.stock = { free: Number(body["quantity"]), held: pet.stock?.held ?? 0 };
  if (pet.stock.free + pet.stock.held > mostUnits) throw new Refusal("invalid_request");
  return { status, body: shownItem(shop, id) };
}

function adjust(shop: Shop, id: number, body: Fields): Outcome {
  const stock = found(shop.pets[id]?.stock);
  stock.free += Number(body["delta"]);
  if (stock.free < 0) throw new Refusal("insufficient_stock");
  if (stock.free + stock.held > mostUnits) throw new Refusal("invalid_request");
  return { status: 200, body: shownItem(shop, id) };
}

function untrack(shop: Shop, id: number): Outcome {
  const { stock, ...pet } = found(shop.pets[id]);
  found(stock);
  shop.pets[id] = { ...pet, status: shownPet(shop, id).status };
  for (const order of Object.values(shop.orders)) if (order.petId === id) order.held = 0;
  return { status: 204, body: "" };
}

function createPet(shop: Shop, _id: number, body: Fields, newId: number): Outcome {
  shop.pets[newId] = petOf(shop, body);
  return { status: 201, body: shownPet(shop, newId) };
}

function replacePet(shop: Shop, id: number, body: Fields): Outcome {
  const pet = found(shop.pets[id]);
  const next = petOf(shop, body);
  const wanted = body["status"] ?? statusOf(pet);
  if (pet.stock && wanted !== statusOf(pet)) throw new Refusal("status_follows_stock");
  shop.pets[id] = { ...next, ...(pet.stock && { stock: pet.stock }) };
  return { status: 200, body: shownPet(shop, id) };
}

function updatePet(shop: Shop, id: number, body: Fields): Outcome {
  const pet = found(shop.pets[id]);
  return replacePet(shop, id, { name: pet.name, categoryId: pet.categoryId, status: statusOf(pet), ...body });
}

function deletePet(shop: Shop, id: number): Outcome {
  found(shop.pets[id]);
  if (Object.values(shop.orders).some((order) => order.petId === id && !order.complete)) throw new Refusal("pet_in_use");
  delete shop.pets[id];
  return { status: 204, body: "" };
}

/** Units free → available; none free and some held → pending; neither → sold. Without an entry the status stays. */
function statusOf({ stock, status }: ModelPet): PetStatus {
  if (!stock) return status;
  return stock.free > 0 ? "available" : stock.held > 0 ? "pending" : "sold";
}

function petOf(shop: Shop, { name, categoryId, status }: Fields): ModelPet {
  if (!shop.categories.includes(Number(categoryId))) throw new Refusal("unknown_reference");
  return { name: String(name), categoryId: Number(categoryId), status: (status ?? "available") as PetStatus };
}

function orderOf(body: Fields): Omit<ModelOrder, "held"> {
  const set = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  return { quantity: 1, complete: false, ...set };
}

function shownOrder(shop: Shop, id: number): Order {
  const { held: _held, ...order } = found(shop.orders[id]);
  return { id, ...order };
}

function shownPet(shop: Shop, id: number): Pet {
  const { stock: _stock, ...pet } = found(shop.pets[id]);
  return { id, ...pet, status: statusOf(found(shop.pets[id])) };
}

function shownItem(shop: Shop, id: number): InventoryItem {
  const pet = found(shop.pets[id]);
  return { petId: id, quantity: found(pet.stock).free, status: statusOf(pet) };
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Refusal("not_found");
  return value;
}
