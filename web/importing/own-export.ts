import { pages } from "../../client/pages.ts";
import type { PetStore } from "../../client/client.ts";
import type { CsvRow } from "../../src/importing/csv.ts";
import { ensureCategories } from "../../src/importing/categories.ts";
import { petStatuses, type PetStatus } from "../../src/importing/mapping.ts";
import { fittedCells, isBlank, type Reject } from "../../src/importing/source.ts";
import { normalize } from "../../src/platform/normalize.ts";
import { previewChanges, sendChanges, type Change, type PetState, type Result } from "../calls/changes.ts";
import { texts } from "../texts/texts.ts";
import { rejectsOf } from "./rejects.ts";
import type { CheckedExport, ExportChange, Imported } from "./tasks.ts";

/*
 * Imports a file that was exported here and then edited. Each row changes the pet with its id; no row creates a pet.
 */

const required = ["id", "name", "categoryId", "status"];
const allowed = new Set([...required, "category", "stock"]);
const changesShown = 100;
const words = texts.importing.ownExport;

/** Whether these are the columns of an export, of the dashboard or of `petstore export pets`. */
export function isExport(columns: readonly string[]): boolean {
  return required.every((name) => columns.includes(name)) && columns.every((name) => allowed.has(name));
}

type Edited = { row: CsvRow; before: PetState; change: Change; category: string | undefined };
type Plan = {
  header: string[];
  rowsRead: number;
  superseded: number;
  repeated: string | undefined;
  unchanged: number;
  edited: Edited[];
  rejects: Reject[];
  categories: Map<number, string>;
};

/** Compares an export with the shop, and asks the service which changes it would refuse. */
export async function checkExport(rows: AsyncIterable<CsvRow>, file: string, client: PetStore): Promise<CheckedExport> {
  const plan = await planExport(rows, file, client);
  const results = await previewChanges(plan.edited.map(({ change }) => change));
  const accepted = rejectRefused(plan, results);
  return {
    counts: countsOf(plan, accepted.length),
    changes: accepted.slice(0, changesShown).map((edited) => shown(edited, plan.categories)),
    rejects: rejectsOf(plan),
    repeated: plan.repeated,
  };
}

/** Changes the pets that differ between the export and the shop, and creates the categories that the export names. */
export async function importExport(
  rows: AsyncIterable<CsvRow>,
  file: string,
  client: PetStore,
  show: (total: number) => { advance: (rows: number) => void },
): Promise<Imported> {
  const plan = await planExport(rows, file, client);
  const named = plan.edited.flatMap(({ category }) => (category === undefined ? [] : [category]));
  const { ids, made } = named.length === 0 ? { ids: new Map<string, number>(), made: [] } : await ensureCategories(client, named);
  const progress = show(plan.edited.length);
  const changes = plan.edited.map(({ change, category }) => {
    const categoryId = category === undefined ? undefined : ids.get(normalize(category));
    return { ...change, ...(categoryId !== undefined && { categoryId }) };
  });
  const accepted = rejectRefused(plan, await sendChanges(changes, { onResults: ({ length }) => progress.advance(length) }));
  return { counts: countsOf(plan, accepted.length), categoriesMade: made, rejects: rejectsOf(plan) };
}

async function planExport(csv: AsyncIterable<CsvRow>, file: string, client: PetStore): Promise<Plan> {
  const plan: Plan = {
    header: [],
    rowsRead: 0,
    superseded: 0,
    repeated: undefined,
    unchanged: 0,
    edited: [],
    rejects: [],
    categories: new Map(),
  };
  const last = new Map<number, CsvRow>();
  for await (const row of csv) {
    if (plan.header.length === 0) {
      plan.header = row.cells.map((cell) => cell.trim());
      continue;
    }
    if (isBlank(row)) continue;
    plan.rowsRead += 1;
    const id = Number(row.cells[plan.header.indexOf("id")]?.trim() || Number.NaN);
    if (typeof fittedCells(row, plan.header.length) === "string") plan.rejects.push({ ...row, reason: words.cells });
    else if (!Number.isSafeInteger(id) || id < 1) plan.rejects.push({ ...row, reason: words.noId });
    else {
      if (last.has(id)) {
        plan.superseded += 1;
        plan.repeated ??= String(id);
      }
      last.set(id, row);
    }
  }
  for await (const page of pages(client, "/categories")) for (const { id, name } of page) plan.categories.set(id, name);
  const current = await previewChanges([...last.keys()].map((id) => ({ id })));
  const idsByName = new Map(Array.from(plan.categories, ([id, name]) => [normalize(name), id]));
  for (const { id, before } of current) {
    const row = last.get(id)!;
    if (before === undefined) plan.rejects.push({ ...row, reason: words.gone(id) });
    else compare(plan, row, id, before, idsByName);
  }
  return plan;
}

