import { invalidAt } from "../problem.ts";

/** How deep the arrays and objects of a body may nest. No operation needs more than four levels. */
export const depthMax = 32;
/** Values that a body may hold, counted by its commas and opening brackets. A full batch of pets holds about 4,000. */
export const valuesMax = 20_000;

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/**
 * Refuses a JSON text that would be costly to parse and validate. Makes one pass over the bytes, which need not be valid
 * JSON.
 *
 * @throws Problem `invalid_request`
 */
export function requireBoundedJson(bytes: Uint8Array): void {
  let depth = 0;
  let values = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === quote) i = endOfString(bytes, i + 1);
    else if (byte === comma) values += 1;
    else if (byte === openBracket || byte === openBrace) {
      values += 1;
      depth += 1;
      if (depth > depthMax) throw invalidAt("body", `must nest at most ${depthMax} levels deep`);
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    if (values > valuesMax) throw invalidAt("body", `must hold at most ${valuesMax} values`);
  }
}

/** The index of the quote that ends a string, or the length of the text if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = start;
  while (end < bytes.length) {
    end = bytes.indexOf(quote, end);
    if (end < 0) return bytes.length;
    let first = end;
    while (first > start && bytes[first - 1] === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
    end += 1;
  }
  return end;
}
