import type { PetStore } from "../../client/client.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { normalize } from "../platform/folding.ts";
import { idProblem, isTooLong } from "./cells.ts";
import type { CsvRow } from "./csv.ts";
import {
  exportColumns,
  exportedColumn,
  type ExportedField,
  hasMarkers,
  isAsExported,
  isExportedCell,
  isSameText,
  type PetState,
  readPets,
} from "./exported-pets.ts";
import { beginImport, categoryNames, endImport, findCategories, type ImportRow, sendRows } from "./load.ts";
import { type PetStatus, petStatuses } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";
import { nameCharactersMax } from "./pets.ts";
import type { Progress } from "./progress.ts";
import { fittedCells, isBlank, type Reject } from "./source.ts";
import { editsSource, formerSources, sourceKnowing } from "./sources.ts";

/*
 * Reads a file that was exported from the shop and then edited (docs/importing.md). Each row changes the pet with its id; no row creates a pet.
 */

/** Whether a file is an export of this shop. `unclear`: its columns are, and only some of its ids exist, or their animals have other names. */
export type OwnExport = "yes" | "no" | "unclear";
/** The changes to one pet; omitted fields keep their values. */
type PetChange = { id: number; name?: string; categoryId?: number; status?: PetStatus; stock?: number };
type ChangedField = "name" | "category" | "status" | "stock";
/** A value of the shop, and the one that the file has in its place. An animal whose stock is not counted has the stock "". */
export type FieldChange = { field: ChangedField; before: string; after: string };
/**
 * A row that somebody edited. `category` is the name of a category that is still to be created. `stale` has the edits that are not applied, because the
 * shop has changed the value since the export.
 */
export type Edit = {
  row: CsvRow;
  /** The pet's name and category in the shop. */
  name: string;
  categoryId: number;
  change: PetChange;
  category: string | undefined;
  fields: FieldChange[];
  stale: FieldChange[];
};
export type ExportPlan = {
  header: string[];
  rowsRead: number;
  superseded: number;
  repeated: string | undefined;
  unchanged: number;
  edits: Edit[];
  rejects: Reject[];
};

/** The most rows that are compared with the shop at once. */
const comparedMax = 100;
const idShape = /^[1-9]\d{0,15}$/;

/**
 * Recognizes an export by its header or its digests, and by its first rows: the shop has animals with their ids and names. A file whose ids a former
 * source knows comes from that source, even if the shop has animals with the same numbers. @throws PetStoreError
 */
export async function recognizeExport(
  client: PetStore,
  { header, first }: { header: readonly string[]; first: readonly CsvRow[] },
): Promise<OwnExport> {
  const columns = exportColumns(header);
  const cell = (row: CsvRow, name: string) => row.cells[columns.get(name) ?? -1]?.trim() ?? "";
  const some = first.filter((row) => !isBlank(row));
  const isDigested = some.some((row) => isExportedCell(cell(row, exportedColumn)));
  if (!isDigested && !hasMarkers(columns)) return "no";
  if (!columns.has("id")) return "unclear";
  const ids = some.map((row) => cell(row, "id")).filter((id) => whyNoId(id) === undefined);
  const pets = new Map((await readPets(client, [...new Set(ids)].map(Number))).map((pet) => [String(pet.id), pet]));
  // A spreadsheet that shortened all ids, as in 1.01E+03, leaves the digests. Their rows are rejects, not new animals.
  if (pets.size === 0) return isDigested && ids.length === 0 ? "yes" : "no";
  if (!isDigested && !columns.has("categoryId")) {
    const rows = some.map((row) => ({ sourceId: cell(row, "id"), name: cell(row, "name") }));
    if ((await sourceKnowing(client, await formerSources(client), rows)).source !== undefined) return "no";
  }
  const isFromHere = (row: CsvRow): boolean => {
    const pet = pets.get(cell(row, "id"));
    if (pet === undefined) return false;
    return isAsExported(cell(row, exportedColumn), pet.id, "name", pet.name) || isSameText(cell(row, "name"), pet.name);
  };
  return some.filter(isFromHere).length * 2 >= some.length ? "yes" : "unclear";
}

