import { infiniteQueryOptions, type QueryClient } from "@tanstack/react-query";
import type { Price } from "../../src/platform/currencies.ts";
import { sendInParts } from "../calls/changes.ts";
import { dashboardKey } from "../calls/lists.ts";
import { reread, rereadList } from "../calls/rows.ts";
import { readCall } from "../calls/send.ts";

/** An animal in the bin (docs/dashboard-api.md). */
export type Binned = {
  id: number;
  name: string;
  categoryId: number;
  stock: number | null;
  price: Price | null;
  photo: { url: string } | null;
  deletedAt: string;
  /** When it is deleted for good. */
  goneAt: string;
};
type BinPage = { animals: Binned[]; next: string | null };

const pageSize = 50;

/** The animals in the bin, those that were deleted last first. */
export const binQuery = infiniteQueryOptions({
  queryKey: [dashboardKey, "/pets", "bin"],
  initialPageParam: null as string | null,
  queryFn: ({ pageParam, signal }) => readBin(pageParam, signal),
  getNextPageParam: ({ next }) => next,
  select: ({ pages }) => pages.flatMap(({ animals }) => animals),
});

async function readBin(cursor: string | null, signal?: AbortSignal): Promise<BinPage> {
  const query = new URLSearchParams({ limit: String(pageSize), ...(cursor !== null && { cursor }) });
  return readCall<BinPage>(`/pets/bin?${query}`, signal);
}

type BinChange = { id: number; action: "return" | "delete"; categoryId?: number };
/** `unchanged`: the animal has returned, or is gone, already. */
export type BinResult = {
  id: number;
  outcome: "returned" | "deleted" | "unchanged" | "refused";
  name?: string;
  code?: string;
  message?: string;
};

const sendBinChanges = (changes: readonly BinChange[], onResults?: (results: readonly BinResult[]) => void) =>
  sendInParts<BinResult>("/pets/bin/changes", changes, onResults && { onResults });

/** `categoryId`: the category into which animals return; by default that which they had. `onDone` is called with how many are done so far. */
export type Returning = { categoryId?: number; onDone?: (done: number) => void };

/** Returns animals from the bin. @throws Refusal */
export function returnAnimals(ids: readonly number[], { categoryId, onDone }: Returning = {}): Promise<BinResult[]> {
  const changes: BinChange[] = ids.map((id) => ({ id, action: "return", ...(categoryId !== undefined && { categoryId }) }));
  let done = 0;
  return sendBinChanges(changes, (results) => onDone?.((done += results.length)));
}

/** @throws Refusal */
export function deleteForGood(ids: readonly number[]): Promise<BinResult[]> {
  return sendBinChanges(ids.map((id) => ({ id, action: "delete" })));
}

/** Deletes for good what is in the bin now, a page at a time. What comes into it meanwhile stays. @throws Refusal */
export async function emptyBin(): Promise<void> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { animals, next }: BinPage = await readBin(cursor ?? null);
    if (animals.length > 0) await deleteForGood(animals.map(({ id }) => id));
    cursor = next;
  }
}

/** Reads again the lists that animals have returned to, and what else is shown of them, such as the bin. */
export async function rereadAfterReturn(client: QueryClient): Promise<void> {
  await Promise.all([rereadList(client, "/pets"), rereadList(client, "/store/inventory")]);
}

export function rereadBin(client: QueryClient): Promise<void> {
  return reread(client, { queryKey: binQuery.queryKey });
}
