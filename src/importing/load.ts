import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import type { Clock } from "../platform/clock.ts";
import { normalize } from "../platform/normalize.ts";
import { Problem } from "../platform/problem.ts";
import { batchesOf, batchKey, hashOf, refusedElements } from "./plan.ts";
import type { Creation, Plan, Update } from "./plan.ts";
import type { Row } from "./source.ts";
import type { BatchElement, LoadState } from "./state.ts";

/** The dependencies of a load. `save` stores the state. `reject` gets each row that the service refuses, `advance` the number of finished rows. */
export type Loading = {
  client: PetStore;
  categoryIds: ReadonlyMap<string, number>;
  state: LoadState;
  save: () => Promise<void>;
  now: Clock;
  reject: (row: Row, reason: string) => void;
  advance: (rows: number) => void;
};

/** How long a batch's Idempotency-Key is certainly valid: an hour less than the 24 hours that the service promises. */
export const resendMsMax = 23 * 3_600_000;
const updatesPerSave = 200;
/** Errors that reject rows; any other error stops the import. */
const refusedStatuses = new Set([400, 413, 422]);

/**
 * Completes the last batch of an interrupted run: sends it again with the same Idempotency-Key. If the service has already created the pets, it
 * repeats its response; otherwise it creates them now.
 *
 * @throws Problem `invalid_request` if the key may have expired, unless `resend` is set
 */
export async function finishBatch(client: PetStore, state: LoadState, now: Clock, resend: boolean): Promise<void> {
  if (state.batch === null) return;
  const { sentAt, elements } = state.batch;
  if (isOutdated(state.batch, now()) && !resend) throw outdated(elements, sentAt);
  const answer = await sendBatch(client, elements);
  if (answer.data) await record(client, state, elements, answer);
  else if (!refusedStatuses.has(answer.response.status)) throw refusal(answer);
  // A refused batch created nothing, so its rows are planned like any others.
  state.batch = null;
}

/** Whether the Idempotency-Key of an unanswered batch may have expired, so that its outcome is unknown. Time in ms. */
export function isOutdated({ sentAt }: NonNullable<LoadState["batch"]>, now: number): boolean {
  return now - sentAt > resendMsMax;
}

/** Carries out a plan whose rows all have a category, and saves the state along the way. Returns the numbers of pets created and updated. */
export async function load(plan: Plan, loading: Loading): Promise<{ created: number; updated: number }> {
  const { updated, gone } = await updateAll(plan.updates, loading);
  const created = await createAll([...plan.creations, ...gone], loading);
  await loading.save();
  return { created, updated };
}

async function updateAll(updates: readonly Update[], loading: Loading): Promise<{ updated: number; gone: Creation[] }> {
  const { client, state, advance, reject, save } = loading;
  const gone: Creation[] = [];
  let updated = 0;
  for (const [index, { row, petId }] of updates.entries()) {
    const answer = await replacePet(client, petId, petOf(row, loading.categoryIds));
    const { status } = answer.response;
    if (status === 404) gone.push({ row, replaces: petId });
    else if (refusedStatuses.has(status)) reject(row, reasonOf(answer));
    else if (!answer.data) throw refusal(answer);
    else {
      state.animals.set(row.pet.sourceId, { petId, hash: hashOf(row.pet) });
      updated += 1;
    }
    if (status !== 404) advance(1);
    if (index % updatesPerSave === updatesPerSave - 1) await save();
  }
  return { updated, gone };
}

/** Replaces a pet. If its stock is counted, the stock decides the status and the file's status is ignored. */
async function replacePet(client: PetStore, petId: number, pet: BatchElement["pet"]) {
  const put = (body: Schemas["NewPet"]) => client.PUT("/pets/{petId}", { params: { path: { petId } }, body });
  const answer = await put(pet);
  if (answer.data || refusal(answer).code !== "status_follows_stock") return answer;
  return put({ name: pet.name, categoryId: pet.categoryId });
}

