/** A page of a list: its cursor, and its number of rows when last read; undefined if never read. */
export type KnownPage = { cursor: string | undefined; count?: number };

/** The pages of a list before the first read. */
export const unread: readonly KnownPage[] = [{ cursor: undefined }];

/** The number of rows of a page, and the cursor of the next page. */
export type ReadPage = { cursor: string | undefined; count: number; next: string | undefined };

/**
 * Returns the pages of a list after one of them was read or re-read. If the cursor of the next page changed, the next page is read again
 * from there; later pages are read when they are needed. Returns the same array if nothing changed.
 */
export function withPage(known: readonly KnownPage[], { cursor, count, next }: ReadPage): readonly KnownPage[] {
  const at = known.findIndex((page) => page.cursor === cursor);
  if (at === -1 || (known[at]?.count === count && known[at + 1]?.cursor === next)) return known;
  const before = [...known.slice(0, at), { cursor, count }];
  if (next === undefined) return before;
  const found = known.findIndex((page, index) => index > at && page.cursor === next);
  return [...before, ...(found === -1 ? [{ ...known[at + 1], cursor: next }, ...known.slice(at + 2)] : known.slice(found))];
}

/** The index of the first row of each page, followed by the number of known rows. */
export function startsOf(known: readonly KnownPage[]): number[] {
  const starts = [0];
  for (const { count = 0 } of known) starts.push((starts.at(-1) ?? 0) + count);
  return starts;
}

/** The index of the page that holds a row; the last page for rows beyond the known ones. */
export function pageOf(starts: readonly number[], row: number): number {
  let [low, high] = [0, starts.length - 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row < (starts[middle + 1] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}
