import sql from "sql-template-tag";
import type { Clock } from "../../platform/clock.ts";
import type { Context } from "../../platform/context.ts";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { actorOfText } from "../../platform/events.ts";
import { openWorkerInTurns, type Worker } from "../../platform/jobs/worker.ts";
import type { UrlOf } from "../profiles/profiles.ts";
import { claimDue, endUndoTime, findImport, finishImport, lockImport, releaseDue, type DueImport } from "./imports.store.ts";
import { undoSome } from "./undo.store.ts";

const pollEveryMs = 1_000;
/** Frees the imports of a node that hangs but still sends heartbeats. Another node then goes on. */
const leaseMs = 10 * 60_000;
/** The wait before a new attempt, after an error. */
const retryMs = 5_000;

/** Ends imports that have had no rows for a day, undoes those that shall be undone, and forgets how to undo those that are too old. */
export function openImportWorker({ db, clock, leases, bounds, onError }: Context, urlOf: UrlOf): Worker {
  return openWorkerInTurns<DueImport>({
    turns: bounds.queue("imports"),
    claim: async (share) => {
      const claim = await leases.begin(leaseMs);
      return claim === undefined ? [] : db.write((tx) => claimDue(tx, share, claim));
    },
    run: async (due, stopping) => {
      try {
        await work(db.as({ caller: due.accountId }), clock, urlOf, due, stopping);
      } catch (error) {
        await db.write((tx) => releaseDue(tx, due, clock() + retryMs));
        throw error;
      }
      await db.write((tx) => releaseDue(tx, due, 0));
    },
    everyMs: pollEveryMs,
    onError,
  });
}

async function work(
  db: Database,
  clock: Clock,
  urlOf: UrlOf,
  { accountId, id, undoneBy }: DueImport,
  stopping: AbortSignal,
): Promise<void> {
  const { status } = (await findImport(db, accountId, id)).shown;
  if (status === "open") await db.write((tx) => finishIfDue(tx, accountId, id, clock()));
  if (status === "undoing") {
    const own = db.as({ origin: { actor: actorOfText(undoneBy), requestId: null } });
    const of = { engine: db.engine, accountId, importId: id, urlOf };
    while (!stopping.aborted) if (!(await own.write((tx) => undoSome(tx, { ...of, now: clock() })))) break;
  }
  if (status === "finished") await forget(db, accountId, id);
}

/** Ends an open import, unless rows have arrived since it was claimed. */
async function finishIfDue(tx: Parameters<typeof lockImport>[0], accountId: number, id: number, now: number): Promise<void> {
  const { shown, dueAt } = await lockImport(tx, accountId, id);
  if (shown.status === "open" && dueAt !== null && dueAt <= now) await finishImport(tx, accountId, id, now);
}

async function forget(db: Database, accountId: number, id: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM import_changes WHERE account_id = ${accountId} AND import_id = ${id} AND pet_id IN (
        SELECT pet_id FROM import_changes WHERE account_id = ${accountId} AND import_id = ${id} ORDER BY pet_id ${limit})
      RETURNING 1`,
  );
  await db.write((tx) => endUndoTime(tx, accountId, id));
}
