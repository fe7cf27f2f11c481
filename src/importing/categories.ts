import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal } from "../../client/refusals.ts";
import { normalize } from "../platform/normalize.ts";
import { Problem } from "../platform/problem.ts";

/** The categories of a file: their ids by folded name, the names of created ones, and by folded name why the service refused others. */
export type Categories = { ids: Map<string, number>; made: string[]; refused: Map<string, string> };

/** The most categories that one import creates; more means that the mapping names the wrong column. */
const newMax = 500;

/** Finds the categories by folded name and creates missing ones. @throws Problem with the service's code */
export async function ensureCategories(client: PetStore, names: Iterable<string>): Promise<Categories> {
  const wanted = new Map(Array.from(names, (name) => [normalize(name), name]));
  const ids = await listCategories(client);
  const missing = [...wanted].filter(([folded]) => !ids.has(folded));
  if (missing.length > newMax)
    throw new Problem(
      "invalid_request",
      `${missing.length} categories would be created, more than ${newMax}. Does the mapping name the right column?`,
    );
  const categories: Categories = { ids, made: [], refused: new Map() };
  for (const [folded, name] of missing) await makeCategory(client, folded, name, categories);
  return categories;
}

async function listCategories(client: PetStore): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for await (const page of pages(client, "/categories")) for (const { id, name } of page) ids.set(normalize(name), id);
  return ids;
}

async function makeCategory(client: PetStore, folded: string, name: string, categories: Categories): Promise<void> {
  const answer = await client.POST("/categories", { body: { name } });
  const { status } = answer.response;
  if (answer.data) {
    categories.ids.set(folded, answer.data.id);
    categories.made.push(name);
  } else if (status === 400) {
    categories.refused.set(folded, refusal(answer).message);
  } else if (status === 409) {
    // Another client has created the category since the list was read.
    const id = (await listCategories(client)).get(folded);
    if (id === undefined) throw refusal(answer);
    categories.ids.set(folded, id);
  } else throw refusal(answer);
}
