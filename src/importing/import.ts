import type { PetStore } from "../../client/client.ts";
import { normalize } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";
import type { CsvRow } from "./csv.ts";
import { beginImport, endImport, findCategories, sendRows, type ImportRow, type ImportSource } from "./load.ts";
import { adoptMemory, type Memory } from "./memory.ts";
import type { Progress } from "./progress.ts";
import type { Report } from "./report.ts";
import { addRejects, type Row, type Source } from "./source.ts";
import { newestImport } from "./sources.ts";

export type ImportRun = {
  client: PetStore;
  source: Source;
  from: ImportSource;
  /** Reads the file from its beginning, for the cells of rows that the service refuses. */
  open: () => AsyncIterable<CsvRow>;
  /** What an earlier release remembered of this file. */
  memory: Memory | undefined;
  /** The time in ms. */
  now: number;
  /** Called once the number of rows to send is known. */
  show: (total: number) => Pick<Progress, "advance" | "end">;
};
/** What an import would do. `needed` and `room` are in records; `room` is undefined for a key that may not read it. */
export type Preview = { counts: Counts; needed: number; room: number | undefined };
type Counts = Pick<Report, "rows" | "superseded" | "created" | "updated" | "unchanged" | "rejected">;

/**
 * Imports the rows of a file. Those that the service refuses are added to the rejects. To continue an import that stopped, call this again.
 *
 * @throws Problem `storage_limit_reached` before anything is sent if the file does not fit
 */
export async function importSource(importing: ImportRun): Promise<Omit<Report, "rejects">> {
  const { client, source, from, open, memory, now, show } = importing;
  await checkFits(importing);
  const categories = await findCategories(client, categoriesOf(source));
  const { importId, ids, made, refused: unfit } = await beginImport(client, from, categories);
  const refused = new Map<number, string>();
  const rows = inOrder(source).filter(({ line, pet: { category } }) => {
    const reason = unfit.get(normalize(category));
    if (reason !== undefined) refused.set(line, `the category “${category}” was refused: ${reason}`);
    return reason === undefined;
  });
  const rowOf = rowMaker(ids);
  if (memory) await adoptMemory({ client, importId, memory, rows, rowOf, now });
  const progress = show(rows.length);
  try {
    const reject = (index: number, reason: string) => void refused.set(rows[index]!.line, reason);
    const done = await sendRows(withProfiles(rows, rowOf, source, open), {
      client,
      importId,
      isDryRun: false,
      reject,
      advance: progress.advance,
    });
    await endImport(client, importId, source.rejects.length + refused.size);
    return { ...readOf(source), ...done, rejected: source.rejects.length + refused.size, categoriesMade: made, importId };
  } finally {
    progress.end();
    await addRejects(source, open(), refused);
  }
}

/** Returns what an import would do, by a dry run on the newest import of the source. Adds the rows that the service refuses to the rejects. */
export async function previewSource({ client, source, from, open, memory }: Omit<ImportRun, "now" | "show">): Promise<Preview> {
  const { ids, missing } = await findCategories(client, categoriesOf(source));
  const room = await roomOf(client);
  const newest = memory?.animals.size ? undefined : await newestImport(client, from.source);
  const known = source.rows.filter(({ pet: { sourceId } }) => memory?.animals.has(sourceId)).length;
  let done = { created: source.rows.length - known, updated: 0, unchanged: known };
  const refused = new Map<number, string>();
  if (newest !== undefined) {
    // A row in a category that does not exist yet is new or changed in any case, so any id will do.
    const [anyId = 1] = ids.values();
    const rowOf = rowMaker(ids, anyId);
    const rows = inOrder(source);
    const reject = (index: number, reason: string) => void refused.set(rows[index]!.line, reason);
    const sent = withProfiles(rows, rowOf, source, open);
    try {
      done = await sendRows(sent, { client, importId: newest, isDryRun: true, reject, advance: () => undefined });
    } catch (error) {
      // The rows of one batch are more than there is room for.
      if ((error as { code?: unknown }).code !== "storage_limit_reached") throw error;
    }
  }
  await addRejects(source, open(), refused);
  const counts = { ...readOf(source), ...done, rejected: source.rejects.length };
  return { counts, needed: done.created + missing.length, room };
}

/** Counts the new animals only if they might not all fit. */
async function checkFits(importing: ImportRun): Promise<void> {
  const { client, source } = importing;
  const room = await roomOf(client);
  if (room === undefined || source.rows.length + categoriesOf(source).size <= room) return;
  const { needed } = await previewSource(importing);
  if (needed <= room) return;
  throw new Problem(
    "storage_limit_reached",
    `The file has ${needed} new animals and categories, and the plan has room for ${room} more records. Nothing was imported.`,
  );
}

async function roomOf(client: PetStore): Promise<number | undefined> {
  const { data } = await client.GET("/account");
  return data?.records.remaining;
}

function rowMaker(ids: ReadonlyMap<string, number>, otherwise?: number): (row: Row) => ImportRow {
  return ({ pet: { sourceId, name, category, status, quantity } }) => {
    const categoryId = ids.get(normalize(category)) ?? otherwise;
    if (categoryId === undefined) throw new Error(`no id for the category ${category}`);
    return { sourceId, pet: { name, categoryId, status }, ...(quantity !== undefined && { quantity }) };
  };
}

/** The rows in the order in which they are sent: by line, if the file is read again for their profiles. */
function inOrder({ rows, profileOf }: Source): readonly Row[] {
  return profileOf ? rows.toSorted((a, b) => a.line - b.line) : rows;
}

/** Yields rows as they are sent. Reads the file again for their profiles, if the mapping has any. */
async function* withProfiles(
  rows: readonly Row[],
  rowOf: (row: Row) => ImportRow,
  { profileOf }: Source,
  open: ImportRun["open"],
): AsyncGenerator<ImportRow> {
  if (!profileOf) {
    for (const row of rows) yield rowOf(row);
    return;
  }
  let at = 0;
  for await (const { line, cells } of open()) {
    const row = rows[at];
    if (row?.line !== line) continue;
    at += 1;
    const profile = profileOf(cells);
    yield { ...rowOf(row), ...(Object.keys(profile).length > 0 && { profile }) };
  }
  if (at < rows.length) throw new Problem("invalid_request", "The file has changed while it was imported. Import it again.");
}

function categoriesOf({ rows }: Source): Set<string> {
  return new Set(rows.map(({ pet }) => pet.category));
}

function readOf({ rowsRead: rows, superseded }: Source): Pick<Report, "rows" | "superseded"> {
  return { rows, superseded };
}
