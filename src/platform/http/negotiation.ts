import { Problem } from "../problem.ts";
import { qualities } from "./header-lists.ts";

/**
 * Refuses a request that excludes JSON from its answer (RFC 9110, 12.5.1).
 *
 * @throws Problem `not_acceptable`
 */
export function requireJsonAccepted(accept: string | undefined): void {
  if (accept === undefined || accept === "*/*" || accept === "application/json" || accept.trim() === "") return;
  const ranges = qualities(accept);
  if (!ranges.keys().some((name) => name.includes("/"))) return; // the header names no type, so it excludes none
  // the most specific range decides
  const decisive = ranges.get("application/json") ?? ranges.get("application/*") ?? ranges.get("*/*") ?? 0;
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
