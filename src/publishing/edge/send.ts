import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import { pipeline } from "node:stream/promises";
import { hasBody } from "../../platform/http/bodies.ts";
import { openOutbox } from "../../platform/http/http1.ts";
import { headerLine, writeHead } from "../../platform/http/response-head.ts";
import type { StreamedBody } from "../storefront/storefront.ts";
import type { Bodies } from "./bodies.ts";
import { sizeOf, text, type Answer, type Body, type ByteRange } from "./files.ts";
import type { Http2Bounds } from "./http2-bounds.ts";
import { shownTo } from "./refusal-pages.ts";
import type { Visit } from "./visits.ts";

const chunkBytes = 64 * 1024;

/** The bytes of a body that is not one buffer. */
type Source = {
  /** The first and the last byte to send. */
  range: ByteRange;
  /** Whether the body is small enough to be sent as one buffer. */
  isSmall: boolean;
  /** Reads at most `bytes` bytes, starting at `position`. Returns a promise only if they are not in memory. */
  read(position: number, bytes: number): Buffer | Promise<Buffer>;
};

/** How the answer to one visit leaves, over HTTP/1.1 or HTTP/2. It notes in the visit what was sent. */
export type Channel = {
  /** Sends an answer whose body, if it has one, is in memory. */
  send(answer: Answer, body?: string | Buffer): void;
  /** Reads and sends a body. Returns a promise only if it has to wait, for the disk or for the visitor. */
  stream(answer: Answer, source: Source): void | Promise<void>;
  /** Whether the head of an answer was sent. */
  hasBegun(): boolean;
  /** Cuts an answer off. */
  cut(): void;
  /** Whether the visitor has left. */
  isGone(): boolean;
};

/** Sends an answer. Returns a promise only if its body is not in memory, or if it is sent piece by piece. */
export function sendAnswer(found: Answer, visit: Visit, channel: Channel, bodies: Bodies): void | Promise<void> {
  const answer = shownTo(visit, found);
  const { body, host = "" } = answer;
  if (body === undefined || visit.method === "HEAD") return channel.send(answer);
  if (typeof body === "string" || Buffer.isBuffer(body)) return channel.send(answer, body);
  if ("chunks" in body) return sendMade(answer, body, channel);
  if (!bodies.isSmall(body.file, body.encoding)) return sendLarge(answer, body, channel, bodies);
  return channel.stream(answer, smallFile(body, host, bodies));
}

