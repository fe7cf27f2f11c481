import { stringify } from "csv-stringify/sync";
import type { Reject } from "./source.ts";

/**
 * The text of the reject file: the source's columns, then `line` and `reason`, in line order. If the source is a reject file itself, these two columns
 * replace its own. If it has other columns with these names, the new ones get a number.
 */
export function formatRejects(header: readonly string[], rejects: readonly Reject[]): string {
  const own = /^line\b.*\nreason\b/.test(header.slice(-2).join("\n")) ? header.slice(0, -2) : header;
  const rows = rejects
    .toSorted((a, b) => a.line - b.line)
    .map(({ cells, line, reason }) => own.map((_, index) => cells[index] ?? "").concat(String(line), reason));
  return stringify([[...own, free("line", own), free("reason", own)], ...rows]);
}

function free(name: string, taken: readonly string[]): string {
  for (let number = 1, one = name; ; one = `${name} ${++number}`) if (!taken.includes(one)) return one;
}
