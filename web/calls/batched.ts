import { readCall } from "./send.ts";

/** Reads one item; requests made at about the same time are sent as one. Resolves to null if it does not exist. */
export type ReadOne<T> = (id: number, signal: AbortSignal) => Promise<T | null>;

/** The service's largest batch. */
const idsMax = 100;
/** A batch is sent after this time without a new item, so rows that scroll past cause no requests. */
const restMs = 80;

type Waiting<T> = { id: number; signal: AbortSignal; resolve: (found: T | null) => void; reject: (error: unknown) => void };

/** Returns a reader of one item through a dashboard call that takes up to 100 ids and answers with the found items in `field`. */
export function batchedCall<T extends { id: number }>(path: string, field: string): ReadOne<T> {
  return batched(
    async (ids) => {
      const query = new URLSearchParams(ids.map((id) => ["id", String(id)]));
      return (await readCall<Record<string, T[]>>(`${path}?${query}`))[field] ?? [];
    },
    ({ id }) => id,
  );
}

/** Turns a reader of many items into a reader of one. Items whose callers have aborted are not requested. */
export function batched<T>(readMany: (ids: number[]) => Promise<T[]>, idOf: (found: T) => number): ReadOne<T> {
  let waiting: Waiting<T>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function sendBatches(): Promise<void> {
    const wanted = waiting.filter(({ signal }) => !signal.aborted);
    waiting = [];
    const parts = Array.from({ length: Math.ceil(wanted.length / idsMax) }, (_, part) => wanted.slice(part * idsMax, (part + 1) * idsMax));
    for (const part of parts) await sendBatch(part);
  }

  async function sendBatch(part: Waiting<T>[]): Promise<void> {
    try {
      const found = new Map((await readMany([...new Set(part.map(({ id }) => id))])).map((one) => [idOf(one), one]));
      for (const { id, resolve } of part) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const { reject } of part) reject(error);
    }
  }

  return (id, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
      waiting.push({ id, signal, resolve, reject });
      clearTimeout(timer);
      timer = setTimeout(() => void sendBatches(), restMs);
    });
}
