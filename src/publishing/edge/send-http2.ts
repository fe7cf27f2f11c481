import { constants, type ServerHttp2Stream } from "node:http2";
import { busy, busyText, sizeOf, type Answer, type Body } from "./answer.ts";
import type { Bodies } from "./bodies.ts";
import type { Http2Bounds } from "./http2-bounds.ts";

export type Http2Parts = { bodies: Bodies; bounds: Http2Bounds; hotFileBytesMax: number };

/** Reads at most `bytes` bytes of a file, starting at `position`. */
type Read = (position: number, bytes: number) => Promise<Buffer>;

/**
 * Sends an answer over HTTP/2. Reads each piece of a body after the client has taken the one before, so that the edge holds only one piece
 * per stream for a client that stops reading.
 */
export async function sendHttp2(answer: Answer, stream: ServerHttp2Stream, isHead: boolean, parts: Http2Parts): Promise<void> {
  const { body } = answer;
  if (body === undefined || isHead) return begin(answer, stream, undefined);
  if (typeof body === "string") return begin(answer, stream, Buffer.from(body));
  const { file, encoding } = body;
  const size = sizeOf(file, encoding);
  if (size > parts.hotFileBytesMax) return sendLarge(answer, body, stream, parts);
  return sendPieces(answer, body, stream, parts.bounds, async (position, bytes) => {
    const whole = parts.bodies.hot(file, encoding) ?? (await parts.bodies.read(file, encoding));
    if (whole.length !== size) throw new Error("the file is not of the size that its manifest says");
    return bytes === size ? whole : copyOf(whole.subarray(position, position + bytes));
  });
}

async function sendLarge(answer: Answer, body: Body, stream: ServerHttp2Stream, { bodies, bounds }: Http2Parts): Promise<void> {
  const opened = await bodies.open(answer.host ?? "", body.file, body.encoding);
  if (opened === undefined) return begin(busy, stream, Buffer.from(busyText));
  try {
    await sendPieces(answer, body, stream, bounds, (position, bytes) => opened.read(position, bytes));
  } finally {
    await opened.close();
  }
}

async function sendPieces(answer: Answer, body: Body, stream: ServerHttp2Stream, bounds: Http2Bounds, read: Read): Promise<void> {
  const { start: first, end: last } = body.range ?? { start: 0, end: sizeOf(body.file, body.encoding) - 1 };
  for (let position = first; position <= last;) {
    const piece = await read(position, bounds.reserve(stream, last + 1 - position));
    position += piece.length;
    if (position > last && !stream.headersSent) return begin(answer, stream, piece);
    if (isGone(stream)) return;
    if (!stream.headersSent) stream.respond({ ":status": answer.status, ...answer.headers });
    if (position > last) return end(stream, piece);
    await write(stream, piece);
    if (isGone(stream)) return;
    bounds.sent(stream);
  }
  begin(answer, stream, undefined);
}

/** Sends an answer whose body is in memory. */
function begin({ status, headers }: Answer, stream: ServerHttp2Stream, body: Buffer | undefined): void {
  if (isGone(stream)) return;
  const isEmpty = body === undefined || body.length === 0;
  stream.respond({ ":status": status, ...headers }, { endStream: isEmpty });
  end(stream, body);
}

/** If a client sends more than this many bytes after its answer, the edge resets the stream. */
const bytesAfterAnswerMax = 16 * 1024;

/**
 * Ends the answer. The rest of a small body may still arrive, so that the client can end its stream normally, and errors in its
 * frames are reported as RFC 9113 asks (sections 6.1 and 8.1). If more arrives, RST_STREAM tells the client to stop (section 8.1).
 */
function end(stream: ServerHttp2Stream, body: Buffer | undefined): void {
  if (!stream.writableEnded) stream.end(body);
  if (stream.endAfterHeaders || stream.readableEnded) return;
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesAfterAnswerMax) stream.close(constants.NGHTTP2_NO_ERROR);
  });
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
