import type { IncomingHttpHeaders } from "node:http";
import { evaluateRead } from "../../platform/http/conditions.ts";
import { chooseCoding, isGzippedType } from "../../platform/http/negotiation.ts";
import type { RenderedPage, StreamedBody } from "../storefront/storefront.ts";
import type { Encoding, Manifest, PublishedFile } from "./site.ts";

export type Body = { file: PublishedFile; encoding: Encoding | undefined; range: ByteRange | undefined };
export type Answer = {
  status: number;
  headers: Record<string, string | number>;
  /** The host whose site answers, if a site does: removing the host cuts the connection. */
  host?: string;
  body?: Body | StreamedBody | string | Buffer;
  /** Finds an answer that is not in memory. Its status, headers and body replace those above; `headers` above are then added to its headers. */
  pending?: () => Promise<Answer>;
};

export type FoundFile =
  | { kind: "file"; status: 200 | 404; path: string; file: PublishedFile }
  /** A folder requested without its final slash: relative links in its page would start from its parent. */
  | { kind: "folder"; location: string }
  | { kind: "nothing" };

/**
 * Returns the file at a path of a site: the `index.html` of a folder, and the site's own `404.html` for an unknown path. It finds only files
 * in the manifest, so no path leads out of the site.
 */
export function findFile(manifest: Manifest, path: string): FoundFile {
  const exact = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  const file = manifest.get(exact);
  if (file !== undefined) return { kind: "file", status: 200, path: exact, file };
  if (exact === path && manifest.has(`${path}/index.html`)) {
    return { kind: "folder", location: `/${path.split("/").map(encodeURIComponent).join("/")}/` };
  }
  const missing = manifest.get("404.html");
  return missing === undefined ? { kind: "nothing" } : { kind: "file", status: 404, path: "404.html", file: missing };
}

/** Checks preconditions in the order of RFC 9110, section 13.2.2. A range is always of the uncompressed file, and has that file's ETag. */
export function fileAnswer(
  { file, path, status }: Extract<FoundFile, { kind: "file" }>,
  method: string,
  asked: IncomingHttpHeaders,
): Answer {
  const ifRange = asked["if-range"];
  const partial = status === 200 && method === "GET" && (ifRange === undefined || ifRange === etagOf(file, undefined));
  const range = partial && asked.range !== undefined ? parseRange(asked.range, file.size) : undefined;
  const isGzipped = isGzippedType(path);
  const canChoose = range === undefined && !isGzipped;
  const encoding = canChoose ? chooseCoding(asked["accept-encoding"], (coding) => file.encodings[coding] !== undefined) : undefined;
  const etag = etagOf(file, encoding);
  const headers = headersOf(file, path, etag);

  if (status === 200) {
    const outcome = evaluateRead(asked, etag);
    if (outcome === "failed") return text(412, "The file has changed.");
    if (outcome === "not_modified") return { status: 304, headers };
  }
  if (range === "unsatisfiable") {
    const refused = text(416, "The file is shorter than that.");
    return { ...refused, headers: { ...refused.headers, "Content-Range": `bytes */${file.size}` } };
  }
  headers["Content-Type"] = file.type;
  if (isGzipped) headers["Content-Encoding"] = "gzip";
  if (encoding !== undefined) headers["Content-Encoding"] = encoding;
  headers["Content-Length"] = range === undefined ? sizeOf(file, encoding) : range.end - range.start + 1;
  if (range !== undefined) headers["Content-Range"] = `bytes ${range.start}-${range.end}/${file.size}`;
  return { status: range === undefined ? status : 206, headers, body: { file, encoding, range } };
}

/** Strong: the same tag means the same bytes, so each encoding has its own (RFC 9110, 8.8.3.3). */
export function etagOf(file: PublishedFile, encoding: Encoding | undefined): string {
  const own = `"${file.hash.slice(0, 32)}`;
  return encoding === undefined ? `${own}"` : `${own}-${encoding}"`;
}

/** The headers that a 304 repeats from the 200. */
function headersOf(file: PublishedFile, path: string, etag: string): Record<string, string | number> {
  const headers: Record<string, string | number> = {
    ETag: etag,
    "Cache-Control": cacheControlOf(file, path),
    "X-Content-Type-Options": "nosniff",
    "Accept-Ranges": "bytes",
  };
  if (file.encodings.br !== undefined || file.encodings.gzip !== undefined) headers.Vary = "Accept-Encoding";
  return headers;
}

