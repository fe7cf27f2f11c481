/** The most items of a list that are read; 16 KiB of headers could hold thousands. */
const itemsMax = 500;

/** The items of a header that is a list (RFC 9110, 5.6.1), in linear time: those past the 500th are ignored. */
export function listItems(header: string): string[] {
  return header.split(",", itemsMax).map((item) => item.trim());
}

/**
 * The names of a weighted list (RFC 9110, 12.4.2), in lower case, with their qualities. If a name appears twice, the first
 * counts; a quality that is not a number counts as 1.
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

/** The first of `codings` that Accept-Encoding accepts (RFC 9110, 12.5.3); undefined to send the content unencoded. */
export function acceptedCoding<T extends string>(acceptEncoding: string | undefined, codings: readonly T[]): T | undefined {
  if (acceptEncoding === undefined || codings.length === 0) return undefined;
  const accepted = qualities(acceptEncoding);
  const takes = (name: string): boolean => (accepted.get(name) ?? accepted.get("*") ?? 0) > 0;
  return codings.find((coding) => takes(coding) || (coding === "gzip" && takes("x-gzip")));
}
