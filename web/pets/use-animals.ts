import { useQuery } from "@tanstack/react-query";
import { concatenated, useList, type List } from "../calls/lists.ts";
import { soughtNumber } from "../parts/search-values.ts";
import { useChoice, type Choice } from "./choice.ts";
import { petCountsQuery, type PetCounts } from "./counts.ts";
import type { Pet } from "./queries.ts";
import { isFoundByName, queryOf, type PetFilters } from "./search.ts";

type Animals = { list: List<Pet>; counts: PetCounts | undefined; choice: Choice };

/** The animals that pass the filters: first the one whose number is searched for, then those that their names find. */
export function useAnimals(filters: PetFilters): Animals {
  const query = queryOf(filters);
  const { q = "", sort: _sort, ...others } = query;
  const id = soughtNumber(q, "animal");
  const named = useList("/pets", query);
  const byNumber = useList("/pets", { ...others, id: [id ?? 0] }, { isNeeded: id !== undefined });
  const found = id === undefined ? undefined : byNumber.rows?.at(0);
  const isNamed = found !== undefined && isFoundByName(found.name, q);
  const numbered = isNamed ? undefined : found;
  const { data: counted } = useQuery(petCountsQuery(query));
  const choice = useChoice(query, numbered?.id);
  const counts = counted && numbered ? { ...counted, count: counted.count + 1 } : counted;
  return { list: id === undefined || isNamed ? named : concatenated(byNumber, named), counts, choice };
}
