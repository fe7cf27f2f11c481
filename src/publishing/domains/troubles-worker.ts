import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { claimTroubles, noteTroublesOf, type TroubledName } from "./troubles.store.ts";

const pollEveryMs = 5_000;
const atOnceMax = 16;

/** Records troubles of names that arise as time passes, or from their certificates and plans (specification 8.2). */
export function openTroublesWorker({ db, clock, onError }: { db: Database; clock: Clock; onError: (error: unknown) => void }): Worker {
  return openWorker<TroubledName>({
    claim: (count) => db.write((tx) => claimTroubles(tx, count, clock())),
    run: (domain) => db.write((tx) => noteTroublesOf(tx, domain, clock())),
    atOnceMax,
    everyMs: pollEveryMs,
    onError,
  });
}
