import { stringify } from "csv-stringify/sync";
import type { Database } from "../../platform/db/database.ts";
import type { AnswerStream } from "../../platform/http/operation.ts";
import { queues } from "../../platform/queues.ts";
import { readAudit } from "./audit.store.ts";
import type { AuditFilter } from "./audit.ts";
import { type NamedEvent, withNames } from "./named-events.ts";
import { openDrain, stalledMs } from "./stream.ts";

/** The most events of one export, and of one read. */
const linesMax = 100_000;
const batchMax = 100;
/** The most characters that are turned into lines at once, which takes a few ms. A single event may have more. */
const pieceMax = 32_768;

type AuditExport = {
  db: Database;
  accountId: number;
  filter: AuditFilter;
  /** Gives back the place of the export. */
  release: () => void;
  /** Whether the service is stopping. */
  isClosed: () => boolean;
};

/**
 * Sends the events of an audit as CSV, newest first. A slow client delays only itself. It is disconnected if it reads nothing for 30 seconds,
 * or has not read everything after ten minutes.
 */
export async function sendAudit(stream: AnswerStream, exporting: AuditExport): Promise<void> {
  let isGone = false;
  const drained = openDrain(stream, () => isGone);
  const end = performance.now() + queues.exports.turnMs;
  stream.onClose(() => {
    isGone = true;
    exporting.release();
    drained.wake();
  });
  try {
    for await (const lines of linesOf(exporting)) {
      const leftMs = end - performance.now();
      if (isGone || exporting.isClosed() || leftMs <= 0) return stream.destroy();
      if (!stream.write(lines) && !(await drained.wait(Math.min(stalledMs, leftMs)))) return stream.destroy();
    }
    stream.end();
  } catch {
    stream.destroy(); // so that the client notices that the file is incomplete
  } finally {
    exporting.release();
  }
}

async function* linesOf({ db, accountId, filter }: AuditExport): AsyncGenerator<string> {
  yield auditHeading();
  let before: number | undefined;
  for (let sent = 0; sent < linesMax;) {
    const { events, next } = await readAudit(db, accountId, filter, before, Math.min(batchMax, linesMax - sent));
    for (let from = 0; from < events.length;) {
      const piece = pieceFrom(events, from);
      yield await db.scan(async () => auditLines(await withNames(db, accountId, piece)));
      from += piece.length;
    }
    if (next === null) return;
    [before, sent] = [next, sent + events.length];
  }
  yield endOfAudit(`There is more: at most ${linesMax} events are exported at once.`);
}

function pieceFrom<E extends { text: string }>(events: readonly E[], from: number): E[] {
  let until = from + 1;
  for (let size = events[from]!.text.length; until < events.length; until++) {
    size += events[until]!.text.length;
    if (size > pieceMax) break;
  }
  return events.slice(from, until);
}

const columns = [
  "position",
  "at",
  "type",
  "actorType",
  "actorId",
  "actorName",
  "resourceType",
  "resourceId",
  "requestId",
  "data",
  "previous",
];

/** Returns the first line of the CSV: the column names. */
export function auditHeading(): string {
  return csv([columns]);
}

/** Returns a line for each event. */
export function auditLines(events: readonly NamedEvent[]): string {
  return csv(events.map(rowOf));
}

/** Returns a last line with a note that the file is incomplete. */
function endOfAudit(text: string): string {
  return csv([columns.map((column) => (column === "data" ? text : null))]);
}

/** Puts an apostrophe before each text that a spreadsheet would run as a formula. */
function csv(rows: unknown[][]): string {
  return stringify(rows, { escape_formulas: true });
}

function rowOf({ position, at, type, actor, resource, requestId, data, previous }: NamedEvent): unknown[] {
  const who = [actor.type, actor.id, actor.name];
  return [position, at, type, ...who, resource.type, resource.id, requestId, JSON.stringify(data), JSON.stringify(previous)];
}