type PlanContext = {
  client: PetStore;
  /** Reads the file from its beginning; called twice. */
  open: () => AsyncIterable<CsvRow>;
  /** Whether to apply edits of values that the shop has changed since the export. */
  appliesStale: boolean;
};

/** Finds the edits of an export: the last row of each id, as far as somebody changed a cell. @throws PetStoreError */
export async function planExport({ client, open, appliesStale }: PlanContext): Promise<ExportPlan> {
  const plan: ExportPlan = { header: [], rowsRead: 0, superseded: 0, repeated: undefined, unchanged: 0, edits: [], rejects: [] };
  const { lines, columns } = await lastLines(open(), plan);
  const names = await categoryNames(client);
  const shop: Shop = { names, ids: new Map(Array.from(names, ([id, name]) => [normalize(name), id])), appliesStale };
  let waiting: Row[] = [];
  const compareAll = async () => {
    const pets = new Map(
      (
        await readPets(
          client,
          waiting.map(({ id }) => id),
        )
      ).map((pet) => [pet.id, pet]),
    );
    for (const row of waiting) compare(plan, row, pets.get(row.id), shop);
    waiting = [];
  };
  for await (const csvRow of open()) {
    const id = csvRow.cells[columns.get("id") ?? -1]?.trim() ?? "";
    if (lines.get(id) !== csvRow.line) continue;
    const row = { ...csvRow, id: Number(id), columns };
    if (isUnedited(row)) plan.unchanged += 1;
    else waiting.push(row);
    if (waiting.length === comparedMax) await compareAll();
  }
  await compareAll();
  return plan;
}

/** The last line of each id, and where the columns are. Adds the counts and the rejects to the plan. */
async function lastLines(rows: AsyncIterable<CsvRow>, plan: ExportPlan) {
  const lines = new Map<string, number>();
  let columns: ReadonlyMap<string, number> = new Map();
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst) {
      plan.header = row.cells.map((cell) => cell.trim());
      columns = exportColumns(plan.header);
      isFirst = false;
      continue;
    }
    if (isBlank(row)) continue;
    plan.rowsRead += 1;
    const id = row.cells[columns.get("id") ?? -1]?.trim() ?? "";
    const cells = fittedCells(row, plan.header.length);
    const reason = typeof cells === "string" ? cells : whyNoId(id);
    if (reason !== undefined) plan.rejects.push({ ...row, reason });
    else {
      if (lines.has(id)) {
        plan.superseded += 1;
        plan.repeated ??= id;
      }
      lines.set(id, row.line);
    }
  }
  return { lines, columns };
}

function whyNoId(id: string): string | undefined {
  if (idShape.test(id) && Number.isSafeInteger(Number(id))) return undefined;
  return id === "" ? "has no id of an animal" : (idProblem(id) ?? `“${id.slice(0, 50)}” is not the id of an animal`);
}

type Row = CsvRow & { id: number; columns: ReadonlyMap<string, number> };
type Shop = { names: ReadonlyMap<number, string>; ids: ReadonlyMap<string, number>; appliesStale: boolean };

function cellOf({ cells, columns }: Row, name: string): string | undefined {
  const index = columns.get(name);
  return index === undefined ? undefined : (cells[index]?.trim() ?? "");
}

/** Whether the export itself says that no cell was edited. */
function isUnedited(row: Row): boolean {
  const exported = cellOf(row, exportedColumn);
  return (["name", "status", "category", "categoryId", "stock"] as const).every((field) => {
    const cell = cellOf(row, field);
    return cell === undefined || isAsExported(exported, row.id, field, cell) === true;
  });
}

/** Adds a row to the edits, the unchanged ones or the rejects. */
function compare(plan: ExportPlan, row: Row, pet: PetState | undefined, shop: Shop): void {
  const reject = (reason: string) => void plan.rejects.push({ line: row.line, cells: row.cells, reason });
  if (pet === undefined) return reject(`there is no animal ${row.id} any more`);
  const edited = editedCells(row, pet, shop);
  const reason = Array.from(edited, ([field, { after }]) => whyRefused(field, after)).find((one) => one !== undefined);
  if (reason !== undefined) return reject(reason);
  const all = Array.from(edited, ([field, { before, after }]) => ({ field, before, after }));
  const stale = shop.appliesStale ? [] : all.filter(({ field }) => edited.get(field)?.isStale);
  const fields = all.filter((one) => !stale.includes(one));
  const has = (name: ChangedField) => fields.some(({ field }) => field === name);
  if (pet.stock !== null && has("status") && !has("stock"))
    return reject("its stock is counted, so its status follows the count: edit the stock");
  if (all.length === 0) plan.unchanged += 1;
  else
    plan.edits.push({
      row: { line: row.line, cells: row.cells },
      name: pet.name,
      categoryId: pet.categoryId,
      ...changeOf(pet.id, fields, shop),
      fields,
      stale,
    });
}

