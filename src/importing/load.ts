import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { normalize } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";

export type ImportRow = Schemas["ImportRow"];
type Outcome = Schemas["ImportOutcome"];

export type RowUpload = {
  client: PetStore;
  importId: number;
  /** Whether the service only says what would become of the rows. */
  isDryRun: boolean;
  /** Called for each row that the service refuses, by its place in the list. */
  reject: (index: number, reason: string) => void;
  /** Called with the number of rows that are finished, refused ones included. */
  advance: (rows: number) => void;
};

/** The most bytes of a batch of rows with profiles, a little less than the service takes. A batch that is too large for another reason is halved. */
const batchBytesMax = 900_000;

/** Refusals of rows; any other one stops the import. */
const refusedStatuses = new Set([400, 413, 422]);

/**
 * Sends rows in batches; where the service refuses some rows of a batch, sends the others again. Returns the number of rows by outcome.
 *
 * @throws PetStoreError. Earlier batches stay, and sending all rows again is safe
 */
export async function sendRows(rows: Iterable<ImportRow> | AsyncIterable<ImportRow>, sending: RowUpload): Promise<Record<Outcome, number>> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  for await (const whole of batches(rows)) {
    const queue = [whole];
    for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
      const answer = await sendBatch(
        batch.map(({ row }) => row),
        sending,
      );
      if (answer.data) {
        for (const { outcome } of answer.data) counts[outcome] += 1;
        sending.advance(batch.length);
      } else if (refusedStatuses.has(answer.response.status)) queue.unshift(...withoutRefused(batch, answer, sending));
      else throw refusal(answer);
    }
  }
  return counts;
}

/** Groups rows, as they come, into batches that the service takes. */
async function* batches(rows: Iterable<ImportRow> | AsyncIterable<ImportRow>): AsyncGenerator<PlacedRow[]> {
  const encoder = new TextEncoder();
  let [batch, bytes, index]: [PlacedRow[], number, number] = [[], 0, 0];
  for await (const row of rows) {
    const size = row.profile ? encoder.encode(JSON.stringify(row)).length : 0;
    if (batch.length === batchSizeMax || (batch.length > 0 && bytes + size > batchBytesMax)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push({ row, index: index++ });
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Ends an import. @throws PetStoreError */
export async function endImport(client: PetStore, importId: number, rejected: number): Promise<void> {
  const params = { path: { importId }, query: { last: true, rejected } };
  const answer = await client.POST("/imports/{importId}/rows", { params, body: [] });
  if (!answer.data) throw refusal(answer);
}

function sendBatch(body: ImportRow[], { client, importId, isDryRun }: RowUpload) {
  const headers = isDryRun ? { prefer: "dry-run" } : {};
  return client.POST("/imports/{importId}/rows", { params: { path: { importId } }, body, headers });
}

type PlacedRow = { row: ImportRow; index: number };

/** Rejects the rows that an error names and returns the rest to send again; if it names none, halves the batch to find them. */
function withoutRefused(batch: PlacedRow[], answer: Refused, { reject, advance }: RowUpload): PlacedRow[][] {
  const named = refusedElements(refusal(answer).details ?? [], batch.length);
  if (named.size === 0 && batch.length > 1) return batchesOf(batch, Math.ceil(batch.length / 2));
  if (named.size === 0) named.set(0, reasonOf(answer));
  for (const [at, reason] of named) reject(batch[at]!.index, reason);
  advance(named.size);
  return batchesOf(batch.filter((_, at) => !named.has(at)));
}

/** Why the service refuses a request, in words. */
function reasonOf(answer: Refused): string {
  const { message, details = [] } = refusal(answer);
  return details.length === 0 ? message : details.map((detail) => `${detail.path.replace(/^body\./, "")} ${detail.message}`).join("; ");
}

/** Where the animals of a file come from: the name that each file of the same system has, and the file's own name, for people. */
export type ImportSource = { source: string; fileName: string };
/** The categories of a file: their ids by folded name, and those that the shop does not have. */
export type Categories = { ids: ReadonlyMap<string, number>; missing: string[] };
/** An import that has begun. `refused` has the reason for each category that the service refuses, by folded name. */
export type BegunImport = { importId: number; ids: ReadonlyMap<string, number>; made: string[]; refused: ReadonlyMap<string, string> };

/** The most categories that one import creates; more means that the mapping names the wrong column. */
const newMax = 500;

/** Finds the categories by folded name. @throws Problem `invalid_request` if too many are missing */
export async function findCategories(client: PetStore, names: Iterable<string>): Promise<Categories> {
  const ids = await categoryIds(client);
  const missing = [...new Map(Array.from(names, (name) => [normalize(name), name]))].filter(([folded]) => !ids.has(folded));
  if (missing.length > newMax)
    throw new Problem(
      "invalid_request",
      `${missing.length} categories would be created, more than ${newMax}. Does the mapping name the right column?`,
    );
  return { ids, missing: missing.map(([, name]) => name) };
}

/** Begins an import, which creates the missing categories. @throws PetStoreError */
export async function beginImport(
  client: PetStore,
  { source, fileName }: ImportSource,
  { ids, missing }: Categories,
): Promise<BegunImport> {
  const refused = new Map<string, string>();
  let categories = missing;
  for (;;) {
    const answer = await client.POST("/imports", { body: { source, fileName, categories } });
    if (answer.data) {
      const all = categories.length === 0 ? ids : await categoryIds(client);
      return { importId: answer.data.id, ids: all, made: categories, refused };
    }
    const problem = refusal(answer);
    const named = refusedElements(
      (problem.details ?? []).filter(({ path }) => path.startsWith("body.categories[")),
      categories.length,
    );
    if (answer.response.status !== 400 || named.size === 0) throw problem;
    for (const [index, reason] of named) refused.set(normalize(categories[index]!), reason);
    categories = categories.filter((_, index) => !named.has(index));
  }
}

async function categoryIds(client: PetStore): Promise<Map<string, number>> {
  return new Map(Array.from(await categoryNames(client), ([id, name]) => [normalize(name), id]));
}

/** The names of all categories by id. @throws PetStoreError */
export async function categoryNames(client: PetStore): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  for await (const page of pages(client, "/categories")) for (const { id, name } of page) names.set(id, name);
  return names;
}

/** The service's largest batch. */
export const batchSizeMax = 1_000;

/** Cuts a list into batches, in order and all full but the last. */
export function batchesOf<T>(list: readonly T[], size: number = batchSizeMax): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}

/** The elements that an error's details name, such as `body[12].pet.name` or `body.categories[3]`, with the reason for each. */
export function refusedElements(details: readonly { path: string; message: string }[], size: number): Map<number, string> {
  const refused = new Map<number, string>();
  for (const { path, message } of details) {
    const [, digits, field] = /^body(?:\.categories)?\[(\d{1,6})\]\.?(?:pet\.)?(.*)$/.exec(path) ?? [];
    const index = Number(digits ?? NaN);
    if (index < size && !refused.has(index)) refused.set(index, `${field === "" ? "the row" : field} ${message}`);
  }
  return refused;
}
