import { operation, type Operation } from "../../platform/http/operation.ts";
import { changeInSteps } from "../../platform/http/steps.ts";
import type { ProfileServices } from "../profiles/profile-answers.ts";
import { countPets, listLowStock } from "./catalogue-counts.store.ts";
import { CatalogueCounts, CountQuery, LowStock, lowEntriesDefault, LowStockQuery } from "./catalogue-counts.ts";
import { changePets, refused, requireConsistent } from "./pet-changes.store.ts";
import { BulkChanges, BulkResults, changesBytesMax, type BulkChange, type BulkResult } from "./pet-changes.ts";

/** Operations on many pets at once, which only the dashboard calls. */
export const petChangeRoutes: Operation<ProfileServices>[] = [
  operation({
    operationId: "changePets",
    method: "POST",
    path: "/pets/changes",
    tag: "Animals",
    summary: "Change many pets",
    description:
      "Changes, prices, tracks or moves into the bin up to 1,000 pets in steps, each in a transaction of its own, with a result for each pet.",
    scope: "catalogue:write",
    dryRun: true,
    body: BulkChanges,
    bodyBytesMax: changesBytesMax,
    answers: { 200: { description: "The result of each change, in the order of the request.", schema: BulkResults } },
    steps: (steps, { accountId, now, body: { changes }, services }) => {
      const shop = { accountId, urlOf: services.photos.urlOf, now };
      requireConsistent(changes);
      return changeInSteps<BulkChange, BulkResult>(steps, changes, {
        change: (tx, left) => changePets(tx, shop, left),
        refused: ({ id }, problem) => refused(id, problem),
      });
    },
  }),
  operation({
    operationId: "countPets",
    method: "GET",
    path: "/pets/counts",
    tag: "Animals",
    summary: "Count pets",
    description: "How many pets pass the filters, up to 100,000, and how many of them each category has.",
    scope: "catalogue:read",
    query: CountQuery,
    answers: { 200: { description: "The counts.", schema: CatalogueCounts } },
    read: async (db, { accountId, query }) => ({ status: 200, body: await countPets(db, accountId, query) }),
  }),
  operation({
    operationId: "listLowStock",
    method: "GET",
    path: "/store/inventory/low",
    tag: "Inventory",
    summary: "List low stock",
    description: "The entries whose free units fell to the account's `lowStock` or below, the lowest first.",
    scope: "inventory:read",
    query: LowStockQuery,
    answers: { 200: { description: "The entries.", schema: LowStock } },
    read: async (db, { accountId, query: { limit = lowEntriesDefault, petId } }) => ({
      status: 200,
      body: await listLowStock(db, accountId, limit, petId),
    }),
  }),
];
