import { isCurrency, minorDigits, type Price } from "../platform/currencies.ts";
import type { Reason } from "./cells.ts";

/*
 * Reads prices as spreadsheets and people write them. Where a cell can be read in two ways, such as `1.234`, the mapping says which is right. A cell
 * that is no amount is refused: none is ever read as an amount that it does not say (decision 0111).
 */

/** The decimal mark: `1,5` or `1.5`. */
export type Decimal = "comma" | "point";
/** How the prices of a column are read: the currency of those that name none, and the decimal mark of those that can be read in two ways. */
export type PriceFormat = { currency?: string; decimal?: Decimal };
/** A cell, with all that it can mean. `currencies` are those that its mark may stand for; undefined without a mark. */
export type PriceCell = { currencies: readonly string[] | undefined; readings: readonly PriceNumber[] };
/** `decimal` is the decimal mark by this reading, also where no decimals follow; undefined if the cell does not show it. */
type PriceNumber = { whole: string; decimals: string; decimal: Decimal | undefined };

const cellCharactersMax = 60;
/** The most digits of an amount in minor units, so that it is a safe integer. */
const digitsMax = 15;

/** The marks of currencies, in lower case. A mark of several currencies does not say which. */
const marks = new Map<string, readonly string[]>(
  Object.entries({
    "€": "EUR",
    euro: "EUR",
    euros: "EUR",
    "£": "GBP",
    us$: "USD",
    c$: "CAD",
    ca$: "CAD",
    a$: "AUD",
    au$: "AUD",
    nz$: "NZD",
    hk$: "HKD",
    s$: "SGD",
    nt$: "TWD",
    mx$: "MXN",
    r$: "BRL",
    $: "USD CAD AUD NZD HKD SGD TWD MXN ARS CLP COP",
    "¥": "JPY CNY",
    円: "JPY",
    元: "CNY",
    kr: "SEK NOK DKK ISK",
    "kr.": "SEK NOK DKK ISK",
    zł: "PLN",
    zl: "PLN",
    kč: "CZK",
    ft: "HUF",
    lei: "RON MDL",
    лв: "BGN",
    "лв.": "BGN",
    fr: "CHF",
    "fr.": "CHF",
    sfr: "CHF",
    "sfr.": "CHF",
    "₽": "RUB",
    руб: "RUB",
    "руб.": "RUB",
    "₴": "UAH",
    "₺": "TRY",
    "₹": "INR",
    rs: "INR PKR LKR NPR MUR",
    "rs.": "INR PKR LKR NPR MUR",
    "₪": "ILS",
    "₩": "KRW",
    "₫": "VND",
    "฿": "THB",
    "₱": "PHP",
    "₦": "NGN",
  }).map(([mark, codes]) => [mark, codes.split(" ")]),
);
/** The codes that count as such in headers, where ALL and TOP are words. */
const headerCodes = new Set(
  "EUR USD GBP CHF CAD AUD NZD SEK NOK DKK ISK PLN CZK HUF RON BGN RSD JPY CNY KRW INR BRL MXN ARS CLP COP ZAR RUB UAH ILS SGD HKD TWD THB PHP".split(
    " ",
  ),
);

/** The currencies that a mark or code may stand for; undefined if it is neither. */
export function currenciesOf(text: string): readonly string[] | undefined {
  const mark = plain(text).trim().toLowerCase();
  const found = marks.get(mark);
  if (found) return found;
  return isCurrency(mark.toUpperCase()) ? [mark.toUpperCase()] : undefined;
}

/** The currency that a header names, as in `Price (EUR)` or `Preis in €`. */
export function currencyInHeader(header: string): string | undefined {
  const words = plain(header).split(/[\s()[\]{}_/,:;.-]+/);
  const named = words.flatMap((word) => {
    const [code, another] = (headerCodes.has(word.toUpperCase()) || !/^[a-z]+$/i.test(word) ? currenciesOf(word) : undefined) ?? [];
    return code === undefined || another !== undefined ? [] : [code];
  });
  return new Set(named).size === 1 ? named[0] : undefined;
}

/** Parses a cell; undefined if it is not an amount. */
export function parsePrice(cell: string): PriceCell | undefined {
  if (cell.length > cellCharactersMax) return undefined;
  const text = plain(cell).trim();
  const first = text.search(/\d/);
  if (first < 0) return undefined;
  // The point of `Rs.500` belongs to the mark, and that of `.50` to the number.
  const start = /[.,]/.test(text[first - 1] ?? "") && !/\p{L}/u.test(text[first - 2] ?? "") ? first - 1 : first;
  let end = text.length;
  while (!/\d/.test(text[end - 1] ?? "0")) end -= 1;
  const before = text.slice(0, start).trim();
  const after = withoutDashes(text.slice(end)).trim();
  const currencies = currenciesNamed([before, after].filter((mark) => mark !== ""));
  const readings = readingsOf(text.slice(start, end));
  return currencies === null || readings.length === 0 ? undefined : { currencies, readings };
}