type EditedCells = Map<ChangedField, { before: string; after: string; isStale: boolean }>;

/** The cells that differ from the export, or without a digest from the shop. A category's name decides before its id. */
function editedCells(row: Row, pet: PetState, shop: Shop): EditedCells {
  const exported = cellOf(row, exportedColumn);
  const isEdited = (field: ExportedField, current: string): boolean => {
    const cell = cellOf(row, field);
    return cell !== undefined && isAsExported(exported, pet.id, field, cell) !== true && !isSameText(cell, current);
  };
  /** Without a digest nobody knows what the export said. Stock is asked about then, because sales change it. */
  const isStale = (field: ExportedField, current: string) => !(isAsExported(exported, pet.id, field, current) ?? field !== "stock");
  const edited: EditedCells = new Map();
  for (const [field, before] of [
    ["name", pet.name],
    ["status", pet.status],
    ["stock", String(pet.stock ?? "")],
  ] as const) {
    const after = cellOf(row, field) ?? "";
    if (!isEdited(field, before) || (field === "stock" && after === "")) continue;
    edited.set(field, { before, after: field === "status" ? valueKey(after) : after, isStale: isStale(field, before) });
  }
  const [id, before] = [String(pet.categoryId), shop.names.get(pet.categoryId) ?? ""];
  const name = cellOf(row, "category") ?? "";
  const isRenamed = name !== "" && isEdited("category", before) && normalize(name) !== normalize(before);
  const isMoved = !isRenamed && isEdited("categoryId", id);
  const after = isRenamed ? name : isMoved ? (shop.names.get(Number(cellOf(row, "categoryId"))) ?? "") : before;
  if (isRenamed || isMoved) edited.set("category", { before, after, isStale: isStale("categoryId", id) });
  return edited;
}

function whyRefused(field: ChangedField, value: string): string | undefined {
  switch (field) {
    case "name":
      return value !== "" && !isTooLong(value, nameCharactersMax) ? undefined : `the name is empty or over ${nameCharactersMax} characters`;
    case "status":
      return petStatuses.includes(value as PetStatus)
        ? undefined
        : `the status “${value.slice(0, 50)}” is not one of ${petStatuses.join(", ")}`;
    case "stock":
      return /^\d{1,10}$/.test(value) ? undefined : `the stock “${value.slice(0, 50)}” is not a whole number`;
    case "category":
      return value === "" ? "there is no category with this categoryId" : undefined;
  }
}

function changeOf(id: number, fields: readonly FieldChange[], { ids }: Shop): Pick<Edit, "change" | "category"> {
  const change: PetChange = { id };
  let category: string | undefined;
  for (const { field, after } of fields) {
    if (field === "name") change.name = after;
    if (field === "stock") change.stock = Number(after);
    if (field === "category") {
      const known = ids.get(normalize(after));
      if (known === undefined) category = after;
      else change.categoryId = known;
    }
    // A new stock sets the status, too.
    if (field === "status" && !fields.some((one) => one.field === "stock")) change.status = after as PetStatus;
  }
  return { change, category };
}

/** Asks the service which changes it would refuse. Returns the reasons by the pets' ids. */
export type PreviewChanges = (changes: readonly PetChange[]) => Promise<ReadonlyMap<number, string>>;

/** Moves the edits that the service would refuse to the rejects. @throws PetStoreError */
export async function checkEdits(plan: ExportPlan, preview: PreviewChanges): Promise<void> {
  rejectRefused(
    plan,
    await preview(plan.edits.map(({ change }) => change).filter(({ id: _id, ...change }) => Object.keys(change).length > 0)),
  );
}

