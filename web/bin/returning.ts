import type { QueryClient } from "@tanstack/react-query";
import { notify } from "../parts/notices.ts";
import { binTexts as words } from "../texts/en-bin.ts";
import { formatNumber } from "../texts/texts.ts";
import { rereadAfterReturn, returnAnimals, type BinResult, type Returning } from "./queries.ts";

/**
 * Returns animals from the bin and says how many are back. Returns the numbers of those whose category is gone: they need another one.
 *
 * @throws Refusal
 */
export async function returnAndSay(client: QueryClient, ids: readonly number[], options?: Returning): Promise<number[]> {
  const results = await returnAnimals(ids, options);
  await rereadAfterReturn(client);
  const back = results.filter(isBack);
  const homeless = results.filter(({ code }) => code === "unknown_reference");
  const left = results.length - back.length - homeless.length;
  const [first] = back;
  if (back.length === 1 && first?.name !== undefined) notify(words.returned(first.name));
  else if (back.length > 0) notify(words.returnedMany(formatNumber(back.length)));
  if (left > 0) notify(words.notReturned(formatNumber(left)), { isFailure: true });
  return homeless.map(({ id }) => id);
}

function isBack({ outcome }: BinResult): boolean {
  return outcome === "returned" || outcome === "unchanged";
}
