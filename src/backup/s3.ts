import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { stagingStream } from "../platform/files.ts";
import { pipeline } from "node:stream/promises";
import type { S3mini } from "s3mini";
import { BackupError } from "./manifest.ts";
import { boundedFetch, ForeignAnswerError, foreignUnlessKnown } from "./s3-answers.ts";

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
const pieceBytesMin = 8 << 20; // also what an answer may have: see s3-answers.ts
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

type Client = S3mini;

type Context = { client: Client; place: S3Place; host: string; timing: S3Timing };

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
    const parts: Awaited<ReturnType<Client["uploadPart"]>>[] = [];
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

async function sizeOf(client: Client, key: string): Promise<number> {
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
