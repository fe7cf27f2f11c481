import type { Schemas } from "../../client/api.gen.ts";
import { isReason, isTooLong, textReader, type Reason } from "./cells.ts";
import type { Mapping } from "./mapping-schema.ts";
import { readPhotos } from "./photo-addresses.ts";
import { currenciesOf, readPrice, type Price } from "./prices.ts";

/** The profile in a row. An empty cell leaves the shop's value as it is. */
export type Profile = NonNullable<Schemas["ImportRow"]["profile"]>;
type Reader<T> = (cells: readonly string[]) => T | Reason | undefined;

/** The longest description that the service accepts, in code points. */
const descriptionCharactersMax = 5_000;

/** Returns the function that reads a row's profile, or a reason why not; undefined if the mapping reads no profile. */
export function profileReader(mapping: Mapping, header: readonly string[]): ((cells: readonly string[]) => Profile | Reason) | undefined {
  const { description, price, photos } = mapping;
  if (!description && !price && !photos) return undefined;
  const readers: [keyof Profile, Reader<Profile[keyof Profile]>][] = [];
  if (description) readers.push(["description", descriptionReader(description, header)]);
  if (price) readers.push(["price", priceReader(price, header)]);
  if (photos) readers.push(["photos", photosReader(photos, header)]);
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

function photosReader({ columns }: NonNullable<Mapping["photos"]>, header: readonly string[]): Reader<string[]> {
  const indexes = columns.map((column) => header.indexOf(column));
  return (cells) => {
    const photos = readPhotos(indexes.map((index) => cells[index] ?? ""));
    return Array.isArray(photos) && photos.length === 0 ? undefined : photos;
  };
}
