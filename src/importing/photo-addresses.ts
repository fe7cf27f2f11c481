import type { Reason } from "./cells.ts";

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
