import { Problem } from "../problem.ts";

/** The codings that files are stored in, the smallest first. */
export const codings = ["br", "gzip"] as const;
export type Coding = (typeof codings)[number];

/**
 * Chooses the content coding of a file (RFC 9110, 12.5.3): the first of `codings` that the file has and the client accepts, whatever
 * its quality, because both are smaller than the plain file. Undefined means the plain file: the client accepts no such coding, or
 * prefers `identity` to it. A client that refuses `identity` too gets the plain file, since a 406 would not help it.
 *
 * @param has returns whether the file is stored in a coding
 */
export function chooseCoding(acceptEncoding: string | undefined, has: (coding: Coding) => boolean): Coding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const accepted = qualities(acceptEncoding);
  const identity = accepted.get("identity") ?? 0;
  return codings.find((coding) => {
    const named = accepted.get(coding) ?? (coding === "gzip" ? accepted.get("x-gzip") : undefined);
    const quality = named ?? accepted.get("*") ?? 0;
    return quality > 0 && quality >= identity && has(coding);
  });
}

/**
 * Refuses a request whose `Accept` excludes the type of the answer (RFC 9110, 12.5.1).
 *
 * @throws Problem `not_acceptable`
 */
export function requireAccepted(accept: string | undefined, mediaType = "application/json"): void {
  if (accept === undefined || accept === "*/*" || accept === mediaType || accept.trim() === "") return;
  const ranges = qualities(accept);
  if (!ranges.keys().some((name) => name.includes("/"))) return; // a header without a type excludes none
  // the most specific range decides
  const family = `${mediaType.split("/", 1).join("")}/*`;
  const decisive = ranges.get(mediaType) ?? ranges.get(family) ?? ranges.get("*/*") ?? 0;
  if (!(decisive > 0)) throw new Problem("not_acceptable", `The answer is ${mediaType}, which Accept excludes.`);
}

/** UTF-8 by its name and by what clients write instead; also no charset. */
const utf8Names = new Set([undefined, "utf-8", "utf8"]);

/**
 * Refuses a body that has another content type than the operation's, another charset than UTF-8, or a content coding.
 *
 * @throws Problem `unsupported_media_type`
 */
export function requireMediaType(mediaTypes: readonly string[], headers: { "content-type"?: string; "content-encoding"?: string }): void {
  const contentType = headers["content-type"] ?? "";
  const encoding = headers["content-encoding"];
  if (encoding === undefined && mediaTypes.includes(contentType)) return;
  const [type = "", ...parameters] = contentType
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice(8)
    .replaceAll('"', "");
  const identity = encoding === undefined || encoding.toLowerCase() === "identity";
  if (mediaTypes.includes(type) && utf8Names.has(charset) && identity) return;
  throw new Problem(
    "unsupported_media_type",
    `The body must be ${mediaTypes.join(" or ")}${identity ? "" : " without a Content-Encoding"}.`,
  );
}

/** Whether a file's bytes are those of another type, compressed by gzip, as its extension says. They are served with that Content-Encoding. */
export function isGzippedType(path: string): boolean {
  return /\.svgz$/i.test(path);
}

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