/** Sends a body that is made while it is sent, at most one chunk at a time. */
async function sendMade(answer: Answer, { bytes: length, chunks }: StreamedBody, channel: Channel): Promise<void> {
  const made = chunks()[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const read = async (_position: number, bytes: number): Promise<Buffer> => {
    if (rest.length === 0) rest = (await made.next()).value as Buffer;
    const piece = rest.subarray(0, bytes);
    rest = rest.subarray(bytes);
    return piece;
  };
  try {
    await channel.stream(answer, { range: { start: 0, end: length - 1 }, isSmall: false, read });
  } finally {
    await made.return?.();
  }
}

const busyText = "Too many large files are being read. Try again in a moment.";
const refusedFile = text(503, busyText);
const tooBusy: Answer = { ...refusedFile, headers: { ...refusedFile.headers, "Retry-After": 1 } };

async function sendLarge(answer: Answer, body: Body, channel: Channel, bodies: Bodies): Promise<void> {
  const opened = await bodies.open(answer.host ?? "", body.file, body.encoding);
  if (opened === undefined) return channel.send(tooBusy, busyText);
  try {
    await channel.stream(answer, { range: rangeOf(body), isSmall: false, read: (position, bytes) => opened.read(position, bytes) });
  } finally {
    await opened.close();
  }
}

/** Looks for the file in the cache at each piece, so that no stream keeps a file in memory that the cache has dropped. */
function smallFile(body: Body, host: string, bodies: Bodies): Source {
  const { file, encoding } = body;
  const size = sizeOf(file, encoding);
  const part = (whole: Buffer, position: number, bytes: number): Buffer => {
    if (whole.length !== size) throw new Error("the file does not have the size in its manifest");
    return bytes === size ? whole : copyOf(whole.subarray(position, position + bytes));
  };
  const read = (position: number, bytes: number): Buffer | Promise<Buffer> => {
    const hot = bodies.hot(file, encoding);
    if (hot !== undefined) return part(hot, position, bytes);
    return bodies.read(host, file, encoding).then((whole) => part(whole, position, bytes));
  };
  return { range: rangeOf(body), isSmall: true, read };
}

function rangeOf({ file, encoding, range }: Body): ByteRange {
  return range ?? { start: 0, end: sizeOf(file, encoding) - 1 };
}

/** Copies to a separate buffer: a slice would keep the whole file in memory, even after the cache has dropped it. */
function copyOf(part: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(part.length);
  part.copy(copy);
  return copy;
}

/** Holds at most one answer for each request in flight. */
const sendSoon = openOutbox();

/** Sends over HTTP/1.1. If the request has a body, the connection closes after the answer, and the body is not read. */
export function overHttp1(request: IncomingMessage, response: ServerResponse, visit: Visit): Channel {
  function begin({ status, headers }: Answer): void {
    visit.status = status;
    if (hasBody(request.headers) || status === 421 || status === 400) response.shouldKeepAlive = false;
    let lines = "";
    for (const name in headers) lines += headerLine(name, headers[name] ?? "");
    writeHead(request, response, status, lines);
  }

  function send(answer: Answer, body?: string | Buffer): void {
    if (isGone()) return void (visit.isCut = true);
    begin(answer);
    if (body !== undefined) visit.bytes = Buffer.byteLength(body);
    sendSoon({ response, body, encoding: "utf8" });
  }

  async function pipe(answer: Answer, source: Source): Promise<void> {
    if (isGone()) return void (visit.isCut = true);
    begin(answer);
    await pipeline(chunksOf(source), response);
  }

  async function* chunksOf(source: Source): AsyncGenerator<Buffer> {
    const { start, end } = source.range;
    for (let position = start; position <= end;) {
      const chunk = await source.read(position, Math.min(chunkBytes, end + 1 - position));
      position += chunk.length;
      yield chunk;
      visit.bytes += chunk.length;
    }
  }

  const isGone = (): boolean => response.writableEnded || response.destroyed;
  return {
    send,
    stream(answer, source) {
      if (!source.isSmall) return pipe(answer, source);
      const { start, end } = source.range;
      const whole = source.read(start, end + 1 - start);
      return whole instanceof Promise ? whole.then((bytes) => send(answer, bytes)) : send(answer, whole);
    },
    hasBegun: () => response.headersSent,
    cut: () => void response.destroy(),
    isGone: () => response.destroyed,
  };
}

/**
 * Sends over HTTP/2. Reads a piece of the body only after the client has taken the previous one: if the client stops reading, the edge holds
 * one piece per stream.
 */
export function overHttp2(stream: ServerHttp2Stream, visit: Visit, bounds: Http2Bounds): Channel {
  function send(answer: Answer, body?: string | Buffer): void {
    if (isGone()) return void (visit.isCut = true);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    visit.status = answer.status;
    visit.bytes = bytes?.length ?? 0;
    stream.respond(headerList(answer), { endStream: visit.bytes === 0 });
    end(bytes);
  }

  /** @param first the first piece, which the bounds have counted already */
  async function sendPieces(answer: Answer, source: Source, first: Buffer | Promise<Buffer>): Promise<void> {
    const { start, end: last } = source.range;
    let piece = await first;
    for (let position = start; ; piece = await source.read(position, bounds.reserve(stream, last + 1 - position))) {
      position += piece.length;
      const isLast = position > last;
      if (isLast && !stream.headersSent) return send(answer, piece);
      if (isGone()) return void (visit.isCut = true);
      if (!stream.headersSent) stream.respond(headerList(answer));
      visit.status = answer.status;
      visit.bytes += piece.length;
      if (isLast) return end(piece);
      await write(stream, piece);
      if (isGone()) return void (visit.isCut = true);
      bounds.sent(stream);
    }
  }

  /** Ends the answer, unless it has ended because it has no body. */
  function end(body: Buffer | undefined): void {
    if (!stream.writableEnded) stream.end(body);
  }

  const isGone = (): boolean => stream.closed || stream.destroyed;
  return {
    send,
    stream(answer, source) {
      const { start, end: last } = source.range;
      const length = last + 1 - start;
      if (length === 0) return send(answer);
      const reserved = bounds.reserve(stream, length);
      const first = source.read(start, reserved);
      return first instanceof Promise || reserved < length ? sendPieces(answer, source, first) : send(answer, first);
    },
    hasBegun: () => stream.headersSent,
    cut: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    isGone: () => stream.destroyed,
  };
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

/** Resolves when the client has taken the piece, or the stream has closed. */
async function write(stream: ServerHttp2Stream, piece: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.write(piece, () => resolve());
  await promise;
}

/** The most bytes of a request body that are read, and the most frames: each costs as much as thousands of bytes. */
const bodyBytesMax = 16 * 1024;
const bodyFramesMax = 64;

/**
 * Reads and drops a small request body, so that the client can end its stream normally, and errors in its frames are reported as RFC 9113
 * asks (sections 6.1 and 8.1). If more arrives, RST_STREAM tells the client to stop (section 8.1). A form gets the pieces.
 */
export function dropBody(
  stream: ServerHttp2Stream,
  bounds: Pick<Http2Bounds, "refuse">,
  form?: { take: (piece: Buffer) => void; end: (isWhole: boolean) => void },
): void {
  if (stream.endAfterHeaders) return form?.end(true);
  if (form) stream.once("end", () => form.end(true)).once("close", () => form.end(false));
  let [bytes, frames] = [0, 0];
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    frames += 1;
    if (stream.closed) return;
    if (bytes <= bodyBytesMax) form?.take(chunk);
    if (bytes > bodyBytesMax) stream.close(stream.writableEnded ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else if (frames > bodyFramesMax) bounds.refuse(stream);
  });
}
