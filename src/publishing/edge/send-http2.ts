import { constants, type ServerHttp2Stream } from "node:http2";
import { busy, busyText, sizeOf, type Answer, type Body } from "./answer.ts";
import type { Bodies } from "./bodies.ts";
import type { Http2Bounds } from "./http2-bounds.ts";
import type { ByteRange } from "./ranges.ts";
import type { Sent } from "./send.ts";
import type { StreamedBody } from "../storefront/storefront.ts";

export type Http2Parts = { bodies: Bodies; bounds: Http2Bounds; hotFileBytesMax: number };

/** Reads at most `bytes` bytes of a file, starting at `position`. */
type Read = (position: number, bytes: number) => Buffer | Promise<Buffer>;

/**
 * Sends an answer over HTTP/2. Reads a piece of the body only after the client has taken the previous one: if the client stops reading, the
 * edge holds one piece per stream. Returns a promise only if the answer is not sent at once.
 */
export function sendHttp2(answer: Answer, stream: ServerHttp2Stream, isHead: boolean, sent: Sent, parts: Http2Parts): void | Promise<void> {
  const { body } = answer;
  const visitor = { stream, sent };
  if (body === undefined || isHead) return begin(answer, visitor, undefined);
  if (Buffer.isBuffer(body)) return begin(answer, visitor, body);
  if (typeof body === "string") return begin(answer, visitor, Buffer.from(body));
  if ("chunks" in body) {
    const range = { start: 0, end: body.bytes - 1 };
    return sendPieces(answer, range, visitor, { bounds: parts.bounds, reserved: parts.bounds.reserve(stream, body.bytes) }, readerOf(body));
  }
  const { file, encoding } = body;
  const size = sizeOf(file, encoding);
  if (size > parts.hotFileBytesMax) return sendLarge(answer, body, visitor, parts);
  const range = rangeOf(body);
  const { start, end: last } = range;
  const reserved = parts.bounds.reserve(stream, last + 1 - start);
  const part = (whole: Buffer, position: number, bytes: number): Buffer => {
    if (whole.length !== size) throw new Error("the file does not have the size in its manifest");
    return bytes === size ? whole : copyOf(whole.subarray(position, position + bytes));
  };
  const hot = parts.bodies.hot(file, encoding);
  if (hot !== undefined && reserved === last + 1 - start) return begin(answer, visitor, part(hot, start, reserved));
  return sendPieces(answer, range, visitor, { bounds: parts.bounds, reserved }, (position, bytes) => {
    const cached = parts.bodies.hot(file, encoding);
    if (cached !== undefined) return part(cached, position, bytes);
    return parts.bodies.read(answer.host ?? "", file, encoding).then((whole) => part(whole, position, bytes));
  });
}

/** The first and the last byte to send. */
function rangeOf({ file, encoding, range }: Body): ByteRange {
  return range ?? { start: 0, end: sizeOf(file, encoding) - 1 };
}

type Visitor = { stream: ServerHttp2Stream; sent: Sent };
type Pieces = { bounds: Http2Bounds; reserved: number };

async function sendLarge(answer: Answer, body: Body, visitor: Visitor, { bodies, bounds }: Http2Parts): Promise<void> {
  const opened = await bodies.open(answer.host ?? "", body.file, body.encoding);
  if (opened === undefined) return begin(busy, visitor, Buffer.from(busyText));
  try {
    const range = rangeOf(body);
    const reserved = bounds.reserve(visitor.stream, range.end + 1 - range.start);
    await sendPieces(answer, range, visitor, { bounds, reserved }, (position, bytes) => opened.read(position, bytes));
  } finally {
    await opened.close();
  }
}

/** Reads the next bytes of a body that is made while it is sent, at most one chunk at a time. */
function readerOf({ chunks }: StreamedBody): Read {
  const made = chunks()[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return async (_position, bytes) => {
    if (rest.length === 0) rest = (await made.next()).value as Buffer;
    const piece = rest.subarray(0, bytes);
    rest = rest.subarray(bytes);
    return piece;
  };
}

/** @param pieces `reserved`: the size of the first piece, which the bounds have counted already */
async function sendPieces(
  answer: Answer,
  { start: first, end: last }: ByteRange,
  visitor: Visitor,
  pieces: Pieces,
  read: Read,
): Promise<void> {
  const { stream, sent } = visitor;
  const { bounds } = pieces;
  for (let position = first; position <= last;) {
    const piece = await read(position, position === first ? pieces.reserved : bounds.reserve(stream, last + 1 - position));
    position += piece.length;
    if (position > last && !stream.headersSent) return begin(answer, visitor, piece);
    if (isGone(stream)) return void (sent.isCut = true);
    if (!stream.headersSent) stream.respond(headerList(answer));
    sent.status = answer.status;
    sent.bytes += piece.length;
    if (position > last) return end(stream, piece);
    await write(stream, piece);
    if (isGone(stream)) return void (sent.isCut = true);
    bounds.sent(stream);
  }
  begin(answer, visitor, undefined);
}

/** Sends an answer whose body is in memory. */
function begin(answer: Answer, { stream, sent }: Visitor, body: Buffer | undefined): void {
  if (isGone(stream)) return void (sent.isCut = true);
  const isEmpty = body === undefined || body.length === 0;
  sent.status = answer.status;
  sent.bytes = body?.length ?? 0;
  stream.respond(headerList(answer), { endStream: isEmpty });
  end(stream, body);
}

/** Returns names and values in turn. Given an object of headers, Node would copy it into a slower one for each answer. */
function headerList({ status, headers }: Answer): string[] {
  const list = [":status", String(status)];
  for (const name in headers) list.push(lowerCase(name), String(headers[name]));
  return list;
}

/** Holds the few names that the edge sends. */
const lowerNames = new Map<string, string>();

function lowerCase(name: string): string {
  const known = lowerNames.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  lowerNames.set(name, lower);
  return lower;
}

/** The most bytes of a request body that are read, and the most frames: each costs as much as thousands of bytes. */
const bodyBytesMax = 16 * 1024;
const bodyFramesMax = 64;

/**
 * Reads and drops a small request body, so that the client can end its stream normally, and errors in its frames are reported as RFC 9113
 * asks (sections 6.1 and 8.1). If more arrives, RST_STREAM tells the client to stop (section 8.1).
 */
export function dropBody(stream: ServerHttp2Stream, bounds: Pick<Http2Bounds, "refuse">): void {
  if (stream.endAfterHeaders) return;
  let [bytes, frames] = [0, 0];
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    frames += 1;
    if (stream.closed) return;
    if (bytes > bodyBytesMax) stream.close(stream.writableEnded ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else if (frames > bodyFramesMax) bounds.refuse(stream);
  });
}

/** Ends the answer, unless it has ended because it has no body. */
function end(stream: ServerHttp2Stream, body: Buffer | undefined): void {
  if (!stream.writableEnded) stream.end(body);
}

/** Resolves when the client has taken the piece, or the stream has closed. */
async function write(stream: ServerHttp2Stream, piece: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.write(piece, () => resolve());
  await promise;
}

/** Copies to a separate buffer: a slice would keep the whole file in memory, even after the cache has dropped it. */
function copyOf(part: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(part.length);
  part.copy(copy);
  return copy;
}

function isGone(stream: ServerHttp2Stream): boolean {
  return stream.closed || stream.destroyed;
}
