import type { Database } from "../../platform/db/database.ts";
import type { AnswerStream } from "../../platform/http/operation.ts";
import { auditHeading, auditLines, endOfAudit } from "./audit-csv.ts";
import type { AuditFilter } from "./audit.ts";
import { readAudit } from "./audit.store.ts";
import type { Listener } from "./listeners.ts";
import { withNames } from "./named-events.store.ts";
import { openDrain, stalledMs } from "./stream.ts";

/** The most events of one export, and of one read. */
const linesMax = 100_000;
const batchMax = 100;
type Exporting = {
  db: Database;
  accountId: number;
  filter: AuditFilter;
  /** Counts the export as one of the account's streams. */
  listener: Listener;
  /** Whether the service is stopping. */
  isClosed: () => boolean;
};

/** Sends the events of an audit as CSV, newest first. A slow client delays only itself. It is disconnected if it reads nothing for 30 seconds. */
export async function sendAudit(stream: AnswerStream, exporting: Exporting): Promise<void> {
  let isGone = false;
  const drained = openDrain(stream, () => isGone);
  stream.onClose(() => {
    isGone = true;
    exporting.listener.close();
    drained.wake();
  });
  try {
    for await (const lines of linesOf(exporting)) {
      if (isGone || exporting.isClosed()) return stream.destroy();
      if (!stream.write(lines) && !(await drained.wait(stalledMs))) return stream.destroy();
    }
    stream.end();
  } catch {
    stream.destroy(); // so that the client notices that the file is incomplete
  } finally {
    exporting.listener.close();
  }
}

async function* linesOf({ db, accountId, filter }: Exporting): AsyncGenerator<string> {
  yield auditHeading();
  let before: number | undefined;
  for (let sent = 0; sent < linesMax;) {
    const { events, next } = await readAudit(db, accountId, filter, before, Math.min(batchMax, linesMax - sent));
    yield auditLines(await withNames(db, accountId, events));
    if (next === null) return;
    [before, sent] = [next, sent + events.length];
  }
  yield endOfAudit(`There is more: at most ${linesMax} events are exported at once.`);
}
