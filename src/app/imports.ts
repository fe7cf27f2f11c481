import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { repeat } from "../platform/jobs/repeat.ts";
import type { Worker } from "../platform/jobs/worker.ts";
import type { Node } from "../platform/nodes/nodes.ts";
import { openRowLeases } from "../platform/nodes/row-leases.ts";
import type { UrlOf } from "../store/profiles/profiles.ts";
import { hasDueImport } from "../store/imports/imports.store.ts";

const watchEveryMs = 1_000;

type Parts = { db: Database; clock: Clock; node: Node; bounds: Pick<Bounds, "queue">; urlOf: UrlOf; onError: (error: unknown) => void };

/** Starts the work on imports in the background. Its worker is loaded when an import is due for the first time: most processes never need it. */
export function startImports({ db, clock, node, bounds, urlOf, onError }: Parts): { stop(): Promise<void> } {
  let worker: Worker | undefined;
  const watch = repeat(
    watchEveryMs,
    async () => {
      if (worker || !(await hasDueImport(db, clock()))) return;
      const { openImportWorker } = await import("../store/imports/import-worker.ts");
      worker = openImportWorker({ db, clock, leases: openRowLeases(node, clock), turns: bounds.queue("imports"), urlOf, onError });
      worker.wake();
    },
    onError,
  );
  return {
    async stop() {
      await watch.stop();
      await worker?.stop();
    },
  };
}
