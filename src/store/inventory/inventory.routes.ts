import { andThen } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { isConditional, requireAbsentAllowed, requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import { created, deleted, listed, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { lockPet } from "../pets/pets.store.ts";
import {
  adjustQuantity,
  deleteItem,
  findItem,
  listItems,
  lockItem,
  lockItemWithOrders,
  requireUntracked,
  setQuantity,
  type StoredItem,
} from "./inventory.store.ts";
import {
  InventoryAdjustment,
  InventoryItem,
  InventoryItems,
  InventoryPath,
  InventoryQuery,
  requireFollowingStatus,
  WrittenItem,
} from "./inventory.ts";

const path = "/store/inventory";
const onePath = "/store/inventory/{petId}";
const tag = "Inventory";
const item: InventoryItem = { petId: 1, quantity: 4, status: "available" };
const params = { petId: 1 };

export const inventoryRoutes: Operation[] = [
  operation({
    operationId: "listInventory",
    method: "GET",
    path,
    tag,
    summary: "List the inventory",
    description: "The stock of all tracked pets, ordered by `petId`.",
    scope: "inventory:read",
    query: InventoryQuery,
    example: { query: { status: ["available"] } },
    answers: { 200: listed("The entries.", InventoryItems, [item]) },
    read: (db, { accountId, query }) => {
      const [after = 0] = positionOf(query, 1) ?? [];
      return andThen(listItems(db, accountId, query, Number(after), (query.limit ?? limitDefault) + 1), (rows) => {
        const page = pageOf(path, query, rows, (row) => [row.item.petId]);
        return { status: 200, body: page.rows.map((row) => row.item), headers: page.headers };
      });
    },
  }),
  operation({
    operationId: "getInventoryItem",
    method: "GET",
    path: onePath,
    tag,
    summary: "Get an inventory entry",
    description: "The stock of one pet. A pet without an entry is untracked: its orders are not limited by stock.",
    scope: "inventory:read",
    params: InventoryPath,
    example: { params },
    answers: { 200: resource("The entry.", InventoryItem, item) },
    problems: ["not_found"],
    read: (db, { accountId, params: { petId } }) =>
      andThen(findItem(db, accountId, petId), (entry) => ({ status: 200, body: entry.item, version: versionOf(entry) })),
  }),
  operation({
    operationId: "replaceInventoryItem",
    method: "PUT",
    path: onePath,
    tag,
    summary: "Set a stock count",
    description: "Sets the count of free units; open orders keep the units that they hold. Starts tracking a pet that has no entry.",
    details: "The `status` follows from the count: leave it out, or send the entry's current or resulting status; any other is a 400.",
    scope: "inventory:write",
    dryRun: true,
    params: InventoryPath,
    body: WrittenItem,
    example: { params, body: { quantity: 12 } },
    answers: {
      200: resource("The entry as it now stands.", InventoryItem, { ...item, quantity: 12 }),
      201: created("The pet had no entry and is tracked from now on.", InventoryItem, { petId: 2, quantity: 12, status: "available" }),
    },
    problems: ["not_found", "precondition_failed"],
    write: async (tx, { accountId, params: { petId }, body, conditions }) => {
      const current = await lockItem(tx, accountId, petId);
      if (!current) {
        if (!(await lockPet(tx, accountId, petId))) throw new Problem("not_found", `There is no ${byId("pet", petId)}.`);
        await requireUntracked(tx, accountId, petId);
      }
      if (current) requireConditions(conditions, versionOf(current));
      else requireAbsentAllowed(conditions);
      const isSame = current?.item.quantity === body.quantity;
      const after = isSame ? current : await setQuantity(tx, accountId, petId, body.quantity, current);
      requireFollowingStatus(body.status, current?.item.status, after.item.status);
      const answer = { body: after.item, version: versionOf(after) };
      if (current) return { status: 200, ...answer };
      return { status: 201, ...answer, headers: { location: addressOf(`${path}/${petId}`) } };
    },
  }),
  operation({
    operationId: "deleteInventoryItem",
    method: "DELETE",
    path: onePath,
    tag,
    summary: "Stop tracking a pet",
    description: "Stops tracking a pet's stock: open orders then hold no units, and stock no longer limits orders.",
    scope: "inventory:write",
    dryRun: true,
    params: InventoryPath,
    example: { params },
    answers: { 204: deleted("The pet is untracked.") },
    problems: ["not_found", "precondition_failed"],
    write: async (tx, { accountId, params: { petId }, conditions }) => {
      const entry = await lockItemWithOrders(tx, accountId, petId);
      requireConditions(conditions, versionOf(entry));
      await deleteItem(tx, accountId, entry);
      return { status: 204 };
    },
  }),
  operation({
    operationId: "adjustInventoryItem",
    method: "POST",
    path: "/store/inventory/{petId}/adjustments",
    tag,
    summary: "Adjust a stock count",
    description:
      "Adds units to the stock of a tracked pet, or subtracts them. Several callers can do so at once, and no adjustment is lost.",
    scope: "inventory:write",
    dryRun: true,
    stability: "experimental",
    params: InventoryPath,
    body: InventoryAdjustment,
    example: { params, body: { delta: -1 } },
    answers: { 200: resource("The entry as it now stands.", InventoryItem, { ...item, quantity: 3 }) },
    problems: ["not_found", "precondition_failed", "insufficient_stock"],
    write: async (tx, { accountId, params: { petId }, body, conditions }) => {
      const current = isConditional(conditions) ? await lockItem(tx, accountId, petId) : undefined;
      if (current) requireConditions(conditions, versionOf(current));
      const adjusted = await adjustQuantity(tx, accountId, petId, body.delta);
      return { status: 200, body: adjusted.item, version: versionOf(adjusted) };
    },
  }),
];

/** Includes a digest, because an entry that is deleted and created again starts at version 1. */
function versionOf({ version, item: shown }: StoredItem): string {
  return versionOfShown(version, shown);
}
