import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { earlierKey } from "../platform/normalize.ts";
import type { Pet } from "./pets.ts";
import type { BatchElement } from "./state.ts";

/** The service's largest batch. */
export const batchSizeMax = 1_000;

/** Cuts a list into batches, in order and all full but the last. */
export function batchesOf<T>(list: readonly T[], size: number = batchSizeMax): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}

/** The hash by which an earlier release told whether a pet had changed: 16 hex digits over its fields, with the category folded as it did. */
export function hashOf(pet: Pet): string {
  return digest([pet.name, earlierKey(pet.category), pet.status]).slice(0, 16);
}

/** The Idempotency-Key under which an earlier release sent a batch. */
export function batchKey(batch: readonly BatchElement[]): string {
  return (
    "petstore-import-" + digest(batch.map(({ sourceId, replaces, pet }) => [sourceId, replaces, pet.name, pet.categoryId, pet.status]))
  );
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

function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(value))));
}