/** Returns the price in a cell, or why it is none. */
export function readPrice(cell: string, { currency: assumed, decimal }: PriceFormat): Price | Reason {
  const shown = `the price “${cell.trim().slice(0, cellCharactersMax)}”`;
  const parsed = parsePrice(cell);
  if (parsed === undefined) return { reason: `${shown} is not an amount` };
  const { currencies } = parsed;
  const currency = currencies?.length === 1 ? currencies[0] : currencies && assumed && !currencies.includes(assumed) ? undefined : assumed;
  if (currency === undefined && currencies && assumed) return { reason: `${shown} is not in ${assumed}` };
  if (currency === undefined)
    return { reason: currencies ? `the currency of ${shown} may be ${currencies.slice(0, 4).join(" or ")}` : `${shown} names no currency` };
  const digits = minorDigits(currency);
  const readings = parsed.readings.filter(({ decimals }) => decimals === "" || digits > 0 || parsed.readings.length === 1);
  const number = readings.length === 1 ? readings[0]! : readings.find((one) => one.decimal === decimal);
  if (number === undefined) return { reason: `${shown} may be ${readings.map(shownNumber).join(" or ")}` };
  const decimals = number.decimals.slice(0, digits) + number.decimals.slice(digits).replace(/^0+/, "");
  if (decimals.length > digits) return { reason: `${shown} has more decimals than ${currency} has` };
  const all = (number.whole + decimals.padEnd(digits, "0")).replace(/^0+(?=\d)/, "");
  return all.length > digitsMax ? { reason: `${shown} is too high` } : { amount: Number(all), currency };
}

/** Whether only a person can say which amount a cell is. */
export function isAmbiguous(cell: string, { currency, decimal }: PriceFormat): boolean {
  const { currencies = currency === undefined ? [] : [currency], readings = [] } = parsePrice(cell) ?? {};
  return decimal === undefined && readings.length > 1 && !(currencies.length === 1 && minorDigits(currencies[0]!) === 0);
}

/** A reading as English and JSON write numbers. */
function shownNumber({ whole, decimals }: PriceNumber): string {
  return decimals === "" ? whole : `${whole}.${decimals}`;
}

/** Text with one kind of spaces and apostrophes, and without the wide forms of East Asia. Not NFKC, which makes 1290 of 12⁹⁰. */
function plain(text: string): string {
  return text
    .replaceAll(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll("\uFFE5", "¥")
    .replaceAll("\uFFE1", "£")
    .replaceAll(/[\p{Zs}\t]/gu, " ")
    .replaceAll(/[’ʼ′´`]/g, "'");
}

/** Returns undefined without marks, and null if a text is no mark or two marks have no currency in common. */
function currenciesNamed(named: readonly string[]): readonly string[] | undefined | null {
  const [one, other] = named.map((mark) => currenciesOf(mark) ?? null);
  if (one === undefined || one === null || other === null) return one === undefined ? undefined : null;
  const both = other === undefined ? one : one.filter((code) => other.includes(code));
  return both.length === 0 ? null : both;
}

/** Removes a dash in place of decimals, as in `12,-`. */
function withoutDashes(text: string): string {
  return text.replace(/^[.,] ?[-–—]{1,2}/, "");
}

/** The numbers that digits and marks between them can stand for: none, one, or two. */
function readingsOf(text: string): PriceNumber[] {
  const parts = text.split(/[.,' ]/);
  if (parts.some((part, at) => !/^\d+$/.test(part) && !(at === 0 && part === ""))) return [];
  const between = [...text].filter((character) => /[.,' ]/.test(character));
  const last = between.at(-1);
  const decimals = parts.at(-1)!;
  const groups = parts.slice(0, -1);
  const decimal = last === "," ? "comma" : last === "." ? "point" : undefined;
  const readings: PriceNumber[] = [];
  const isGrouped = new Set(between).size === 1 && areGroups(parts, between);
  if (last === undefined) return [{ whole: text, decimals: "", decimal: undefined }];
  if (
    decimal !== undefined &&
    between.indexOf(last) === between.length - 1 &&
    (groups.length === 1 || areGroups(groups, between.slice(0, -1)))
  )
    readings.push({ whole: groups.join("") || "0", decimals, decimal });
  if (isGrouped)
    readings.push({
      whole: parts.join(""),
      decimals: "",
      decimal: decimal && { comma: "point" as const, point: "comma" as const }[decimal],
    });
  return readings;
}

/** Whether digits are grouped by one mark: by threes, or as in India by twos before the last three. */
function areGroups(parts: readonly string[], between: readonly string[]): boolean {
  const [head = "", ...rest] = parts;
  if (new Set(between).size > 1 || head === "" || head.length > 3 || head.startsWith("0") || rest.at(-1)?.length !== 3) return false;
  const middle = rest.slice(0, -1);
  return (
    middle.every(({ length }) => length === 3) || (head.length <= 2 && between[0] === "," && middle.every(({ length }) => length === 2))
  );
}
