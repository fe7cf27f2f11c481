import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { normalize } from "../platform/normalize.ts";
import type { Pet } from "./pets.ts";
import type { Row } from "./source.ts";
import type { BatchElement, LoadedPets } from "./state.ts";

/** A pet to create. `replaces` is its former id, if it was deleted in the shop. */
export type Creation = { row: Row; replaces: number | null };
export type Update = { row: Row; petId: number };
export type Plan = { creations: Creation[]; updates: Update[]; unchanged: number };

/** The service's largest batch. */
export const batchSizeMax = 1_000;

/** Returns the remaining work for a file's rows, in row order. `known` has the pets that earlier runs loaded. */
export function planLoad(rows: readonly Row[], known: Pick<LoadedPets, "get">): Plan {
  const plan: Plan = { creations: [], updates: [], unchanged: 0 };
  for (const row of rows) {
    const before = known.get(row.pet.sourceId);
    if (before === undefined) plan.creations.push({ row, replaces: null });
    else if (before.hash !== hashOf(row.pet)) plan.updates.push({ row, petId: before.petId });
    else plan.unchanged += 1;
  }
  return plan;
}

/** Cuts a list into batches, in order and all full but the last. */
export function batchesOf<T>(list: readonly T[], size: number = batchSizeMax): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}

/** A hash that changes when a pet changes: 16 hex digits over its fields, with the category folded. */
export function hashOf(pet: Pet): string {
  return digest([pet.name, normalize(pet.category), pet.status]).slice(0, 16);
}

/**
 * The Idempotency-Key of a batch. The same rows always have the same key, so that a batch never takes effect twice, even if the state
 * is lost. A pet that was deleted in the shop counts as another row, because the replayed response would return the deleted id.
 */
export function batchKey(batch: readonly BatchElement[]): string {
  return (
    "petstore-import-" + digest(batch.map(({ sourceId, replaces, pet }) => [sourceId, replaces, pet.name, pet.categoryId, pet.status]))
  );
}

/** The elements that an error's details name, such as `body[12].name`, with the reason for each. */
export function refusedElements(details: readonly { path: string; message: string }[], size: number): Map<number, string> {
  const refused = new Map<number, string>();
  for (const { path, message } of details) {
    const [, digits, field] = /^body\[(\d{1,6})\]\.?(.*)$/.exec(path) ?? [];
    const index = Number(digits ?? NaN);
    if (index < size && !refused.has(index)) refused.set(index, `${field === "" ? "the row" : field} ${message}`);
  }
  return refused;
}

function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(value))));
}
