import { Problem } from "../problem.ts";

/**
 * Refuses a request that excludes JSON from its answer (RFC 9110, 12.5.1).
 *
 * @throws Problem `not_acceptable`
 */
export function requireJsonAccepted(accept: string | undefined): void {
  if (accept === undefined || accept === "*/*" || accept === "application/json" || accept.trim() === "") return;
  const ranges = accept
    .toLowerCase()
    .split(",")
    .map((range) => range.replaceAll(/[\t ]/g, "").split(";"))
    .filter(([name]) => name?.includes("/"));
  if (ranges.length === 0) return; // it names nothing, and so excludes nothing
  const quality = (type: string): number | undefined => {
    const range = ranges.find(([name]) => name === type);
    if (!range) return undefined;
    const q = Number(range.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    return Number.isNaN(q) ? 1 : q;
  };
  // the most specific range decides
  const decisive = quality("application/json") ?? quality("application/*") ?? quality("*/*") ?? 0;
  if (!(decisive > 0)) throw new Problem("not_acceptable", "The answer is application/json, which Accept excludes.");
}

/**
 * Refuses a body of another content type than the operation's, of another charset than UTF-8, or one that is encoded.
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
  if (mediaTypes.includes(type) && (charset === undefined || charset === "utf-8") && identity) return;
  throw new Problem(
    "unsupported_media_type",
    `The body must be ${mediaTypes.join(" or ")}${identity ? "" : " without a Content-Encoding"}.`,
  );
}
