/** A search entry; its first text counts most. */
export type Searchable = { texts: readonly string[] };

/** Returns the entries that contain every word of the query, best first: matches at word beginnings and in earlier texts rank higher. Returns all in order without a query. */
export function search<T extends Searchable>(query: string, items: readonly T[]): T[] {
  const words = fold(query).split(/\s+/).filter(Boolean);
  const scored = items.map((item) => ({ item, score: scoreOf(words, item.texts) }));
  return scored
    .filter(({ score }) => score !== undefined)
    .toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0))
    .map(({ item }) => item);
}

function scoreOf(words: string[], texts: readonly string[]): number | undefined {
  let total = 0;
  for (const word of words) {
    const score = Math.max(...texts.map((text, place) => occurrence(word, fold(text)) / (place + 1)));
    if (!(score > 0)) return undefined;
    total += score;
  }
  return total;
}

function occurrence(word: string, text: string): number {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return 3;
  return /[a-z0-9]/.test(text[at - 1] ?? "") ? 1 : 2;
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
