import { randomUUID } from "node:crypto";
import { pages, refusal } from "../../client/http.ts";
import type { Client } from "../../client/http.ts";
import { fold } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";

/** The shop's categories for a file: ids by folded name, the names that were made, and why others could not be, by folded name. */
export type Categories = { ids: Map<string, number>; made: string[]; refused: Map<string, string> };

/** The most categories that one import makes: more means that the mapping names the wrong column. */
const newMax = 500;

/** Finds the categories by their names, compared folded, and makes those that are missing. Raises the service's refusals. */
export async function ensureCategories(client: Client, names: Iterable<string>): Promise<Categories> {
  const wanted = new Map(Array.from(names, (name) => [fold(name), name]));
  const ids = await listCategories(client);
  const missing = [...wanted].filter(([folded]) => !ids.has(folded));
  if (missing.length > newMax)
    throw new Problem(
      "invalid_request",
      `${missing.length} categories would be made, over ${newMax}. Does the mapping name the right column?`,
    );
  const categories: Categories = { ids, made: [], refused: new Map() };
  for (const [folded, name] of missing) await makeCategory(client, folded, name, categories);
  return categories;
}

async function listCategories(client: Client): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for await (const page of pages(client, "/categories"))
    for (const { id, name } of page as { id: number; name: string }[]) ids.set(fold(name), id);
  return ids;
}

async function makeCategory(client: Client, folded: string, name: string, categories: Categories): Promise<void> {
  const headers = { "idempotency-key": randomUUID() };
  const answer = await client.request("POST", "/categories", { body: { name }, headers });
  if (answer.status === 201) {
    categories.ids.set(folded, (answer.body as { id: number }).id);
    categories.made.push(name);
  } else if (answer.status === 400) {
    categories.refused.set(folded, refusal(answer).message);
  } else if (answer.status === 409) {
    // Somebody else made it since the list was read.
    const id = (await listCategories(client)).get(folded);
    if (id === undefined) throw refusal(answer);
    categories.ids.set(folded, id);
  } else throw refusal(answer);
}
