import { useQuery, type QueryClient } from "@tanstack/react-query";
import type { Price } from "../../src/platform/currencies.ts";
import { batchedCall } from "../calls/batched.ts";
import { dashboardKey } from "../calls/lists.ts";
import { reread } from "../calls/rows.ts";

/** What a row of a list shows of a pet beside its name. A pet without a photo has an outline: the `d` of an SVG path in a square of 64. */
export type Summary = { id: number; price: Price | null; photo: { url: string } | null; outline: string | null };

const readSummary = batchedCall<Summary>("/pets/summaries", "pets");
const keyOf = (petId: number) => [dashboardKey, "/pets", "summary", petId];

/** The summary of a row's pet; undefined while it is being read, null for a pet that was deleted. */
export function useSummary(petId: number): Summary | null | undefined {
  const { data } = useQuery({ queryKey: keyOf(petId), staleTime: 60_000, queryFn: ({ signal }) => readSummary(petId, signal) });
  return data;
}

/** Rereads a summary after its pet's price or photos have changed. */
export function rereadSummary(client: QueryClient, petId: number): void {
  void reread(client, { queryKey: keyOf(petId) });
}
