/*
 * How the rows of a table that are in the document stand now, in px of the window. Rows have `data-index`, and stand in the table's body.
 */

export function rowsIn(table: HTMLTableElement | null): HTMLElement[] {
  return [...(table?.querySelectorAll<HTMLElement>("tbody > tr[data-index]") ?? [])];
}

export function indexOf(row: HTMLElement): number {
  return Number(row.dataset["index"]);
}

/** Where the list begins, of which the rows are a part. */
export function bodyTop(table: HTMLTableElement | null): number {
  return table?.tBodies[0]?.getBoundingClientRect().top ?? 0;
}

/** The row that the window's upper edge goes through, or the first of all while it is below. */
export function rowAtEdge(table: HTMLTableElement | null): HTMLElement | undefined {
  const found = rowsIn(table).find((row) => row.getBoundingClientRect().bottom > 0);
  return found && (indexOf(found) === 0 || found.getBoundingClientRect().top <= 0) ? found : undefined;
}

/** How high the rows from one to before another are, those that are not in the document as high as is guessed. */
export function heightBetween(table: HTMLTableElement | null, from: number, to: number, rowPxGuess: number): number {
  const there = rowsIn(table).filter((row) => indexOf(row) >= from && indexOf(row) < to);
  return there.reduce((sum, row) => sum + row.offsetHeight - rowPxGuess, (to - from) * rowPxGuess);
}