async function createAll(creations: readonly Creation[], loading: Loading): Promise<number> {
  const { client, state, save, now } = loading;
  const queue = batchesOf(creations);
  let created = 0;
  for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
    const elements = batch.map((creation) => elementOf(creation, loading.categoryIds));
    state.batch = { sentAt: now(), elements };
    await save();
    const answer = await sendBatch(client, elements);
    if (refusedStatuses.has(answer.response.status)) queue.unshift(...withoutRefused(batch, answer, loading));
    else if (!answer.data) {
      const refused = refusal(answer);
      // The refused batch created nothing; once there is room, the next run plans these rows again.
      if (refused.code === "storage_limit_reached") await forgetBatch(state, save);
      throw refused;
    } else {
      const deleted = await record(client, state, elements, answer);
      const again = batch.flatMap(({ row }, index) => (deleted.has(index) ? [{ row, replaces: deleted.get(index) ?? null }] : []));
      if (again.length > 0) queue.unshift(again);
      created += batch.length - again.length;
      loading.advance(batch.length - again.length);
    }
    state.batch = null;
  }
  return created;
}

async function forgetBatch(state: LoadState, save: () => Promise<void>): Promise<void> {
  state.batch = null;
  await save();
}

/** Rejects the rows that an error names and returns the rest to send again; if it names none, halves the batch to find them. */
function withoutRefused(batch: Creation[], answer: Refused, { reject, advance }: Loading): Creation[][] {
  const named = refusedElements(refusal(answer).details ?? [], batch.length);
  if (named.size === 0 && batch.length > 1) return batchesOf(batch, Math.ceil(batch.length / 2));
  if (named.size === 0) named.set(0, reasonOf(answer));
  for (const [index, reason] of named) if (batch[index]) reject(batch[index].row, reason);
  advance(named.size);
  return batchesOf(batch.filter((_, index) => !named.has(index)));
}

type Sent = Awaited<ReturnType<typeof sendBatch>>;

function sendBatch(client: PetStore, elements: readonly BatchElement[]) {
  const header = { "Idempotency-Key": batchKey(elements) };
  return client.POST("/pets/batch", { params: { header }, body: elements.map(({ pet }) => pet) });
}

/**
 * Records a batch's pets in the state. A replayed response may be older than a deletion in the shop, so its ids are looked up first;
 * deleted pets are not recorded but returned, by their index in the batch.
 */
async function record(client: PetStore, state: LoadState, elements: readonly BatchElement[], answer: Sent): Promise<Map<number, number>> {
  const ids = idsOf(answer, elements.length);
  const existingIds = answer.response.headers.get("idempotent-replayed") === "true" ? await existing(client, ids) : undefined;
  const deleted = new Map<number, number>();
  for (const [index, { sourceId, hash }] of elements.entries()) {
    const petId = ids[index] as number;
    if (existingIds === undefined || existingIds.has(petId)) state.animals.set(sourceId, { petId, hash });
    else deleted.set(index, petId);
  }
  return deleted;
}

async function existing(client: PetStore, ids: readonly number[]): Promise<Set<number>> {
  const found = new Set<number>();
  for (const some of batchesOf(ids, 100))
    for await (const page of pages(client, "/pets", { id: some })) for (const { id } of page) found.add(id);
  return found;
}

function idsOf({ data }: Sent, size: number): number[] {
  const ids = Array.isArray(data) ? data.map(({ id }) => id) : [];
  if (ids.length !== size || !ids.every((id) => Number.isSafeInteger(id)))
    throw new Problem("internal", `The server's answer to a batch of ${size} animals is not that of a pet store.`);
  return ids;
}

function elementOf({ row, replaces }: Creation, categoryIds: ReadonlyMap<string, number>): BatchElement {
  return { sourceId: row.pet.sourceId, hash: hashOf(row.pet), replaces, pet: petOf(row, categoryIds) };
}

function petOf({ pet }: Row, categoryIds: ReadonlyMap<string, number>): BatchElement["pet"] {
  const categoryId = categoryIds.get(normalize(pet.category));
  if (categoryId === undefined) throw new Error(`no id for the category ${pet.category}`);
  return { name: pet.name, categoryId, status: pet.status };
}

function reasonOf(answer: Refused): string {
  const { message, details = [] } = refusal(answer);
  return details.length === 0 ? message : details.map((detail) => `${detail.path.replace(/^body\./, "")} ${detail.message}`).join("; ");
}

function outdated(elements: readonly BatchElement[], sentAt: number): Problem {
  const first = elements[0]?.pet.name;
  const when = new Date(sentAt).toISOString();
  return new Problem(
    "invalid_request",
    `The last run stopped before the service confirmed ${elements.length} pets, beginning with “${first}” (${when}), and it is too late to find out whether they were created. ` +
      `If they are in the shop, delete them first. Then run again with --resend.`,
  );
}
