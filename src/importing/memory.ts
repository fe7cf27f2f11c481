import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { PetStore } from "../../client/client.ts";
import { refusal } from "../../client/refusals.ts";
import { earlierKey } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";
import { readPets } from "./exported-pets.ts";
import { sendRows, type ImportRow } from "./load.ts";
import type { PetStatus } from "./mapping-schema.ts";
import type { Pet } from "./pets.ts";
import type { Row } from "./source.ts";

/*
 * What releases before 1.2.0 remembered between two runs of an import, in a state file or in the browser. It is handed to the service once.
 */

/** A pet that an earlier run has loaded, and the hash of its row then. */
export type KnownPet = { petId: number; hash: string };
/** An element of a batch that had no answer. */
export type BatchElement = {
  sourceId: string;
  hash: string;
  replaces: number | null;
  pet: { name: string; categoryId: number; status: PetStatus };
};
/** The loaded pets by source id, and the batch that had no answer yet. `sentAt` is in ms since the Unix epoch. */
export type Memory = { batch: { sentAt: number; elements: BatchElement[] } | null; animals: Map<string, KnownPet> };
export type State = Memory & { server: string; account: number | null };

/** @throws Problem `invalid_request` if a state belongs to another server or account */
export function checkBelongs(state: State, file: string, server: string, account: number | null): void {
  const other = state.server !== server ? `the server ${state.server}` : "another account";
  const sameAccount = account === null || state.account === null || state.account === account;
  if (state.server === server && sameAccount) return;
  throw new Problem("invalid_request", `The state file ${file} belongs to ${other}. Move it away to import into ${server} too.`);
}

/** How long the Idempotency-Key of an unanswered batch is certainly valid: an hour less than the 24 hours that the service promises. */
const resendMsMax = 23 * 3_600_000;

type Adoption = { client: PetStore; importId: number; memory: Memory; rows: readonly Row[]; rowOf: (row: Row) => ImportRow; now: number };

/**
 * Hands over to the service what an earlier release remembered: which pet each row is. A row that has not changed since is taken as said; of any other,
 * the present values of its pet are.
 *
 * @throws Problem `invalid_request` if the outcome of a batch cannot be known any more
 */
export async function adoptMemory({ client, importId, memory, rows, rowOf, now }: Adoption): Promise<void> {
  if (memory.batch !== null) await finishBatch(client, memory, memory.batch, now);
  const byId = new Map(rows.map((row) => [row.pet.sourceId, row]));
  const isSame = (sourceId: string, hash: string) => byId.has(sourceId) && hashOf(byId.get(sourceId)!.pet) === hash;
  const known = [...memory.animals];
  const others = known.filter(([sourceId, { hash }]) => !isSame(sourceId, hash)).map(([, { petId }]) => petId);
  const pets = new Map((await readPets(client, others)).map((pet) => [pet.id, pet]));
  const adopted = known.flatMap(([sourceId, { petId, hash }]): ImportRow[] => {
    if (isSame(sourceId, hash)) return [{ ...rowOf(byId.get(sourceId)!), petId }];
    const pet = pets.get(petId);
    return pet ? [{ sourceId, pet: { name: pet.name, categoryId: pet.categoryId, status: pet.status }, petId }] : [];
  });
  await sendRows(adopted, { client, importId, isDryRun: false, reject: () => undefined, advance: () => undefined });
}

/** Learns the pets of a batch that had no answer: the service repeats the answer to the same key. */
async function finishBatch(
  client: PetStore,
  { animals }: Memory,
  { sentAt, elements }: NonNullable<Memory["batch"]>,
  now: number,
): Promise<void> {
  if (now - sentAt > resendMsMax)
    throw new Problem(
      "invalid_request",
      `An earlier run stopped before the service confirmed ${elements.length} animals, beginning with “${elements[0]?.pet.name}” (${new Date(sentAt).toISOString()}), and it is too late to find out whether they were created. ` +
        `Delete them in the shop if they are there; then move the record of that run away, and import again.`,
    );
  const header = { "Idempotency-Key": batchKey(elements) };
  const answer = await client.POST("/pets/batch", { params: { header }, body: elements.map(({ pet }) => pet) });
  if (answer.data)
    for (const [index, { sourceId, hash }] of elements.entries()) animals.set(sourceId, { petId: answer.data[index]!.id, hash });
  else if (answer.response.status !== 400) throw refusal(answer);
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

function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(value))));
}