/** The size of a file in this encoding, in bytes. */
export function sizeOf(file: PublishedFile, encoding: Encoding | undefined): number {
  return (encoding === undefined ? undefined : file.encodings[encoding]) ?? file.size;
}

/** Returns the answer with a storefront's page, which browsers revalidate on each visit; undefined if a precondition failed. */
export function renderedAnswer(page: RenderedPage, asked: IncomingHttpHeaders): Answer | undefined {
  const { coding, body } = page;
  const etag = `"${page.etag}${coding === undefined ? "" : `-${coding}`}"`;
  const headers: Answer["headers"] = {
    "Cache-Control": "public, max-age=0, must-revalidate",
    ...page.headers,
    ETag: etag,
    "X-Content-Type-Options": "nosniff",
    Vary: "Accept-Encoding",
  };
  if (page.status === 200) {
    const outcome = evaluateRead(asked, etag);
    if (outcome === "failed") return undefined;
    if (outcome === "not_modified") return { status: 304, headers };
  }
  headers["Content-Type"] = page.type;
  if (coding !== undefined) headers["Content-Encoding"] = coding;
  headers["Content-Length"] = Buffer.isBuffer(body) ? body.length : body.bytes;
  return { status: page.status, headers, body };
}

/** Returns a short plain-text answer that is never cached. */
export function text(status: number, body: string): Answer {
  return {
    status,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
    body,
  };
}

/** Each file's Cache-Control at the path where it was last served: to match the file's name costs more than all other headers. */
const cacheControls = new WeakMap<PublishedFile, { path: string; value: string }>();

function cacheControlOf(file: PublishedFile, path: string): string {
  const known = cacheControls.get(file);
  if (known?.path === path) return known.value;
  const value = cacheControl(path);
  cacheControls.set(file, { path, value });
  return value;
}

/**
 * Returns the Cache-Control of a file. A file whose name has a digest of its content (`app.3f2a91bc.css`, `index-BkH3x9aZ.js`) is cached for
 * good; a date (`menu-20260401.pdf`) is not a digest. Browsers revalidate every other file, usually with a 304, so that a deployment shows at
 * once.
 */
export function cacheControl(path: string): string {
  const isHashed = hasHexDigest(path) || hasBundlerDigest(path);
  return isHashed ? "public, max-age=31536000, immutable" : "public, max-age=0, must-revalidate";
}

/** Whether the file's name has 8 to 64 hexadecimal digits before its extension, with a letter and a number among them. */
function hasHexDigest(path: string): boolean {
  const parts = path.slice(path.lastIndexOf("/") + 1).split(".");
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i] ?? "";
    const start = part.lastIndexOf("-") + 1;
    const isApart = i < parts.length - 1 && (i > 0 || start > 0);
    if (isApart && isHexDigest(part.slice(start))) return true;
    if (!/^\w*$/.test(part)) return false;
  }
  return false;
}

function isHexDigest(part: string): boolean {
  return part.length >= 8 && part.length <= 64 && /^[0-9a-f]+$/.test(part) && /[a-f]/.test(part) && /\d/.test(part);
}

/** Whether the file's name ends like `-BkH3x9aZ.js`, with lower-case letters, upper-case letters and numbers. */
function hasBundlerDigest(path: string): boolean {
  const digest = /[.-]([\w-]{8})\.(?:js|mjs|css|woff2?|wasm)$/.exec(path)?.[1] ?? "";
  return /[a-z]/.test(digest) && /[A-Z]/.test(digest) && /\d/.test(digest);
}

export type ByteRange = { start: number; end: number };

/**
 * Parses a Range header with a single range (RFC 9110, section 14); `end` is the last byte. Returns undefined if the whole file is to be
 * sent: for another unit, several ranges or an invalid header. Returns `unsatisfiable` if the range begins after the end of the file.
 */
export function parseRange(header: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const parts = /^bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (parts === null) return undefined;
  const [, first = "", last = ""] = parts;
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Number(last);
    if (length === 0) return "unsatisfiable";
    // The last bytes of an empty file are all that it has (RFC 9110, 14.1.2); a 206 could not name them.
    return size === 0 ? undefined : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
