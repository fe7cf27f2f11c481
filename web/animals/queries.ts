import { queryOptions, useQueries } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { answerOf, ifUnchanged, readPage, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";
import type { PetStatus } from "./status.ts";

export type Pet = Schemas["Pet"];

/** What the form of an animal holds; `categoryId` in digits. */
export type AnimalValues = { name: string; categoryId: string | null; status: PetStatus };

const namesAtOnce = 100;

/** An animal with its version, to be edited; null where there is none. */
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

/** The animals whose names begin so, to choose one. */
export function animalsByNameQuery(q: string) {
  return queryOptions({
    queryKey: [dashboardKey, "/pets", "by-name", q],
    staleTime: 10_000,
    queryFn: async ({ signal }) => (await readPage("/pets", q === "" ? { limit: 20 } : { limit: 20, q }, { signal })).rows,
  });
}

/** The animals that rows speak of, by id; asked for by the hundred, so that further rows ask only for their own. */
export function useAnimals(ids: readonly number[]): ReadonlyMap<number, Pet> {
  const unique = [...new Set(ids)];
  const parts = Array.from({ length: Math.ceil(unique.length / namesAtOnce) }, (_, part) =>
    unique.slice(part * namesAtOnce, (part + 1) * namesAtOnce),
  );
  const answers = useQueries({
    queries: parts.map((id) =>
      queryOptions({
        queryKey: [dashboardKey, "/pets", "by-id", id],
        staleTime: 60_000,
        queryFn: async ({ signal }) => (await readPage("/pets", { limit: namesAtOnce, id }, { signal })).rows,
      }),
    ),
  });
  return new Map(answers.flatMap(({ data = [] }) => data.map((pet) => [pet.id, pet] as const)));
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

/** Without a category the body goes without it, and the service says so at its field. */
function bodyOf({ name, categoryId, status }: AnimalValues): Schemas["NewPet"] {
  return { name, status, ...(categoryId !== null && { categoryId: Number(categoryId) }) } as Schemas["NewPet"];
}
