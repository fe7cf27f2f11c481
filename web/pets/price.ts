import { isCurrency, minorDigits, type Price } from "../../src/platform/currencies.ts";

/** Whether a text is the code of a currency, as people type it. */
export function isTypedCurrency(text: string): boolean {
  return isCurrency(text.trim().toUpperCase());
}

/** Parses a typed price, with a point or a comma, into minor units. Returns undefined if it is not an amount. */
export function amountOf({ price, currency }: { price: string; currency: string }): Price | undefined {
  const code = currency.trim().toUpperCase();
  const digits = minorDigits(code);
  const match = /^(\d{1,12})(?:[.,](\d+))?$/.exec(price.trim());
  if (match === null || (match[2]?.length ?? 0) > digits) return undefined;
  return { amount: Number(match[1]! + (match[2] ?? "").padEnd(digits, "0")), currency: code };
}

/** Parses a typed percentage with at most one decimal, into thousandths. Returns undefined for anything else, and for 0 or more than `max` percent. */
export function permilleIn(text: string, max: number): number | undefined {
  const match = /^(\d{1,4})(?:[.,](\d))?$/.exec(text.trim());
  const permille = match ? Number(match[1]) * 10 + Number(match[2] ?? 0) : 0;
  return permille > 0 && permille <= max * 10 ? permille : undefined;
}
