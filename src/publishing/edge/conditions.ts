import { acceptedCoding, listItems } from "../../platform/http/header-lists.ts";
import type { Encoding, PublishedFile } from "./site.ts";

/** Codings in the order of preference. */
const encodings: readonly Encoding[] = ["br", "gzip"];

export type ByteRange = { start: number; end: number };

/**
 * The compressed form to send, or undefined for the plain one (RFC 9110, section 12.5.3): brotli before gzip among those that the client
 * takes, whatever its weights, as both are smaller than plain.
 */
export function chooseEncoding(acceptEncoding: string | undefined, file: PublishedFile): Encoding | undefined {
  return acceptedCoding(
    acceptEncoding,
    encodings.filter((encoding) => file.encodings[encoding] !== undefined),
  );
}

/** Strong: the same tag is the same bytes. Each compressed form has its own (RFC 9110, section 8.8.3.3). */
export function etagOf(file: PublishedFile, encoding: Encoding | undefined): string {
  return encoding === undefined ? `"${file.hash.slice(0, 32)}"` : `"${file.hash.slice(0, 32)}-${encoding}"`;
}

/** Whether If-None-Match holds this tag; weak comparison, as a proxy may have weakened it. */
export function matchesAny(header: string, etag: string): boolean {
  return listItems(header).some((tag) => tag === etag || tag === `W/${etag}`) || header.trim() === "*";
}

/** Whether If-Match holds this tag; strong comparison. */
export function matchesStrongly(header: string, etag: string): boolean {
  return header.trim() === "*" || listItems(header).includes(etag);
}

/**
 * The one range of a Range header (RFC 9110, section 14): last byte included. Undefined where the whole file is to be sent: another
 * unit, more than one range, a range that is not one. `unsatisfiable` where it begins after the end.
 */
export function parseRange(header: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const parts = /^bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (parts === null) return undefined;
  const [, first = "", last = ""] = parts;
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Number(last);
    return length === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
