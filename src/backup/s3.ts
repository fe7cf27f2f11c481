import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3mini } from "s3mini";
import { stagingStream } from "../platform/files.ts";
import { openHttpClient, type HttpClient } from "../platform/http-client.ts";
import { BackupError } from "./manifest.ts";

export type S3Settings = { s3Endpoint: string; s3Region: string; s3KeyId: string; s3Secret: string };
/** A bucket, and the prefix of its backups' keys: empty, or with a slash at its end. */
export type S3Place = { bucket: string; prefix: string };
export type S3Timing = {
  /** Time-outs (ms) of a request with a small body, and of one that carries a piece. */
  requestMs: number;
  pieceMs: number;
  /** The most tries of a request that fails without a refusal, and the pause before the second try. Each further pause is twice as long. */
  tries: number;
  pauseMs: number;
};

export type S3Store = {
  /** @throws BackupError if the store does not answer, or refuses */
  names(): Promise<string[]>;
  /** Stores a file and reads it back. It has its name only when it is complete. */
  upload(name: string, path: string): Promise<void>;
  download(name: string, path: string): Promise<void>;
  remove(name: string): Promise<void>;
};

const usual: S3Timing = { requestMs: 15_000, pieceMs: 120_000, tries: 4, pauseMs: 500 };
/** Bytes that are in memory at once. A store takes at most 10,000 pieces of one object. */
const pieceBytesMin = 8 << 20; // also the most that an answer may have
const piecesMax = 10_000;
const namesMax = 10_000;

/** Parses `s3://bucket/prefix`. Returns undefined for any other text, and for a prefix with `..`, which would lead out of the bucket. */
export function parseS3(text: string): S3Place | undefined {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#\s\\%]{0,900}))?$/.exec(text);
  if (!match) return undefined;
  const prefix = (match[2] ?? "").replace(/^\/|\/$/g, "");
  if (prefix !== "" && prefix.split("/").some((part) => part === "" || part === "." || part === "..")) return undefined;
  return { bucket: match[1]!, prefix: prefix.replace(/(.)$/, "$1/") };
}

/**
 * Opens a bucket of an S3-compatible store. Each request has a time-out and a bounded number of tries; a refusal is not tried again.
 *
 * @throws BackupError if there are no credentials
 */
export async function openS3(place: S3Place, settings: S3Settings, timing: S3Timing = usual): Promise<S3Store> {
  const { s3Endpoint, s3Region, s3KeyId, s3Secret } = settings;
  if (s3KeyId === "" || s3Secret === "") throw new BackupError("s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  const region = s3Region || "us-east-1";
  const endpoint = s3Endpoint === "" ? `https://${place.bucket}.s3.${region}.amazonaws.com` : `${s3Endpoint}/${place.bucket}`;
  const { S3mini: Store } = await import("s3mini");
  const client = new Store({
    accessKeyId: s3KeyId,
    secretAccessKey: s3Secret,
    endpoint,
    region,
    fetch: boundedFetch(timing),
  });
  return storeOf({ client, place, host: new URL(endpoint).host, timing });
}

type Context = { client: S3mini; place: S3Place; host: string; timing: S3Timing };

function storeOf(context: Context): S3Store {
  const { client, place } = context;
  const keyOf = (name: string): string => place.prefix + name;
  return {
    names: () => listNames(context),
    upload: (name, path) => upload(context, keyOf(name), path),
    async download(name, path) {
      const key = keyOf(name);
      const size = await ask(context, key, () => sizeOf(client, key));
      await pipeline(bytesOf(context, key, size), stagingStream(path));
    },
    remove: async (name) => void (await ask(context, keyOf(name), () => client.deleteObject(keyOf(name)))),
  };
}

/** Sends a request, again if it fails without a refusal. @throws BackupError that names the store and says why */
async function ask<T>({ host, timing }: Context, what: string, request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      const { status = 0 } = error as { status?: number };
      const mayPass = !(error instanceof ForeignAnswerError) && (status === 0 || status === 429 || status >= 500);
      if (!mayPass || attempt === timing.tries) throw new BackupError(`${what}: the store at ${host} ${reasonOf(error, status)}`);
      await sleep(timing.pauseMs * 2 ** (attempt - 1));
    }
  }
}

