/** A page of a list: where it begins, and how many rows it had when it was read last, if it was. */
export type KnownPage = { cursor: string | undefined; count?: number };

/** Of a list of which nothing was read yet. */
export const unread: readonly KnownPage[] = [{ cursor: undefined }];

/** What a page says of itself, and where the one after it begins. */
export type ReadPage = { cursor: string | undefined; count: number; next: string | undefined };

/**
 * The pages of a list after one of them was read (again). Where another row has become its last one, the page after it begins elsewhere
 * than before, and is to be read from there; those further on are looked at when their turn comes. The same array where nothing changed.
 */
export function withPage(known: readonly KnownPage[], { cursor, count, next }: ReadPage): readonly KnownPage[] {
  const at = known.findIndex((page) => page.cursor === cursor);
  if (at === -1 || (known[at]?.count === count && known[at + 1]?.cursor === next)) return known;
  const before = [...known.slice(0, at), { cursor, count }];
  if (next === undefined) return before;
  const found = known.findIndex((page, index) => index > at && page.cursor === next);
  return [...before, ...(found === -1 ? [{ ...known[at + 1], cursor: next }, ...known.slice(at + 2)] : known.slice(found))];
}

/** The number of the first row of each page, and at the end of all rows that are known of. */
export function startsOf(known: readonly KnownPage[]): number[] {
  const starts = [0];
  for (const { count = 0 } of known) starts.push((starts.at(-1) ?? 0) + count);
  return starts;
}

/** The number of the page that holds a row; of the last page for rows that nobody knows of yet. */
export function pageOf(starts: readonly number[], row: number): number {
  let [low, high] = [0, starts.length - 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row < (starts[middle + 1] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}
