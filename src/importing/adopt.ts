import type { PetStore } from "../../client/client.ts";
import { refusal } from "../../client/refusals.ts";
import { Problem } from "../platform/problem.ts";
import { readPets } from "./exported-pets.ts";
import { sendRows, type ImportRow } from "./load.ts";
import { batchKey, hashOf } from "./plan.ts";
import type { Row } from "./source.ts";
import type { Memory } from "./state.ts";

/** How long the Idempotency-Key of an unanswered batch is certainly valid: an hour less than the 24 hours that the service promises. */
const resendMsMax = 23 * 3_600_000;

type Adopting = { client: PetStore; importId: number; memory: Memory; rows: readonly Row[]; rowOf: (row: Row) => ImportRow; now: number };

/**
 * Hands over to the service what an earlier release remembered: which pet each row is. A row that has not changed since is taken as said; of any other,
 * the present values of its pet are.
 *
 * @throws Problem `invalid_request` if the outcome of a batch cannot be known any more
 */
export async function adoptMemory({ client, importId, memory, rows, rowOf, now }: Adopting): Promise<void> {
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