/** Adds a row to the edited ones, the unchanged ones or the rejects. */
function compare(plan: Plan, row: CsvRow, id: number, before: PetState, idsByName: ReadonlyMap<string, number>): void {
  const cell = (name: string) => row.cells[plan.header.indexOf(name)]?.trim() ?? "";
  const reject = (reason: string) => void plan.rejects.push({ ...row, reason });
  const [name, status, stock] = [cell("name"), cell("status"), cell("stock")];
  if (name === "" || [...name].length > 200) return reject(words.name);
  if (!petStatuses.includes(status as PetStatus)) return reject(words.status(status));
  if (!/^\d{0,10}$/.test(stock)) return reject(words.stock(stock));
  const { category, categoryId } = categoryOf(before, cell("category"), Number(cell("categoryId")), plan.categories, idsByName);
  const change: Change = { id };
  if (name !== before.name) change.name = name;
  if (stock !== "" && Number(stock) !== before.stock) change.stock = Number(stock);
  // a new stock sets the status, too
  if (status !== before.status && change.stock === undefined) change.status = status as PetStatus;
  if (categoryId !== before.categoryId && categoryId !== undefined) change.categoryId = categoryId;
  if (Object.keys(change).length === 1 && category === undefined) plan.unchanged += 1;
  else plan.edited.push({ row, before, change, category });
}

/** Uses whichever of the two columns differs from the shop, the name first. A name without a category is returned for creation. */
function categoryOf(
  before: PetState,
  name: string,
  id: number,
  categories: ReadonlyMap<number, string>,
  idsByName: ReadonlyMap<string, number>,
): { category: string | undefined; categoryId: number | undefined } {
  const isRenamed = name !== "" && normalize(name) !== normalize(categories.get(before.categoryId) ?? "");
  if (!isRenamed) return { category: undefined, categoryId: Number.isSafeInteger(id) && id > 0 ? id : before.categoryId };
  const known = idsByName.get(normalize(name));
  return known === undefined ? { category: name, categoryId: undefined } : { category: undefined, categoryId: known };
}

/** Moves the rows that the service refuses to the rejects, and returns the others. */
function rejectRefused(plan: Plan, results: Result[]): Edited[] {
  const refused = new Map(results.flatMap((result) => (result.outcome === "refused" ? [[result.id, result.message ?? ""]] : [])));
  for (const { row, change } of plan.edited) {
    const reason = refused.get(change.id);
    if (reason !== undefined) plan.rejects.push({ ...row, reason });
  }
  return plan.edited.filter(({ change }) => !refused.has(change.id));
}

function countsOf({ rowsRead: rows, superseded, unchanged, rejects }: Plan, updated: number) {
  return { rows, superseded, created: 0, updated, unchanged, rejected: rejects.length };
}

function shown({ before, change, category }: Edited, categories: ReadonlyMap<number, string>): ExportChange {
  const nameOf = (id: number) => categories.get(id) ?? String(id);
  const stock = before.stock === null ? words.untracked : String(before.stock);
  const wanted = category ?? (change.categoryId === undefined ? undefined : nameOf(change.categoryId));
  const fields: ExportChange["fields"] = [
    ...(change.name === undefined ? [] : [{ field: "name" as const, before: before.name, after: change.name }]),
    ...(wanted === undefined ? [] : [{ field: "category" as const, before: nameOf(before.categoryId), after: wanted }]),
    ...(change.status === undefined
      ? []
      : [{ field: "status" as const, before: texts.store.status[before.status], after: texts.store.status[change.status] }]),
    ...(typeof change.stock === "number" ? [{ field: "stock" as const, before: stock, after: String(change.stock) }] : []),
  ];
  return { id: change.id, name: before.name, fields };
}
