export type StockMark = "none" | "low" | "enough";

const lowMax = 3;

/** The mark of a count: its text and colour. */
export function stockMark(quantity: number): StockMark {
  if (quantity === 0) return "none";
  return quantity <= lowMax ? "low" : "enough";
}
