import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { invalidAt, Problem } from "../problem.ts";
import type { Exchange } from "./exchange.ts";
import { requireBoundedJson } from "./json-bounds.ts";
import { requireMediaType } from "./negotiation.ts";
import type { DescribedOperation } from "./operation.ts";
import { isStopped, stoppedEvent } from "./parser-bounds.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { int64Number } from "./value-checks.ts";
import { gatherBody } from "./whole-body.ts";

/** Reserves the bytes of bodies within the bounds of the process. */
export type ReserveBytes = Pick<RequestBounds, "takeBytes">;

/** The most bytes of a JSON body if the operation declares no other bound (specification 1.3). */
const jsonBytesMax = 65_536;
/** The same for operations without a scope, and for those that take a password. */
export const smallBytesMax = 4_096;
/** How much more of a refused body is read and discarded before the connection is cut, and for how long. */
export const drainBytesMax = 64 * 1_048_576;
export const drainTimeMaxMs = 30_000;
const draining = new WeakSet<IncomingMessage>();

/** Requests whose client waits for `100 Continue` before it sends the body (RFC 9110, 10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Delays the `100 Continue` until the body is read, so that a refusal comes before the client sends the body. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** The body of a request that has none. Node closes the stream of such a request at once (`optimizeEmptyRequests`). */
const none = Promise.resolve(Buffer.alloc(0));

/**
 * Reads a body.
 *
 * @param onBytes called with the number of bytes of each piece; a Problem that it returns ends the reading
 * @throws Problem `payload_too_large` beyond `bytesMax`, `invalid_request` if it ends early or has too many chunks
 */
function readBody(request: IncomingMessage, bytesMax: number, onBytes?: (count: number) => Problem | undefined): Promise<Buffer> {
  if (!announcesBody(request.headers)) return none;
  waiting.get(request)?.writeContinue();
  return new Promise((resolve, reject) => {
    const isBounded = Number(request.headers["content-length"]) <= bytesMax && onBytes === undefined && !waiting.has(request);
    if (isBounded && gatherBody(request, resolve, () => reject(endedEarly()))) return undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      const refusal = length > bytesMax ? tooLarge(bytesMax) : onBytes?.(chunk.length);
      if (!refusal) return void chunks.push(chunk);
      stop();
      reject(refusal);
    };
    const end = (): void => {
      stop();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length));
    };
    const cut = (): void => {
      stop();
      reject(endedEarly());
    };
    const refuse = (): void => {
      stop();
      reject(tooManyChunks());
    };
    const stop = (): void => void request.off("data", take).off("end", end).off("error", cut).off("close", cut).off(stoppedEvent, refuse);
    if (isStopped(request)) return refuse();
    request.on("data", take).on("end", end).on("error", cut).on("close", cut).on(stoppedEvent, refuse);
    return undefined;
  });
}

/**
 * A body as a stream.
 *
 * @throws Problem `payload_too_large` beyond `bytesMax`, `invalid_request` if it ends early or has too many chunks
 */
export async function* streamBody(request: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  if (!announcesBody(request.headers)) return;
  waiting.get(request)?.writeContinue();
  if (isStopped(request)) throw tooManyChunks();
  // the error ends the iteration; without a listener it would end the process
  const refuse = (): void => void (request.listenerCount("error") > 0 && request.emit("error", tooManyChunks()));
  request.on(stoppedEvent, refuse);
  let length = 0;
  try {
    // The stream outlives a refusal, so that the client can finish and read its answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Problem ? error : endedEarly();
  } finally {
    request.off(stoppedEvent, refuse);
  }
}

