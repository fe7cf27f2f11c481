import type { Change } from "../calls/changes.ts";
import { amountOf, isTypedCurrency, permilleIn } from "./price.ts";

export const priceHows = ["set", "raise", "lower"] as const;
/** How a change of prices was typed. */
export type PriceValues = { how: (typeof priceHows)[number]; price: string; currency: string; percent: string };

/** The most percent by which a change raises or lowers a price. */
const percentMax = { raise: 1_000, lower: 100 };

/** Returns the fields of a change of a price, or undefined where what was typed is none. */
export function priceChangeOf({ how, price, currency, percent }: PriceValues): Pick<Change, "price" | "pricePermille"> | undefined {
  if (how === "set") {
    const set = isTypedCurrency(currency) ? amountOf({ price, currency }) : undefined;
    return set && { price: set };
  }
  const permille = permilleIn(percent, percentMax[how]);
  return permille === undefined ? undefined : { pricePermille: how === "raise" ? permille : -permille };
}
