export type Price = { amount: number; currency: string };

/** Parses a typed price, with a point or a comma, into minor units. @throws Error with the message `wrong` if it is not an amount */
export function amountOf({ price, currency }: { price: string; currency: string }, wrong: string): Price {
  const code = currency.trim().toUpperCase();
  const digits = digitsOf(code);
  const match = /^(\d{1,12})(?:[.,](\d+))?$/.exec(price.trim());
  if (match === null || (match[2]?.length ?? 0) > digits) throw new Error(wrong);
  return { amount: Number(match[1]! + (match[2] ?? "").padEnd(digits, "0")), currency: code };
}

/** Parses a typed percentage with at most one decimal, into thousandths. Returns undefined for anything else, and for 0 or more than `max` percent. */
export function permilleIn(text: string, max: number): number | undefined {
  const match = /^(\d{1,4})(?:[.,](\d))?$/.exec(text.trim());
  const permille = match ? Number(match[1]) * 10 + Number(match[2] ?? 0) : 0;
  return permille > 0 && permille <= max * 10 ? permille : undefined;
}

/** A price as it is typed: 4900 minor units of EUR are `49.00`. */
export function shownAmount({ amount, currency }: Price): string {
  const digits = digitsOf(currency);
  return (amount / 10 ** digits).toFixed(digits);
}

/** A price in the reader's locale, with its currency. */
export function formatPrice({ amount, currency }: Price): string {
  const value = amount / 10 ** digitsOf(currency);
  return new Intl.NumberFormat(undefined, { style: "currency", currency }).format(value);
}

function digitsOf(currency: string): number {
  if (!/^[A-Z]{3}$/.test(currency)) return 2;
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
}
