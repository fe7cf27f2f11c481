/** An amount in minor units of its currency: 4900 is 49.00 EUR. */
export type Price = { amount: number; currency: string };

let codes: ReadonlySet<string> | undefined;
const digitsByCode = new Map<string, number>();
const digitsKeptMax = 500;

/** Whether a text is the code of a currency (ISO 4217), in capitals. */
export function isCurrency(code: string): boolean {
  codes ??= new Set(Intl.supportedValuesOf("currency"));
  return codes.has(code);
}

/** How many digits the minor unit of a currency has; 2 for a text of another form than a code. Remembers it, because a number format takes long to make. */
export function minorDigits(currency: string): number {
  if (!/^[A-Z]{3}$/.test(currency)) return 2;
  const known = digitsByCode.get(currency);
  if (known !== undefined) return known;
  const digits = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
  if (digitsByCode.size < digitsKeptMax) digitsByCode.set(currency, digits);
  return digits;
}

/** A price without its currency, as forms and machines write it: 4900 minor units of EUR are `49.00`. */
export function decimalAmount({ amount, currency }: Price): string {
  const digits = minorDigits(currency);
  return (amount / 10 ** digits).toFixed(digits);
}

/** A price with its currency, as people of a locale write it. Default: the locale of the browser or process. */
export function formatPrice({ amount, currency }: Price, locale?: string): string {
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(amount / 10 ** minorDigits(currency));
}