/**
 * Parses a JSON body (RFC 8259); an empty one is undefined.
 *
 * @throws Problem `invalid_request` if the body is not JSON in UTF-8, nests too deep, or has too many values
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  requireBoundedJson(bytes);
  if (!isUtf8(bytes)) throw invalidAt("body", "must be UTF-8");
  const text = bytes.toString("utf8");
  try {
    return parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (error) {
    const why = (error as Error).message.slice(0, 200).toWellFormed();
    throw invalidAt("body", "must be JSON", `The body is not JSON: ${why}.`);
  }
}

/** Doubles cannot distinguish the ends of int64 from the integers beyond them, which round to the same number. Their text can. */
function parse(text: string): unknown {
  if (!text.includes("922337203685477")) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || Math.abs(value) !== 2 ** 63 || !/^-?\d+$/.test(context?.source ?? "")) return value;
    return int64Number(BigInt(context?.source ?? "")) ?? value * 2;
  });
}

function endedEarly(): Problem {
  return invalidAt("body", "must be as long as it was announced", "The body ended early.");
}

function tooManyChunks(): Problem {
  const details = [{ path: "body", message: "must come in larger chunks" }];
  const headers = { connection: "close" };
  return new Problem("invalid_request", "The body comes in too many small chunks.", { details, headers });
}

/** Whether a request says that it carries a body (RFC 9112, 6). */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || announcedBytes(headers) > 0;
}

/** The length of a body that its request announces. Default: 0. */
export function announcedBytes(headers: IncomingHttpHeaders): number {
  return Number(headers["content-length"] ?? 0);
}

/** Whether a request says anything about its body, if only that it is empty. */
function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || headers["content-length"] !== undefined;
}

/** The most bytes that the body of an operation may have. */
export function bodyBytesMaxOf({ bodyBytesMax, upload, scope }: Pick<DescribedOperation, "bodyBytesMax" | "upload" | "scope">): number {
  return upload?.bytesMax ?? bodyBytesMax ?? (scope === null ? smallBytesMax : jsonBytesMax);
}

/** The refusal of a body that is too large. */
export function tooLarge(bytesMax: number): Problem {
  return new Problem("payload_too_large", `The body is larger than ${shownSize(bytesMax)}.`);
}

/** A number of bytes as people read it: `64 KiB`. */
export function shownSize(bytes: number): string {
  const [size, unit] = bytes < 1_048_576 ? [bytes / 1_024, "KiB"] : [bytes / 1_048_576, "MiB"];
  return `${size} ${unit}`;
}

/**
 * Lets a client that is still sending finish, because a reset connection would lose its answer. Cuts the connection when the client
 * exceeds `drainBytesMax` or `drainTimeMaxMs`.
 */
export function drain(request: IncomingMessage): void {
  if (waiting.has(request) || request.complete || draining.has(request)) return;
  draining.add(request);
  let length = 0;
  const cut = (): void => void request.socket.destroy();
  const timer = setTimeout(cut, drainTimeMaxMs).unref();
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > drainBytesMax) cut();
  });
  request
    .on("close", () => clearTimeout(timer))
    .on("end", () => clearTimeout(timer))
    .on("error", () => undefined);
}

/**
 * Receives the body of a request into memory, within the bounds of its operation and of the process.
 *
 * @throws Problem `payload_too_large`, then `unsupported_media_type`, then `unavailable` while other bodies take up too much memory
 */
export function receiveBody(exchange: Exchange, requests: ReserveBytes, mediaTypes: readonly string[], bytesMax: number): Promise<Buffer> {
  const { request, headers } = exchange;
  requireBodyWithin(headers, bytesMax);
  if (headers["transfer-encoding"] !== undefined) {
    return readBody(request, bytesMax, (count) => requests.takeBytes(exchange, count)).then((bytes) => {
      // the size comes first, and the size of a chunked body is known only now
      if (bytes.length > 0) requireMediaType(mediaTypes, headers);
      return bytes;
    });
  }
  if (hasBody(headers)) requireMediaType(mediaTypes, headers);
  const refusal = requests.takeBytes(exchange, announcedBytes(headers));
  if (refusal) throw refusal;
  return readBody(request, bytesMax);
}

/** Refuses a body by the length that its headers announce. @throws Problem `payload_too_large` */
export function requireBodyWithin(headers: Exchange["headers"], bytesMax: number): void {
  if (announcedBytes(headers) > bytesMax) throw tooLarge(bytesMax);
}