function reasonOf(error: unknown, status: number): string {
  if (error instanceof ForeignAnswerError) return `answers, but not as an S3 store does (${error.message}): is AWS_ENDPOINT_URL right?`;
  return status === 0 ? `does not answer (${codeOf(error)})` : `refuses: ${refusalOf(error)}`;
}

async function listNames(context: Context): Promise<string[]> {
  const { bucket, prefix } = context.place;
  const listed = await ask(context, `s3://${bucket}`, () => foreignUnlessKnown(() => context.client.listObjects("/", prefix, namesMax)));
  if (listed === null || listed === undefined) {
    throw new BackupError(`s3://${bucket}: the store at ${context.host} has no bucket ${bucket}`);
  }
  return listed.map(({ Key }) => Key.slice(prefix.length)).filter((name) => name !== "" && !name.includes("/"));
}

async function upload(context: Context, key: string, path: string): Promise<void> {
  const { client } = context;
  const { size } = await stat(path);
  const pieceBytes = Math.max(pieceBytesMin, Math.ceil(size / piecesMax));
  const id = await ask(context, key, () => client.getMultipartUploadId(key, "application/octet-stream"));
  try {
    const parts: Awaited<ReturnType<S3mini["uploadPart"]>>[] = [];
    for await (const { piece, number } of piecesOf(path, pieceBytes)) {
      parts.push(await ask(context, key, () => client.uploadPart(key, id, piece, number)));
    }
    await ask(context, key, () => client.completeMultipartUpload(key, id, parts));
  } catch (error) {
    await client.abortMultipartUpload(key, id).catch(() => undefined); // the first error matters more
    throw error;
  }
  await requireSame(context, key, path, size);
}

/** Reads an object back. @throws BackupError if a byte differs */
async function requireSame(context: Context, key: string, path: string, size: number): Promise<void> {
  const [stored, local] = [createHash("sha256"), createHash("sha256")];
  for await (const chunk of bytesOf(context, key, size)) stored.update(chunk);
  for await (const chunk of createReadStream(path)) local.update(chunk as Buffer);
  if (stored.digest("hex") === local.digest("hex")) return;
  await context.client.deleteObject(key).catch(() => false);
  throw new BackupError(`${key}: the store at ${context.host} does not have the bytes that were sent`);
}

async function* bytesOf(context: Context, key: string, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += pieceBytesMin) {
    const next = Math.min(at + pieceBytesMin, size);
    yield await ask(context, key, async () => {
      const piece = new Uint8Array(await (await context.client.getObjectRaw(key, false, at, next)).arrayBuffer());
      if (piece.length !== next - at) throw new Error(`it sends ${piece.length} bytes of ${next - at}`);
      return piece;
    });
  }
}

async function sizeOf(client: S3mini, key: string): Promise<number> {
  try {
    return await client.getContentLength(key);
  } catch (error) {
    throw (error as Error).cause ?? error; // the error says only that the request failed
  }
}

async function* piecesOf(path: string, pieceBytes: number): AsyncGenerator<{ piece: Uint8Array; number: number }> {
  const file = await open(path);
  try {
    for (let number = 1; ; number++) {
      const piece = Buffer.alloc(pieceBytes);
      const { bytesRead } = await file.read(piece, 0, pieceBytes, (number - 1) * pieceBytes);
      if (bytesRead > 0) yield { piece: piece.subarray(0, bytesRead), number };
      if (bytesRead < pieceBytes) return;
    }
  } finally {
    await file.close();
  }
}

function codeOf(error: unknown): string {
  const { name, code, cause } = error as { name: string; code?: string; cause?: { code?: string; cause?: { code?: string } } };
  return name === "TimeoutError" ? "time-out" : (cause?.cause?.code ?? cause?.code ?? code ?? (error as Error).message);
}

function refusalOf(error: unknown): string {
  const { status, serviceCode } = error as { status: number; serviceCode?: string };
  return `${status} ${serviceCode ?? ""}`.trim();
}

