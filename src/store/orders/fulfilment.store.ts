import { isDeepStrictEqual } from "node:util";
import type { Transaction } from "../../platform/db/database.ts";
import { byId } from "../../platform/ids.ts";
import { Problem, unknownReference } from "../../platform/problem.ts";
import { addRecords, removeRecords } from "../../platform/storage-quotas.ts";
import { giveBackUnits, insufficient, lockItem, lockItems, requireUntracked, sellUnits, takeUnits } from "../inventory/inventory.store.ts";
import { lockPet, petExists } from "../pets/pets.store.ts";
import { unitsMoved, type OrderFields } from "./orders.ts";
import { deleteOrder, insertOrder, updateOrder, type StoredOrder } from "./orders.store.ts";

/**
 * No unit is sold twice (specification 2.5). For each pet, the units counted in, minus those that complete orders sold and
 * those that open orders hold, are its free units, and none of these numbers is ever negative. Each function runs in the
 * transaction of its request, so a refusal changes nothing.
 */

/**
 * Inserts an order, and holds or sells its units.
 *
 * @throws Problem `unknown_reference`, `pet_not_available`, `insufficient_stock`; for an open order also `storage_limit_reached`
 */
export async function placeOrder(tx: Transaction, accountId: number, fields: OrderFields): Promise<StoredOrder> {
  const { petId, quantity, complete } = fields;
  const taken = petId === null ? 0 : await hold(tx, accountId, petId, quantity);
  const held = complete ? await sell(tx, accountId, petId, taken) : taken;
  const order = await insertOrder(tx, accountId, fields, held);
  if (!complete) await addRecords(tx, accountId, 1);
  return order;
}

/**
 * Updates a locked order. Does nothing if no field changes.
 *
 * @throws Problem `unknown_reference`, `order_complete`, `pet_not_available`, `insufficient_stock`
 */
export async function changeOrder(tx: Transaction, accountId: number, order: StoredOrder, next: OrderFields): Promise<StoredOrder> {
  const { id, fields: current } = order;
  if (isDeepStrictEqual(next, current)) return order;
  const petChanges = next.petId !== current.petId;
  if (petChanges && next.petId !== null) await requireKnown(tx, accountId, next.petId);
  const stockChanges = petChanges || next.quantity !== current.quantity;
  if (current.complete && (stockChanges || !next.complete)) throw orderComplete(id);

  let { held } = order;
  if (stockChanges) held = await move(tx, accountId, order, next);
  if (next.complete) held = await sell(tx, accountId, next.petId, held);
  const changed = await updateOrder(tx, accountId, id, next, held);
  if (next.complete && !current.complete) await removeRecords(tx, accountId, 1); // Complete orders do not count.
  return changed;
}

/** Cancels a locked order and gives back what it holds. @throws Problem `order_complete` */
export async function cancelOrder(tx: Transaction, accountId: number, { id, fields, held }: StoredOrder): Promise<void> {
  if (fields.complete) throw orderComplete(id);
  if (fields.petId !== null && held > 0) await giveBackUnits(tx, accountId, fields.petId, held);
  await deleteOrder(tx, accountId, id);
  await removeRecords(tx, accountId, 1);
}

/** Moves units between the stock and an open order. Returns how many the order then holds. */
async function move(tx: Transaction, accountId: number, { fields: current, held }: StoredOrder, next: OrderFields): Promise<number> {
  const { give, take } = unitsMoved(held, current, next);
  if (current.petId !== null && next.petId !== null && current.petId !== next.petId) {
    await lockItems(tx, accountId, [current.petId, next.petId]);
  }
  if (current.petId !== null && give > 0) await giveBackUnits(tx, accountId, current.petId, give);
  if (next.petId === null) return 0;
  if (take === 0) await requireNotSold(tx, accountId, next.petId);
  return held - give + (take > 0 ? await hold(tx, accountId, next.petId, take) : 0);
}

/** Holds units of a pet for an order. Returns how many it holds: `units` if the pet is tracked, otherwise 0. */
async function hold(tx: Transaction, accountId: number, petId: number, units: number): Promise<number> {
  if (await takeUnits(tx, accountId, petId, units)) return units;
  const entry = await lockItem(tx, accountId, petId);
  await requireNotSold(tx, accountId, petId);
  if (!entry) {
    await requireUntracked(tx, accountId, petId);
    return 0;
  }
  // Retry once: the entry may have grown after the first attempt.
  if (entry.item.quantity < units || !(await takeUnits(tx, accountId, petId, units))) throw insufficient(petId, entry.item.quantity);
  return units;
}

async function sell(tx: Transaction, accountId: number, petId: number | null, held: number): Promise<0> {
  if (petId !== null && held > 0) await sellUnits(tx, accountId, petId, held);
  return 0;
}

/** Reads without a lock: locking the pet before its entry would break the lock order. */
async function requireKnown(tx: Transaction, accountId: number, petId: number): Promise<void> {
  if (!(await petExists(tx, accountId, petId))) throw unknownPet(petId);
}

async function requireNotSold(tx: Transaction, accountId: number, petId: number): Promise<void> {
  const stored = await lockPet(tx, accountId, petId);
  if (!stored) throw unknownPet(petId);
  if (stored.pet.status === "sold") throw new Problem("pet_not_available", `Pet ${petId} is sold.`);
}

function unknownPet(petId: number): Problem {
  return unknownReference("body.petId", byId("pet", petId));
}

function orderComplete(id: number): Problem {
  return new Problem("order_complete", `Order ${id} is complete: only its ship date may change.`);
}
