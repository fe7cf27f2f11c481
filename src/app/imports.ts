import type { AddressRules } from "../events/webhooks/endpoint-url.ts";
import type { FetchError } from "../events/webhooks/fetcher.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Context } from "../platform/context.ts";
import { pictureBytesMax, pictureTypes } from "../platform/http/pictures.ts";
import { runInTurn, type FairShare } from "../platform/jobs/fair-share.ts";
import { repeat } from "../platform/jobs/runs.ts";
import { invalidAt, overloaded } from "../platform/problem.ts";
import { hasDueImport } from "../store/imports/imports.store.ts";
import type { FetchPicture, PhotoFetchServices, PhotoService } from "../store/profiles/profiles.ts";

const watchEveryMs = 1_000;

/** Starts the work on imports in the background. Its workers are loaded when an import is due for the first time: most processes never need them. */
export function startImports(context: Context, photos: PhotoService, fetches: PhotoFetches): { stop(): Promise<void> } {
  const { db, clock, onError } = context;
  let workers: { stop(): Promise<void> } | undefined;
  const watch = repeat(
    watchEveryMs,
    async () => {
      if (!workers && (await hasDueImport(db, clock()))) workers = await openWorkers(context, photos, fetches);
    },
    onError,
  );
  return {
    async stop() {
      await watch.stop();
      await workers?.stop();
      await fetches.close();
    },
  };
}

async function openWorkers(context: Context, photos: PhotoService, fetches: PhotoFetches): Promise<{ stop(): Promise<void> }> {
  const [{ openImportWorker }, { openPhotoWorker }] = await Promise.all([
    import("../store/imports/import-worker.ts"),
    import("../store/imports/photo-worker.ts"),
  ]);
  const workers = [openImportWorker(context, photos.urlOf), openPhotoWorker(context, fetches, photos)];
  for (const worker of workers) worker.wake();
  return { stop: async () => void (await Promise.all(workers.map((worker) => worker.stop()))) };
}

/** Downloads of photos from addresses that customers name. */
export type PhotoFetches = {
  turns: FairShare<number>;
  /** For imports, which take `turns` themselves. */
  fetchPicture: FetchPicture;
  /** For requests. Takes a turn first. */
  fetchPhoto: PhotoFetchServices["fetchPhoto"];
  /** Ends the downloads. */
  close(): Promise<void>;
};

/** The fetcher is loaded with the first download: most processes never need it. */
export function openPhotoFetches(addresses: AddressRules, bounds: Pick<Bounds, "queue">): PhotoFetches {
  const turns = bounds.queue<number>("photo_fetches");
  const stopping = new AbortController();
  const accept = pictureTypes.join(", ");
  const open = async () => (await import("../events/webhooks/fetcher.ts")).openFetcher(addresses);
  let fetcher: ReturnType<typeof open> | undefined;
  const fetchPicture: FetchPicture = async (url, accountId, signal, use) =>
    (await (fetcher ??= open())).download({ url, accountId, bytesMax: pictureBytesMax, accept, signal }, use);
  return {
    turns,
    fetchPicture,
    fetchPhoto: (accountId, url, use) =>
      runInTurn(turns, accountId, () =>
        fetchPicture(url, accountId, stopping.signal, use).catch((error: unknown) => {
          if (!isFetchError(error)) throw error;
          throw stopping.signal.aborted ? overloaded("The service is stopping.") : invalidAt("body.url", error.message, error.message);
        }),
      ),
    async close() {
      stopping.abort();
      (await fetcher)?.close();
    },
  };
}

/** By its field, because the module of its class is loaded late. */
function isFetchError(error: unknown): error is FetchError {
  return error instanceof Error && "isFinal" in error;
}