/** The bounds of what a store answers: its size, its shape, and the pages of a list. A page has 1,000 names. */
const textBytesMax = 4 << 20;
const pagesMax = 100;
/** How long (ms) an idle connection is kept. */
const idleMs = 4_000;
/** A list has elements in four levels. */
const depthMax = 8;

/** The answer does not come from an S3 store, but for example from a proxy. The message is one line. */
class ForeignAnswerError extends Error {}

/**
 * Returns a `fetch` for one store, with a time-out for each request. It reads an answer whole, up to a bound, and refuses one that no S3 store
 * would send before its XML is parsed.
 */
function boundedFetch({ requestMs, pieceMs }: S3Timing): typeof fetch {
  let pages = 0;
  const client = openHttpClient({ idleMs });
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { href } = url;
    const isRange = new Headers(init?.headers).has("range");
    const isNextPage = href.includes("continuation-token=");
    pages = isNextPage ? pages + 1 : 0;
    if (pages > pagesMax) throw new ForeignAnswerError(`a list of more than ${pagesMax} pages`);
    const ms = isRange || href.includes("partNumber=") ? pieceMs : requestMs;
    const { response, bytes } = await exchange(url, client, init, { ms, bytesMax: isRange ? pieceBytesMin : textBytesMax });
    const { statusCode: status = 0, statusMessage: statusText = "" } = response;
    const headers = new Headers(Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(", ")]));
    const isOk = status >= 200 && status < 300;
    if (status === 204 || init?.method === "HEAD") return new Response(null, { status, statusText, headers });
    if (isRange && isOk) return new Response(bytes, { status, statusText, headers });
    const text = bytes.toString("utf8");
    const isXml = isShallowXml(text);
    if (isOk && text.trim() !== "" && !isXml) throw new ForeignAnswerError(kindOf(text));
    return new Response(isXml ? text : "", { status, statusText, headers });
  };
}

/** Sends a request, whose body is a text or bytes, and reads its answer. After `ms` it rejects with a TimeoutError. */
async function exchange(url: URL, client: HttpClient, init: RequestInit = {}, { ms, bytesMax }: { ms: number; bytesMax: number }) {
  const signal = AbortSignal.timeout(ms);
  const { method = "GET", body } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  try {
    const response = await client.send({ url, method, headers, body: (body ?? undefined) as string | Uint8Array | undefined, signal });
    return { response, bytes: await readBounded(response, bytesMax) };
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : error;
  }
}

async function readBounded(body: IncomingMessage, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if ((bytes += chunk.length) > bytesMax) throw new ForeignAnswerError(`an answer of more than ${bytesMax >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function kindOf(text: string): string {
  return /^\s*<(!doctype html|html)/i.test(text) ? "a page of HTML" : "no XML of S3";
}

/** Whether each element is closed and few are nested: the library's parser takes very long for other texts. */
function isShallowXml(text: string): boolean {
  if (!/^\s*<(\?xml|ListBucketResult|InitiateMultipartUploadResult|CompleteMultipartUploadResult|Error)\b/.test(text)) return false;
  const opened: string[] = [];
  for (const [, mark, name = "", rest = ""] of text.matchAll(/<([/?]?)([\w:.-]{1,100})([^<>]*)>/g)) {
    if (mark === "?" || (mark === "" && rest.endsWith("/"))) continue;
    if (mark === "") {
      if (opened.push(name) > depthMax) return false;
    } else if (opened.pop() !== name) return false;
  }
  return opened.length === 0;
}

/** Runs a request. Throws ForeignAnswerError if the library cannot read the answer; passes on network errors and refusals. */
async function foreignUnlessKnown<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const { name, code, status, cause } = error as { name: string; code?: string; status?: number; cause?: unknown };
    const isKnown = error instanceof ForeignAnswerError || status !== undefined || code !== undefined || cause !== undefined;
    if (isKnown || name === "TimeoutError" || name === "AbortError") throw error;
    throw new ForeignAnswerError((error as Error).message.split("\n")[0]!.slice(0, 200), { cause: error });
  }
}
