import { stringify } from "csv-stringify/sync";
import type { NamedEvent } from "./named-events.ts";

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
export function endOfAudit(text: string): string {
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
