/** The most items of a list that count. 16 KiB of headers could have thousands. */
const itemsMax = 500;

/** The items of a header that is a list (RFC 9110, 5.6.1), in linear time. Ignores those after the 500th. */
export function listItems(header: string): string[] {
  return header.split(",", itemsMax).map((item) => item.trim());
}

/**
 * The names of a weighted list (RFC 9110, 12.4.2), in lower case, with their qualities. If a name appears twice, the first
 * one counts. A quality that is not a number counts as 1.
 */
export function qualities(header: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const item of listItems(header.toLowerCase())) {
    const [name = "", ...parameters] = item.split(";");
    const key = name.trim();
    if (key !== "" && !found.has(key)) found.set(key, qualityOf(parameters));
  }
  return found;
}

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (equals < 0 || parameter.slice(0, equals).trim() !== "q") continue;
    const value = parameter.slice(equals + 1).trim();
    const quality = value === "" ? 1 : Number(value);
    return Number.isNaN(quality) ? 1 : quality;
  }
  return 1;
}
