export type StockMark = "none" | "low" | "enough";

/** The mark of a count: its text and colour. `lowStock`: the account's, which its events and the home page use too. */
export function stockMark(quantity: number, lowStock: number): StockMark {
  if (quantity === 0) return "none";
  return quantity <= lowStock ? "low" : "enough";
}
