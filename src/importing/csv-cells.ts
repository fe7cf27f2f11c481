export const delimiters = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof delimiters)[number];

/** A row of a text, and where the next one begins. A row with a `problem` is one line, cut at its delimiters. */
export type CutRow = { cells: string[]; next: number; problem?: string };

/** `isEnd` says that nothing follows the text. */
type Cutting = { delimiter: Delimiter; isEnd: boolean };
type Cell = { value: string; end: number };

const unclosed = "has a quote that is opened and not closed";

/**
 * Cuts the row that begins at `from` (RFC 4180, with `\n` as the only line end). Returns undefined if the row may go on beyond the text.
 * Quotes are ordinary characters in a cell that does not begin with one, as in `12" leash`, and in `"5" collar`, where it is still clear where the cell
 * ends. Where it is not clear, the row is its first line alone, with a problem, so that the next line is read as a row (decision 0110).
 */
export function cutRow(text: string, from: number, cutting: Cutting): CutRow | undefined {
  const cells: string[] = [];
  for (let at = from; ; at += 1) {
    const cell = cutCell(text, at, cutting);
    if (cell === undefined) return undefined;
    if (typeof cell === "string") return cutLine(text, from, cell, cutting);
    cells.push(cell.value);
    at = cell.end;
    if (at === text.length) return cutting.isEnd ? { cells, next: at } : undefined;
    if (text[at] === "\n") return { cells, next: at + 1 };
  }
}

/** Cuts the line that begins at `from` at every delimiter, in quotes or not. */
function cutLine(text: string, from: number, problem: string, { delimiter, isEnd }: Cutting): CutRow | undefined {
  const found = text.indexOf("\n", from);
  if (found < 0 && !isEnd) return undefined;
  const end = found < 0 ? text.length : found;
  return { cells: text.slice(from, end).split(delimiter), next: Math.min(text.length, end + 1), problem };
}

/** Returns the cell that begins at `start`; undefined if it may go on beyond the text, or the problem if it is unclear where it ends. */
function cutCell(text: string, start: number, { delimiter, isEnd }: Cutting): Cell | string | undefined {
  const opening = afterSpaces(text, start);
  if (text[opening] !== '"') return plainCell(text, start, delimiter);
  let value = "";
  for (let from = opening + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return isEnd ? unclosed : undefined;
    const next = text[quote + 1] === '"' ? quote + 1 : afterSpaces(text, quote + 1);
    if (next === text.length && !isEnd) return undefined;
    value += text.slice(from, quote);
    if (next === text.length || text[next] === delimiter || text[next] === "\n") return { value, end: next };
    if (text[next] !== '"' || next > quote + 1) {
      const plain = plainCell(text, start, delimiter);
      if (plain.end > quote) return plain;
      return text.slice(start, quote).includes("\n") ? unclosed : "has a quote in the wrong place";
    }
    value += '"';
    from = quote + 2;
  }
}

/** Returns a cell without quotes: the text up to the next delimiter or line end. */
function plainCell(text: string, start: number, delimiter: Delimiter): Cell {
  const mark = delimiter.charCodeAt(0);
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === mark || code === 10) break;
  }
  return { value: text.slice(start, end), end };
}

/** Some programs write spaces around quotes. */
function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at += 1;
  return at;
}
