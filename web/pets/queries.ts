import { queryOptions, useQuery } from "@tanstack/react-query";
import { batched } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { answerOf, ifUnchanged, readPage, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";
import { texts } from "../texts/texts.ts";
import type { PetStatus } from "./status.ts";

export type Pet = Schemas["Pet"];

/** The fields of the pet form; `categoryId` is a string of digits. */
export type AnimalValues = { name: string; categoryId: string | null; status: PetStatus };

/** A pet with its version, for editing; null if it does not exist. */
export function animalQuery(petId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "one", petId],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Tagged<Pet> | null> => {
      const found = await taggedAnswerOf<Pet[]>(store.GET("/pets", { params: { query: { id: [petId] } }, signal }));
      return found.value[0] ? { value: found.value[0], etag: found.etag } : null;
    },
  });
}

/** The pets whose names begin with `q`, to choose from. */
export function animalsByNameQuery(q: string) {
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "by-name", q],
    staleTime: 10_000,
    queryFn: async ({ signal }) => (await readPage("/pets", q === "" ? { limit: 20 } : { limit: 20, q }, { signal })).rows,
  });
}

const readAnimal = batched(
  async (id) => (await readPage("/pets", { limit: id.length, id })).rows,
  ({ id }) => id,
);

/** The label of a row's pet: its name, or its number while the name is being read or if the pet was deleted. */
export function useAnimalName(petId: number): string {
  const { data } = useQuery({
    queryKey: [dashboardKey, "/pets", "row", petId],
    staleTime: 60_000,
    queryFn: ({ signal }) => readAnimal(petId, signal),
  });
  return data?.name ?? texts.store.animals.animal(petId);
}

export function createAnimal(values: AnimalValues): Promise<Pet> {
  return answerOf<Pet>(store.POST("/pets", { body: bodyOf(values) }));
}

export function replaceAnimal(animal: Tagged<Pet>, values: AnimalValues): Promise<Pet> {
  const params = { path: { petId: animal.value.id }, header: ifUnchanged(animal) };
  return answerOf<Pet>(store.PUT("/pets/{petId}", { params, body: bodyOf(values) }));
}

export function deleteAnimal(petId: number): Promise<unknown> {
  return answerOf(store.DELETE("/pets/{petId}", { params: { path: { petId } } }));
}

/** Without a category the body omits it, and the service reports that at the field. */
function bodyOf({ name, categoryId, status }: AnimalValues): Schemas["NewPet"] {
  return { name, status, ...(categoryId !== null && { categoryId: Number(categoryId) }) } as Schemas["NewPet"];
}
