import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { PetStoreError } from "../../client/errors.ts";
import { pages } from "../../client/pages.ts";
import { exportedCell } from "./exported.ts";
import { batchesOf } from "./plan.ts";

/** The most ids that one list takes as a filter. */
const idsMax = 100;

/** An animal as an export has it. `stock` is null while it is not counted. */
export type PetState = Schemas["Pet"] & { stock: number | null };

/** Adds to each pet of a list the name of its category, its stock, and a digest of each field. @throws PetStoreError */
export async function* withCategoryAndStock(client: PetStore, read: AsyncIterable<Schemas["Pet"][]>): AsyncGenerator<object[]> {
  const names = await categoryNames(client);
  for await (const page of read)
    yield (await withStock(client, page)).map((pet) => {
      const row = { ...pet, category: names.get(pet.categoryId) ?? "", stock: pet.stock ?? "" };
      const { name, status, category } = row;
      return {
        ...row,
        exported: exportedCell(pet.id, { name, status, category, categoryId: String(pet.categoryId), stock: String(row.stock) }),
      };
    });
}

/** The names of all categories by id. @throws PetStoreError */
export async function categoryNames(client: PetStore): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  for await (const page of pages(client, "/categories")) for (const { id, name } of page) names.set(id, name);
  return names;
}

/** The animals with these ids, as far as there are any, with their stock. @throws PetStoreError */
export async function readPets(client: PetStore, ids: readonly number[]): Promise<PetState[]> {
  const found: PetState[] = [];
  for (const some of batchesOf(ids, idsMax))
    for await (const page of pages(client, "/pets", { id: some })) found.push(...(await withStock(client, page)));
  return found;
}

/** Adds the stock; it stays unknown to a key that may not read the inventory. */
async function withStock(client: PetStore, pets: readonly Schemas["Pet"][]): Promise<PetState[]> {
  const stock = new Map<number, number>();
  const read = pages(client, "/store/inventory", { petId: pets.map(({ id }) => id) });
  try {
    if (pets.length > 0) for await (const page of read) for (const { petId, quantity } of page) stock.set(petId, quantity);
  } catch (error) {
    if (!(error instanceof PetStoreError && error.code === "forbidden")) throw error;
  }
  return pets.map((pet) => ({ ...pet, stock: stock.get(pet.id) ?? null }));
}
