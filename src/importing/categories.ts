import type { PetStore } from "../../client/client.ts";
import { refusal } from "../../client/refusals.ts";
import { normalize } from "../platform/normalize.ts";
import { Problem } from "../platform/problem.ts";
import { categoryNames } from "./exported-pets.ts";
import { refusedElements } from "./plan.ts";
import type { ImportSource } from "./sources.ts";

/** The categories of a file: their ids by folded name, and those that the shop does not have. */
export type Categories = { ids: ReadonlyMap<string, number>; missing: string[] };
/** An import that has begun. `refused` has the reason for each category that the service refuses, by folded name. */
export type Begun = { importId: number; ids: ReadonlyMap<string, number>; made: string[]; refused: ReadonlyMap<string, string> };

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
export async function beginImport(client: PetStore, { source, fileName }: ImportSource, { ids, missing }: Categories): Promise<Begun> {
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
