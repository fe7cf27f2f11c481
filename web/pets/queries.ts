import { queryOptions, useQuery } from "@tanstack/react-query";
import { batched } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { answerOf, ifUnchanged, readPage, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";
import { texts } from "../texts/texts.ts";
import type { PetStatus } from "./search.ts";

export type Pet = Schemas["Pet"];

/** The fields of the pet form; `categoryId` is a string of digits, and `status` is null until one is chosen. */
export type PetValues = { name: string; categoryId: string | null; status: PetStatus | null };
/** The status of a new pet until another is chosen. */
export const newStatus: PetStatus = "available";

/** A pet with its version, for editing; null if it does not exist. */
export function petQuery(petId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "one", petId],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Tagged<Pet> | null> => {
      const found = await taggedAnswerOf<Pet[]>(store.GET("/pets", { params: { query: { id: [petId] } }, signal }));
      return found.value[0] ? { value: found.value[0], etag: found.etag } : null;
    },
  });
}

/** The pets that `q` finds, to choose from; only those that can be ordered if `forOrders`. */
export function petsByNameQuery(q: string, forOrders: boolean) {
  const named = { limit: 20, ...(q !== "" && { q }) };
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "by-name", q, forOrders],
    staleTime: 10_000,
    queryFn: async ({ signal }) => {
      if (!forOrders) return (await readPage("/pets", named, { signal })).rows;
      const { rows } = await readPage("/pets", { ...named, status: ["available", "pending"] }, { signal });
      return withoutReserved(rows, signal);
    },
  });
}

/** Leaves out pending pets whose stock is counted: all of their units are in open orders. */
async function withoutReserved(pets: Pet[], signal: AbortSignal): Promise<Pet[]> {
  const pending = pets.filter(({ status }) => status === "pending").map(({ id }) => id);
  if (pending.length === 0) return pets;
  const { rows } = await readPage("/store/inventory", { limit: pending.length, petId: pending }, { signal });
  const counted = new Set(rows.map(({ petId }) => petId));
  return pets.filter(({ id, status }) => status !== "pending" || !counted.has(id));
}

const readPet = batched(
  async (id) => (await readPage("/pets", { limit: id.length, id })).rows,
  ({ id }) => id,
);

/** The label of a row's pet: its name, or its number while the name is being read or if the pet was deleted. */
export function usePetName(petId: number): string {
  const { data } = useQuery({
    queryKey: [dashboardKey, "/pets", "row", petId],
    staleTime: 60_000,
    queryFn: ({ signal }) => readPet(petId, signal),
  });
  return data?.name ?? texts.store.animals.animal(petId);
}

/** Creates a pet. With the same `keys`, which keep the Idempotency-Key of each body, a call that is repeated creates none. */
export function createPet(values: PetValues, keys: Map<string, string> | "dry-run"): Promise<Pet> {
  const body = bodyOf(values, newStatus);
  const text = JSON.stringify(body);
  if (keys !== "dry-run") keys.set(text, keys.get(text) ?? crypto.randomUUID());
  const header = keys === "dry-run" ? { Prefer: keys } : { "Idempotency-Key": keys.get(text)! };
  return answerOf<Pet>(store.POST("/pets", { params: { header }, body }));
}

export function replacePet(pet: Tagged<Pet>, values: PetValues): Promise<Tagged<Pet>> {
  const params = { path: { petId: pet.value.id }, header: ifUnchanged(pet) };
  return taggedAnswerOf<Pet>(store.PUT("/pets/{petId}", { params, body: bodyOf(values, pet.value.status) }));
}

/** Without a category the body omits it, and the service reports that at the field. */
function bodyOf({ name, categoryId, status }: PetValues, own: PetStatus): Schemas["NewPet"] {
  return { name, status: status ?? own, ...(categoryId !== null && { categoryId: Number(categoryId) }) } as Schemas["NewPet"];
}
