import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { send, sendBytes, sendText } from "./answers.ts";
import { evaluateRead } from "./conditions.ts";
import type { Exchange } from "./exchange.ts";
import { chooseCoding, codings, type Coding } from "./negotiation.ts";

/** A file in memory, plain and in its encodings. */
export type StaticFile = { type: string; etag: string; body: Buffer; encodings: Partial<Record<Coding, Buffer>> };

/** The endings of the encoded files that the build makes beside each plain file. */
const endings: Record<Coding, string> = { br: ".br", gzip: ".gz" };

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Reads the files of known types in a folder, by their path in it: `assets/index.js`. Returns none if the folder is absent. */
export async function readStaticFiles(folder: string): Promise<Map<string, StaticFile>> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const wanted = paths.filter((path) => extname(path) in types);
  const files = await Promise.all(wanted.map((path) => readStaticFile(folder, path, paths)));
  return new Map(wanted.map((path, place) => [path.replaceAll("\\", "/"), files[place]] as [string, StaticFile]));
}

async function readStaticFile(folder: string, path: string, paths: string[]): Promise<StaticFile> {
  const body = await readFile(join(folder, path));
  const encodings: StaticFile["encodings"] = {};
  for (const coding of codings) {
    const encoded = path + endings[coding];
    if (paths.includes(encoded)) encodings[coding] = await readFile(join(folder, encoded));
  }
  return { type: types[extname(path)] ?? "", etag: weakEtagOf(body), body, encodings };
}

/** A text that is served as a file. */
export async function openStaticText(type: string, text: string): Promise<StaticFile> {
  const body = Buffer.from(text);
  return { type, etag: weakEtagOf(body), body, encodings: await compress(body) };
}

async function compress(body: Buffer): Promise<StaticFile["encodings"]> {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body, quality), promisify(gzip)(body)]);
  return { br, gzip: gz };
}

/** Weak, because all encodings have the same tag (RFC 9110, 8.8.1). */
function weakEtagOf(body: Buffer): string {
  return `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/**
 * Sends a file in the best encoding that the client accepts, or a 304 if the client has this version. Preconditions apply to a 200
 * alone (RFC 9110, 13.2.1): a page with another status is sent as it is.
 *
 * @param lines further headers, as lines of the answer's head
 */
export function sendStaticFile(exchange: Exchange, file: StaticFile, lines: string, status = 200): void {
  const { headers } = exchange;
  exchange.lines += `${lines}ETag: ${file.etag}\r\nVary: Accept-Encoding\r\n`;
  const outcome = status === 200 ? evaluateRead(headers, file.etag) : "full";
  if (outcome === "not_modified") return send(exchange, 304);
  if (outcome === "failed") return sendText(exchange, 412, "This is not the version that If-Match names.", "text/plain; charset=utf-8");
  const coding = chooseCoding(headers["accept-encoding"], (name) => file.encodings[name] !== undefined);
  if (coding) exchange.lines += `Content-Encoding: ${coding}\r\n`;
  sendBytes(exchange, status, (coding && file.encodings[coding]) ?? file.body, file.type);
}
