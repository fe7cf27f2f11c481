/*
 * Positions of the table rows that are in the document, in px of the window. Rows have `data-index` and are in the table's body.
 */

export function rowsIn(table: HTMLTableElement | null): HTMLElement[] {
  return [...(table?.querySelectorAll<HTMLElement>("tbody > tr[data-index]") ?? [])];
}

export function indexOf(row: HTMLElement): number {
  return Number(row.dataset["index"]);
}

/** Where the list begins, including rows that are not in the document. */
export function bodyTop(table: HTMLTableElement | null): number {
  return table?.tBodies[0]?.getBoundingClientRect().top ?? 0;
}

/** The row at the window's upper edge, or the first row of the list while it is below that edge. */
export function rowAtEdge(table: HTMLTableElement | null): HTMLElement | undefined {
  const found = rowsIn(table).find((row) => row.getBoundingClientRect().bottom > 0);
  return found && (indexOf(found) === 0 || found.getBoundingClientRect().top <= 0) ? found : undefined;
}

/** The height of the rows from `from` to before `to`; a row that is not in the document counts as `rowPxGuess`. */
export function heightBetween(table: HTMLTableElement | null, from: number, to: number, rowPxGuess: number): number {
  const there = rowsIn(table).filter((row) => indexOf(row) >= from && indexOf(row) < to);
  return there.reduce((sum, row) => sum + row.offsetHeight - rowPxGuess, (to - from) * rowPxGuess);
}
