import type { AddressRules } from "../events/webhooks/endpoint-url.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { pictureBytesMax, pictureTypes } from "../platform/http/pictures.ts";
import { repeat } from "../platform/jobs/repeat.ts";
import type { Node } from "../platform/nodes/nodes.ts";
import { openRowLeases } from "../platform/nodes/row-leases.ts";
import { hasDueImport } from "../store/imports/imports.store.ts";
import type { PhotoService } from "../store/profiles/profiles.ts";

const watchEveryMs = 1_000;

type Parts = {
  db: Database;
  clock: Clock;
  node: Node;
  bounds: Pick<Bounds, "queue">;
  photos: PhotoService;
  addresses: AddressRules;
  onError: (error: unknown) => void;
};

/** Starts the work on imports in the background. Its workers are loaded when an import is due for the first time: most processes never need them. */
export function startImports(parts: Parts): { stop(): Promise<void> } {
  const { db, clock, onError } = parts;
  let workers: { stop(): Promise<void> } | undefined;
  const watch = repeat(
    watchEveryMs,
    async () => {
      if (!workers && (await hasDueImport(db, clock()))) workers = await openWorkers(parts);
    },
    onError,
  );
  return {
    async stop() {
      await watch.stop();
      await workers?.stop();
    },
  };
}

async function openWorkers({ db, clock, node, bounds, photos, addresses, onError }: Parts): Promise<{ stop(): Promise<void> }> {
  const [{ openImportWorker }, { openPhotoWorker }, { openFetcher }] = await Promise.all([
    import("../store/imports/import-worker.ts"),
    import("../store/imports/photo-worker.ts"),
    import("../events/webhooks/fetcher.ts"),
  ]);
  const fetcher = openFetcher(addresses);
  const accept = pictureTypes.join(", ");
  const own = { db, clock, leases: openRowLeases(node, clock), onError };
  const workers = [
    openImportWorker({ ...own, turns: bounds.queue("imports"), urlOf: photos.urlOf }),
    openPhotoWorker({
      ...own,
      turns: bounds.queue("photo_fetches"),
      photos,
      fetchPicture: (url, accountId, signal, use) => fetcher.download({ url, accountId, bytesMax: pictureBytesMax, accept, signal }, use),
    }),
  ];
  for (const worker of workers) worker.wake();
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      fetcher.close();
    },
  };
}
