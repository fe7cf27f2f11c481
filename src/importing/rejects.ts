import { stringify } from "csv-stringify/sync";
import type { Reject } from "./source.ts";

/** The text of the reject file: the source's columns, then `line` and `reason`, in line order. */
export function formatRejects(header: readonly string[], rejects: readonly Reject[]): string {
  const rows = rejects
    .toSorted((a, b) => a.line - b.line)
    .map(({ cells, line, reason }) => header.map((_, index) => cells[index] ?? "").concat(String(line), reason));
  return stringify([[...header, "line", "reason"], ...rows]);
}
