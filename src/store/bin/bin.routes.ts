import { operation, type Operation } from "../../platform/http/operation.ts";
import { badCursor, cursorAfter, limitDefault, positionOf } from "../../platform/http/paging.ts";
import { changeInSteps } from "../../platform/http/steps.ts";
import { Problem } from "../../platform/problem.ts";
import type { ProfileServices } from "../profiles/profile-answers.ts";
import { type BinPlace, changeBin, listBin, refused } from "./bin.store.ts";
import { type BinChange, BinChanges, BinPage, BinQuery, type BinResult, BinResults } from "./bin.ts";

const tag = "Animals";

/** The dashboard's bin of deleted animals. */
export const binRoutes: Operation<ProfileServices>[] = [
  operation({
    operationId: "listBin",
    method: "GET",
    path: "/pets/bin",
    tag,
    summary: "List the bin",
    description: "The animals in the bin, those that were deleted last first.",
    scope: "catalogue:read",
    query: BinQuery,
    answers: { 200: { description: "The animals.", schema: BinPage } },
    read: async (db, { accountId, query, services }) => {
      const { limit = limitDefault } = query;
      const found = await listBin(db, { accountId, urlOf: services.photos.urlOf }, placeOf(query), limit + 1);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1)!.place : undefined;
      const next = last ? cursorAfter(query, [String(last.deletedAt), last.id]) : null;
      return { status: 200, body: { animals: page.map(({ animal }) => animal), next } };
    },
  }),
  operation({
    operationId: "changeBin",
    method: "POST",
    path: "/pets/bin/changes",
    tag,
    summary: "Return animals from the bin",
    description: "Returns up to 1,000 animals from the bin, or deletes them for good, in steps, with a result for each.",
    scope: "catalogue:write",
    dryRun: true,
    body: BinChanges,
    answers: { 200: { description: "The result of each change, in the order of the request.", schema: BinResults } },
    steps: (steps, { accountId, body: { changes }, services }) => {
      if (new Set(changes.map(({ id }) => id)).size < changes.length)
        throw new Problem("invalid_request", "body.changes names an animal twice.");
      return changeInSteps<BinChange, BinResult>(steps, changes, {
        change: (tx, left) => changeBin(tx, { accountId, urlOf: services.photos.urlOf }, left),
        refused: ({ id }, problem) => refused(id, problem),
      });
    },
  }),
];

/** The place after which a page of the bin begins; undefined for the first page. */
function placeOf(query: BinQuery): BinPlace | undefined {
  const position = positionOf(query, 2);
  if (!position) return undefined;
  const [deletedAt, id] = position;
  if (!/^\d{1,15}$/.test(String(deletedAt))) throw badCursor();
  return { deletedAt: Number(deletedAt), id: Number(id) };
}
