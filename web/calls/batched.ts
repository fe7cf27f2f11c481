/** Reads one of many: those that are asked for at about the same time go in one request. Resolves to null where there is none. */
export type ReadOne<T> = (id: number, signal: AbortSignal) => Promise<T | null>;

/** As many as the service takes in one request. */
const idsMax = 100;
/** So long none must have been added: while rows are scrolled past, nothing is asked for. */
const restMs = 80;

type Waiting<T> = { id: number; signal: AbortSignal; resolve: (found: T | null) => void; reject: (error: unknown) => void };

/** Makes a reader of one out of a reader of many. What is not wanted any more when the request would leave is left out of it. */
export function batched<T>(readMany: (ids: number[]) => Promise<T[]>, idOf: (found: T) => number): ReadOne<T> {
  let waiting: Waiting<T>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function leave(): Promise<void> {
    const wanted = waiting.filter(({ signal }) => !signal.aborted);
    waiting = [];
    const parts = Array.from({ length: Math.ceil(wanted.length / idsMax) }, (_, part) => wanted.slice(part * idsMax, (part + 1) * idsMax));
    for (const part of parts) await settle(part);
  }

  async function settle(part: Waiting<T>[]): Promise<void> {
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
      timer = setTimeout(() => void leave(), restMs);
    });
}
