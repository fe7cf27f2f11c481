/** A search entry; its first text counts most. */
export type Searchable = { texts: readonly string[] };

/**
 * Returns the entries that contain every word of the query, best first. Matches in earlier texts rank higher. Matches inside words count
 * only if no entry has all the query's words at the beginnings of words. Without a query, returns all entries in their order.
 */
export function search<T extends Searchable>(query: string, items: readonly T[]): T[] {
  const words = fold(query).split(/\s+/).filter(Boolean);
  const scored = items.map((item) => ({ item, score: scoreOf(words, item.texts) }));
  const found = scored.filter(({ score }) => score !== undefined);
  const atBeginnings = found.filter(({ item }) => words.every((word) => item.texts.some((text) => occurrence(word, fold(text)) > 1)));
  return (atBeginnings.length > 0 ? atBeginnings : found).toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0)).map(({ item }) => item);
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
  if (text.startsWith(word)) return 3;
  let best = 0;
  for (let at = text.indexOf(word); at > 0; at = text.indexOf(word, at + 1)) {
    if (!/[a-z0-9]/.test(text[at - 1] ?? "")) return 2;
    best = 1;
  }
  return best;
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
