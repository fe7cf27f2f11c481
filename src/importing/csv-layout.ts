import { cutRow, delimiters, type Delimiter } from "./csv-cells.ts";

/** A row of a file's beginning: the line where it begins, and its cells. */
type HeadRow = { line: number; cells: string[] };

/** The rows from which the layout is detected. */
export const layoutRowsMax = 200;
/** The lines above the header, such as a title, that are looked through. */
const titleRowsMax = 20;
/** A row above the header has at most this share of the cells that the table's rows have. */
const titleShareMax = 0.5;

/**
 * Detects the delimiter of a text and the line of its header. The delimiter is the one that most rows have equally often; among equals the one with the
 * most cells. The header is the first row that does not look like a title: with more than half as many cells as the rows of the table have.
 */
export function layoutOf(text: string, chosen?: Delimiter): { delimiter: Delimiter; headerLine: number } {
  const split = delimiters.map((delimiter) => ({ delimiter, rows: headRows(text, delimiter) }));
  const named = chosen ?? /^\uFEFF?"?sep=([,;\t|])"?\r?\n/.exec(text)?.[1];
  const scored = split.map(({ delimiter, rows }) => ({ delimiter, rows, ...agreement(rows) }));
  const [best] = scored.filter(({ cells }) => cells > 1).toSorted((a, b) => b.share - a.share || b.cells - a.cells);
  const { delimiter, rows } = scored.find((one) => one.delimiter === named) ?? best ?? scored[0]!;
  return { delimiter, headerLine: headerLineOf(rows) };
}

/** Whether a row is the first line with which a spreadsheet names the delimiter, such as `sep=;`. */
export function namesDelimiter({ line, cells }: HeadRow, delimiter: string): boolean {
  return line === 1 && /^\uFEFF?sep=[,;\t|]$/.test(cells.join(delimiter));
}

/** The most frequent number of cells, and the share of rows that have it. If that number is 1, the first row with several cells decides, with the share 0. */
function agreement(rows: readonly HeadRow[]): { cells: number; share: number } {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [[cells, count] = [1, 0]] = [...counts].toSorted((a, b) => b[1] - a[1] || b[0] - a[0]);
  if (cells > 1) return { cells, share: count / rows.length };
  return { cells: rows.find((row) => row.cells.length > 1)?.cells.length ?? 1, share: 0 };
}

/** The line of the first row that does not look like a title. */
export function headerLineOf(rows: readonly HeadRow[]): number {
  const filled = rows.map(({ cells }) => cells.filter((cell) => cell.trim() !== "").length);
  const ordered = filled.filter((count) => count > 0).toSorted((a, b) => a - b);
  const typical = ordered[Math.floor(ordered.length / 2)] ?? 0;
  const first = filled.slice(0, titleRowsMax + 1).findIndex((count) => count > typical * titleShareMax);
  return rows[first]?.line ?? 1;
}

/** Splits the beginning of a text into rows and cells, as far as `layoutRowsMax`; leaves out empty lines. */
function headRows(text: string, delimiter: Delimiter): HeadRow[] {
  const rows: HeadRow[] = [];
  let line = 1;
  for (let at = 0; at < text.length && rows.length < layoutRowsMax;) {
    const { cells, next } = cutRow(text, at, { delimiter, isEnd: true })!;
    const row = { line, cells };
    if ((cells.length > 1 || cells[0] !== "") && !namesDelimiter(row, delimiter)) rows.push(row);
    line += text.slice(at, next).split("\n").length - 1;
    at = next;
  }
  return rows;
}
