import type { Schemas } from "../../client/api.gen.ts";
import type { Price } from "../platform/currencies.ts";
import { isReason, isTooLong, textReader, type Reason } from "./cells.ts";
import { listed } from "./lists.ts";
import type { Mapping } from "./mapping-schema.ts";
import { currenciesOf, readPrice } from "./prices.ts";

/** The profile in a row. An empty cell leaves the shop's value as it is. */
export type Profile = NonNullable<Schemas["ImportRow"]["profile"]>;
type Reader<T> = (cells: readonly string[]) => T | Reason | undefined;

/** The longest description that the service accepts, in code points. */
const descriptionCharactersMax = 5_000;

/** Returns the function that reads a row's profile, or a reason why not; undefined if the mapping reads no profile. */
export function profileReader(mapping: Mapping, header: readonly string[]): ((cells: readonly string[]) => Profile | Reason) | undefined {
  const { description, price, photos, facts } = mapping;
  if (!description && !price && !photos && !facts) return undefined;
  const readers: [keyof Profile, Reader<Profile[keyof Profile]>][] = [];
  if (description) readers.push(["description", descriptionReader(description, header)]);
  if (price) readers.push(["price", priceReader(price, header)]);
  if (photos) readers.push(["photos", photosReader(photos, header)]);
  if (facts) readers.push(["facts", factsReader(facts, header)]);
  return (cells) => {
    const entries: [string, unknown][] = [];
    for (const [field, read] of readers) {
      const value = read(cells);
      if (isReason(value)) return value;
      if (value !== undefined) entries.push([field, value]);
    }
    return Object.fromEntries(entries);
  };
}

function descriptionReader(field: NonNullable<Mapping["description"]>, header: readonly string[]): Reader<string> {
  const read = textReader(field, header);
  return (cells) => {
    const text = read(cells);
    if (isTooLong(text, descriptionCharactersMax)) return { reason: `the description is over ${descriptionCharactersMax} characters` };
    return text === "" ? undefined : text;
  };
}

function priceReader({ column, currencyColumn, ...format }: NonNullable<Mapping["price"]>, header: readonly string[]): Reader<Price> {
  const index = header.indexOf(column);
  const currencyIndex = currencyColumn === undefined ? -1 : header.indexOf(currencyColumn);
  return (cells) => {
    const cell = (cells[index] ?? "").trim();
    if (cell === "") return undefined;
    const named = (cells[currencyIndex] ?? "").trim();
    if (named === "") return readPrice(cell, format);
    const [currency, another] = currenciesOf(named) ?? [];
    if (currency === undefined || another !== undefined) return { reason: `“${named.slice(0, 50)}” names no currency` };
    const price = readPrice(cell, { ...format, currency });
    return isReason(price) || price.currency === currency ? price : { reason: `the price “${cell.slice(0, 50)}” is not in ${currency}` };
  };
}

type Facts = NonNullable<Profile["facts"]>;

/** The longest values that the service accepts, in code points. */
export const factCharactersMax = 100;
const ownCharactersMax = 200;

function factsReader({ own = [], ...fields }: NonNullable<Mapping["facts"]>, header: readonly string[]): Reader<Facts> {
  const readers = Object.entries(fields).map(([name, field]) => [name, textReader(field, header), listed(field.columns)] as const);
  const ownColumns = own.map((name) => [name, header.indexOf(name)] as const);
  return (cells) => {
    const facts: Record<string, string> = {};
    for (const [name, read, from] of readers) {
      const text = read(cells);
      if (text === "") continue;
      const value = name === "born" ? bornOf(text) : text;
      if (value === undefined) return { reason: `${from}: “${text.slice(0, 50)}” is not a year or a day of birth such as 2024-05-17` };
      if (isTooLong(value, factCharactersMax)) return { reason: `${from}: the ${name} is over ${factCharactersMax} characters` };
      facts[name] = value;
    }
    const more = ownColumns.flatMap(([name, index]) => {
      const value = (cells[index] ?? "").trim();
      return value === "" ? [] : [{ name, value }];
    });
    const long = more.find(({ value }) => isTooLong(value, ownCharactersMax));
    if (long) return { reason: `${long.name}: over ${ownCharactersMax} characters` };
    return Object.keys(facts).length + more.length === 0 ? undefined : { ...facts, ...(more.length > 0 && { own: more }) };
  };
}

const yearFirst = /^(?<year>(?:1[89]|20)\d\d)(?:[-/.](?<month>\d\d?)[-/.](?<day>\d\d?))?(?:[T ][\d:.]+Z?)?$/;
const dayFirst = /^(?<day>\d\d?)\. ?(?<month>\d\d?)\. ?(?<year>(?:1[89]|20)\d\d)(?:[T ][\d:.]+Z?)?$/;

/** Reads a year, or a day with or without a time: from the year on, or with dots from the day on. In other forms the order of day and month is not known. */
export function bornOf(text: string): string | undefined {
  const { year, month, day } = (yearFirst.exec(text) ?? dayFirst.exec(text))?.groups ?? {};
  if (year === undefined || month === undefined || day === undefined) return year;
  const written = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const at = Date.parse(written);
  // `Date.parse` takes 30 February for a day of March.
  return Number.isNaN(at) || !new Date(at).toISOString().startsWith(written) ? undefined : written;
}

function photosReader({ columns }: NonNullable<Mapping["photos"]>, header: readonly string[]): Reader<string[]> {
  const indexes = columns.map((column) => header.indexOf(column));
  return (cells) => {
    const photos = readPhotos(indexes.map((index) => cells[index] ?? ""));
    return Array.isArray(photos) && photos.length === 0 ? undefined : photos;
  };
}

/** The most photos of one animal, and the longest address, as in the API. */
const photosMax = 10;
const addressCharactersMax = 2_000;

/**
 * The addresses in a cell, which spaces, commas, semicolons or bars separate. Addresses may contain these too, so a separator counts only before
 * `http://` or `https://`.
 */
export function addressesIn(cell: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const { index } of cell.matchAll(/https?:\/\//gi))
    if (index > from && isSeparator(cell[index - 1])) {
      found.push(cell.slice(from, index));
      from = index;
    }
  return [...found, cell.slice(from)].map(withoutSeparators).filter((address) => address !== "");
}

/** Whether a text is a web address. */
export function isAddress(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- as in the API
  return /^https?:\/\/[^\u0000-\u0020]+$/i.test(text) && text.length <= addressCharactersMax && URL.canParse(text);
}

/** Whether an address is that of a picture, by the ending of its path. */
export function isPicture(address: string): boolean {
  return isAddress(address) && /\.(?:jpe?g|png|webp|gif|avif|heic|tiff?)$/i.test(new URL(address).pathname);
}

/** Returns the addresses of photos in the cells of a row, or why the row is refused. */
export function readPhotos(cells: readonly string[]): string[] | Reason {
  const named = cells.flatMap(addressesIn).map((address) => address.replace(/^https?:/i, (scheme) => scheme.toLowerCase()));
  const addresses = [...new Set(named)];
  const wrong = addresses.find((address) => !isAddress(address));
  if (wrong !== undefined) return { reason: `the photo “${wrong.slice(0, 100)}” is not an address that begins with https:// or http://` };
  if (addresses.length > photosMax) return { reason: `has ${addresses.length} photos, more than ${photosMax}` };
  return addresses;
}

function isSeparator(character = ""): boolean {
  return /[\s,;|]/.test(character);
}

function withoutSeparators(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSeparator(text[start])) start += 1;
  while (end > start && isSeparator(text[end - 1])) end -= 1;
  return text.slice(start, end);
}
