import { isCurrency } from "../../src/platform/currencies.ts";
import type { Change } from "../calls/changes.ts";
import { amountOf, permilleIn } from "./price.ts";

export const priceHows = ["set", "raise", "lower"] as const;
/** How a change of prices was typed. */
export type PriceValues = { how: (typeof priceHows)[number]; price: string; currency: string; percent: string };

/** The most percent by which a change raises or lowers a price. */
const percentMax = { raise: 1_000, lower: 100 };

/** Returns the fields of a change of a price, or undefined where what was typed is none. */
export function priceChangeOf({ how, price, currency, percent }: PriceValues): Pick<Change, "price" | "pricePermille"> | undefined {
  if (how === "set") return isTypedCurrency(currency) ? priceIn(price, currency) : undefined;
  const permille = permilleIn(percent, percentMax[how]);
  return permille === undefined ? undefined : { pricePermille: how === "raise" ? permille : -permille };
}

/** Whether a text is the code of a currency, as people type it. */
export function isTypedCurrency(text: string): boolean {
  return isCurrency(text.trim().toUpperCase());
}

function priceIn(price: string, currency: string): Pick<Change, "price"> | undefined {
  try {
    return { price: amountOf({ price, currency }, "") };
  } catch {
    return undefined;
  }
}