type EditsRun = { client: PetStore; plan: ExportPlan; fileName: string; show: (total: number) => Pick<Progress, "advance" | "end"> };

/** Makes the edits of a plan as an import, which can be undone, with the categories that they name. @throws PetStoreError */
export async function makeEdits({ client, plan, fileName, show }: EditsRun): Promise<{ categoriesMade: string[]; importId?: number }> {
  const made = plan.edits.filter(({ fields }) => fields.length > 0);
  if (made.length === 0) return { categoriesMade: [] };
  const named = made.flatMap(({ category }) => category ?? []);
  const from = { source: editsSource, fileName };
  const begun = await beginImport(client, from, await findCategories(client, named));
  const { importId } = begun;
  const refused = new Map<number, string>();
  const rows = made.flatMap((edit): ImportRow[] => {
    const reason = edit.category === undefined ? undefined : begun.refused.get(normalize(edit.category));
    if (reason !== undefined) refused.set(edit.change.id, `the category “${edit.category}” was refused: ${reason}`);
    return reason === undefined ? [rowOf(edit, begun.ids)] : [];
  });
  const progress = show(rows.length);
  try {
    const reject = (index: number, reason: string) => void refused.set(rows[index]!.petId!, reason);
    await sendRows(rows, { client, importId, isDryRun: false, reject, advance: progress.advance });
    rejectRefused(plan, refused);
    await endImport(client, importId, plan.rejects.length);
  } finally {
    progress.end();
  }
  return { categoriesMade: begun.made, importId };
}

function rowOf({ name, categoryId, change, category }: Edit, ids: ReadonlyMap<string, number>): ImportRow {
  const movedTo = category === undefined ? change.categoryId : ids.get(normalize(category));
  const { id, status, stock } = change;
  return {
    // Files have no ids of this form, so none of theirs is taken for a row of this source.
    sourceId: `pet ${id}`,
    petId: id,
    pet: { name: change.name ?? name, categoryId: movedTo ?? categoryId, ...(status !== undefined && { status }) },
    previous: { name, categoryId },
    ...(stock !== undefined && { quantity: stock }),
  };
}

/** The counts of an export's rows. `stale` counts rows of which an edit is not applied. */
export function countsOfExport({ rowsRead: rows, superseded, unchanged, edits, rejects }: ExportPlan) {
  const updated = edits.filter(({ fields }) => fields.length > 0).length;
  const stale = edits.filter((edit) => edit.stale.length > 0).length;
  return { rows, superseded, created: 0, updated, unchanged: unchanged + edits.length - updated, rejected: rejects.length, stale };
}

/** Previews changes of animals one by one through the public API. */
export function previewPatches(client: PetStore): PreviewChanges {
  return async (changes) => {
    const refused = new Map<number, string>();
    for (const change of changes) {
      const reason = await previewPatch(client, change);
      if (reason !== undefined) refused.set(change.id, reason);
    }
    return refused;
  };
}

async function previewPatch(client: PetStore, { id, stock, ...body }: PetChange): Promise<string | undefined> {
  const params = { path: { petId: id } };
  const headers = { prefer: "dry-run" };
  if (Object.keys(body).length > 0) {
    const reason = reasonOf(await client.PATCH("/pets/{petId}", { params, body, headers }));
    if (reason !== undefined) return reason;
  }
  return stock === undefined
    ? undefined
    : reasonOf(await client.PUT("/store/inventory/{petId}", { params, body: { quantity: stock }, headers }));
}

/** Why the service refuses one change. @throws PetStoreError if the reason has nothing to do with the animal */
function reasonOf(answer: Refused & { data?: unknown }): string | undefined {
  if (answer.data) return undefined;
  const refused = refusal(answer);
  if (![400, 404, 409, 422].includes(answer.response.status)) throw refused;
  return refused.message;
}

/** Moves edits to the rejects. */
function rejectRefused(plan: ExportPlan, refused: ReadonlyMap<number, string>): void {
  for (const { row, change } of plan.edits) {
    const reason = refused.get(change.id);
    if (reason !== undefined) plan.rejects.push({ ...row, reason });
  }
  plan.edits = plan.edits.filter(({ change }) => !refused.has(change.id));
}
