import { addressOf } from "../../platform/http/api-surfaces.ts";
import type { Caller } from "../../platform/http/caller.ts";
import { created, listed, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { Problem } from "../../platform/problem.ts";
import { completeWords, ownWordsMs } from "../pets/pet-words.store.ts";
import { batchBytesMax } from "../pets/pets.ts";
import type { UrlOf } from "../profiles/profiles.ts";
import { addToImport, beginUndo, findImport, insertImport, listImports, lockImport, notOpen } from "./imports.store.ts";
import { Import, type ImportedRow, ImportedRows, ImportInput, ImportPath, ImportQuery, ImportRows, Imports, RowsQuery } from "./imports.ts";

const path = "/imports";
const onePath = "/imports/{importId}";
const tag = "Imports";
const stability = "beta";
const params = { importId: 1 };
const finished: Import = {
  id: 1,
  source: "Shelter register",
  fileName: "animals.csv",
  status: "finished",
  created: 0,
  updated: 0,
  unchanged: 0,
  rejected: 2,
  startedAt: "2026-12-24T10:00:00Z",
  finishedAt: "2026-12-24T10:00:00Z",
  by: { type: "key", id: 1 },
};
const { finishedAt: _end, ...begunLike } = finished;
const begun: Import = { ...begunLike, id: 2, status: "open", rejected: 0 };

/** Shows where photos are, for the events of profiles. */
type ImportServices = { photos: { urlOf: UrlOf } };

export const importRoutes: Operation<ImportServices>[] = [
  operation({
    operationId: "listImports",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List imports",
    description: "The imports, ordered by `id`. With `source`, only those from it.",
    scope: "catalogue:read",
    authorize: refusePublishable,
    query: ImportQuery,
    answers: { 200: listed("The imports.", Imports, [finished, begun]) },
    read: async (db, { accountId, query }) => {
      const [after] = positionOf(query, 1) ?? [];
      const rows = await listImports(
        db,
        accountId,
        query,
        after === undefined ? undefined : Number(after),
        (query.limit ?? limitDefault) + 1,
      );
      const page = pageOf(path, query, rows, ({ id }) => [id]);
      return { status: 200, body: page.rows, headers: page.headers };
    },
  }),
  operation({
    operationId: "createImport",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Begin an import",
    description:
      "Begins an import from a source, and creates the categories that are missing. The service remembers a source's rows by their `sourceId`, so name each source the same every time.",
    scope: "catalogue:write",
    alsoScope: "inventory:write",
    dryRun: true,
    body: ImportInput,
    example: { body: { source: "Shelter register", fileName: "animals.csv", categories: ["Dogs"] } },
    answers: {
      201: created("The import, which is open.", Import, { ...begun, id: 3 }),
    },
    problems: ["storage_limit_reached"],
    write: async (tx, { accountId, body, now, origin }) => {
      const { shown, version } = await insertImport(tx, accountId, body, now, origin);
      return { status: 201, body: shown, version, headers: { location: addressOf(`${path}/${shown.id}`) } };
    },
  }),
  operation({
    operationId: "getImport",
    method: "GET",
    path: onePath,
    tag,
    stability,
    summary: "Get an import",
    description: "One import by its identifier.",
    scope: "catalogue:read",
    authorize: refusePublishable,
    params: ImportPath,
    example: { params },
    answers: { 200: resource("The import.", Import, finished) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { importId } }) => {
      const { shown, version } = await findImport(db, accountId, importId);
      return { status: 200, body: shown, version };
    },
  }),
  operation({
    operationId: "importRows",
    method: "POST",
    path: `${onePath}/rows`,
    tag,
    stability,
    summary: "Import rows",
    description:
      "Imports up to 1,000 rows, all or none. A row whose `sourceId` is new makes a pet. Of a known row, only values that differ from the last time are written, so other changes of the shop stay.",
    details:
      "While stock is tracked, the status follows the stock. A dry run shows what would become of each row, also after the import has ended.",
    scope: "catalogue:write",
    alsoScope: "inventory:write",
    dryRun: true,
    params: ImportPath,
    query: RowsQuery,
    body: ImportRows,
    bodyBytesMax: batchBytesMax,
    example: {
      params: { importId: 2 },
      query: { last: true },
      body: [{ sourceId: "A-17", pet: { name: "Bella", categoryId: 1 }, quantity: 1 }],
    },
    answers: {
      200: {
        description: "What became of each row, in the order of the request.",
        schema: ImportedRows,
        example: [{ sourceId: "A-17", petId: 4, outcome: "created" }],
      },
    },
    problems: ["not_found", "unknown_reference", "storage_limit_reached", "import_closed"],
    steps: async ({ db, isDryRun, run, problemOf }, { accountId, params: { importId }, query, body, now, services }) => {
      const { importRows } = await import("./import-rows.store.ts"); // most processes never import
      if (!isDryRun) await completeWords(db, accountId); // those of the call before, so that few ever wait
      const answer = await run(0, async (tx) => {
        const current = await lockImport(tx, accountId, importId);
        if (current.shown.status !== "open" && !isDryRun) throw notOpen(current.shown);
        const rows = await importRows(
          tx,
          { engine: db.engine, accountId, importId, sourceId: current.sourceId, urlOf: services.photos.urlOf, now },
          body,
        );
        if (current.shown.status === "open")
          await addToImport(
            tx,
            accountId,
            current,
            { ...countsOf(rows), rejected: query.rejected ?? 0 },
            { isLast: query.last === true, now },
          );
        return { status: 200, body: rows };
      });
      if (!isDryRun) await completeWords(db, accountId, ownWordsMs).catch(problemOf); // the pets are there in any case
      return answer;
    },
  }),
  operation({
    operationId: "undoImport",
    method: "POST",
    path: `${onePath}/undo`,
    tag,
    stability,
    summary: "Undo an import",
    description:
      "Takes back what an import did, in the background: deletes the pets that it made, and gives those that it changed their earlier values. Later changes stay, and `stays` lists their pets.",
    details: "An import that is open ends first. Possible for 90 days.",
    scope: "catalogue:write",
    alsoScope: "inventory:write",
    dryRun: true,
    params: ImportPath,
    example: { params },
    answers: {
      202: {
        description: "The import, which is being undone or was undone before.",
        schema: Import,
        example: { ...finished, status: "undoing", undone: 0, stays: { count: 0, pets: [] } },
        headers: ["ETag"],
      },
    },
    problems: ["not_found", "import_closed"],
    write: async (tx, { accountId, params: { importId }, now, origin }) => {
      const { shown, version } = await beginUndo(tx, accountId, importId, now, origin);
      return { status: 202, body: shown, version };
    },
  }),
];

/** Names of files and people are not for visitors of a web page. */
function refusePublishable(_db: unknown, { publishable }: Caller): Promise<void> {
  if (publishable) return Promise.reject(new Problem("forbidden", "A publishable key cannot read imports."));
  return Promise.resolve();
}

function countsOf(rows: readonly ImportedRow[]): Record<ImportedRow["outcome"], number> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  for (const { outcome } of rows) counts[outcome] += 1;
  return counts;
}
