import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptedCoding, listItems } from "./header-lists.ts";

/** A file as it is served, in memory: with the encodings that were made for it at build time. */
export type StaticFile = { type: string; etag: string; body: Buffer; encodings: { name: Encoding; body: Buffer }[] };

type Encoding = "br" | "gzip";

/** The best first. */
const endings: [ending: string, name: Encoding][] = [
  [".br", "br"],
  [".gz", "gzip"],
];

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Reads a folder of built files, by their path below it: `assets/index.js`. What has no known type is left out; an absent folder has none. */
export async function readStaticFiles(folder: string): Promise<Map<string, StaticFile>> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const wanted = paths.filter((path) => extname(path) in types);
  const files = await Promise.all(wanted.map((path) => readStaticFile(folder, path, paths)));
  return new Map(wanted.map((path, place) => [path.replaceAll("\\", "/"), files[place]] as [string, StaticFile]));
}

async function readStaticFile(folder: string, path: string, paths: string[]): Promise<StaticFile> {
  const body = await readFile(join(folder, path));
  const made = endings.filter(([ending]) => paths.includes(path + ending));
  const encodings = await Promise.all(made.map(async ([ending, name]) => ({ name, body: await readFile(join(folder, path + ending)) })));
  return { type: types[extname(path)] ?? "", etag: etagOf(body), body, encodings };
}

/** A text that is served as a file; its encodings are made beside the start of the service, and offered when they are there. */
export function openStaticText(type: string, text: string): StaticFile {
  const body = Buffer.from(text);
  const file: StaticFile = { type, etag: etagOf(body), body, encodings: [] };
  void encode(body).then((encodings) => file.encodings.push(...encodings));
  return file;
}

async function encode(body: Buffer): Promise<StaticFile["encodings"]> {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body, quality), promisify(gzip)(body)]);
  return [
    { name: "br", body: br },
    { name: "gzip", body: gz },
  ];
}

/** Weak: one tag for all encodings (RFC 9110, 8.8.1). */
function etagOf(body: Buffer): string {
  return `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/** Sends a file in the best encoding that the client takes, or 304 where it has this version. */
export function sendStaticFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile): FastifyReply {
  reply.header("etag", file.etag).header("vary", "Accept-Encoding");
  const { "if-none-match": ifNoneMatch, "accept-encoding": accepted } = request.headers;
  if (ifNoneMatch !== undefined && listItems(ifNoneMatch).includes(file.etag)) return reply.code(304).send();
  const coding = acceptedCoding(
    accepted,
    file.encodings.map(({ name }) => name),
  );
  const encoding = file.encodings.find(({ name }) => name === coding);
  if (encoding) reply.header("content-encoding", encoding.name);
  return reply.type(file.type).send(encoding?.body ?? file.body);
}
