import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { busy, busyText, sizeOf, type Answer, type Body } from "./answer.ts";
import { hasBody } from "../../platform/http/bodies.ts";
import { headerLine, writeHead } from "../../platform/http/response-head.ts";
import type { Bodies, OpenBody } from "./bodies.ts";

const chunkBytes = 64 * 1024;

/** The status that was sent (0 until then), the bytes sent of the body, and whether the visitor left before its end. */
export type Sent = { status: number; bytes: number; isCut: boolean };

/**
 * Sends an answer over HTTP/1.1. If the request has a body, the connection closes after the answer, and the body is not read. Returns a
 * promise only if the body is not in memory.
 */
export function sendAnswer(
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
  sent: Sent,
  { bodies, hotFileBytesMax }: { bodies: Bodies; hotFileBytesMax: number },
): void | Promise<void> {
  const visitor = { request, response, sent };
  if (answer.body === undefined || request.method === "HEAD") return finish(answer, visitor);
  if (typeof answer.body === "string" || Buffer.isBuffer(answer.body)) return finish(answer, visitor, answer.body);
  const { body } = answer;
  if ("chunks" in body) return sendStreamed(answer, body.chunks(), visitor);
  const { file, encoding } = body;
  if (sizeOf(file, encoding) > hotFileBytesMax) return sendLarge(answer, body, visitor, bodies);
  const hot = bodies.hot(file, encoding);
  if (hot !== undefined) return sendWhole(answer, body, visitor, hot);
  return bodies.read(answer.host ?? "", file, encoding).then((whole) => sendWhole(answer, body, visitor, whole));
}

function sendWhole(answer: Answer, { file, encoding, range }: Body, visitor: Visitor, whole: Buffer): void {
  if (whole.length !== sizeOf(file, encoding)) throw new Error("the file does not have the size in its manifest");
  finish(answer, visitor, range === undefined ? whole : whole.subarray(range.start, range.end + 1));
}

type Visitor = { request: IncomingMessage; response: ServerResponse; sent: Sent };

async function sendLarge(answer: Answer, body: Body, visitor: Visitor, bodies: Bodies): Promise<void> {
  const { file, encoding, range } = body;
  const opened = await bodies.open(answer.host ?? "", file, encoding);
  if (opened === undefined) return finish(busy, visitor, busyText);
  try {
    await sendStreamed(answer, readChunks(opened, range?.start ?? 0, range?.end ?? sizeOf(file, encoding) - 1), visitor);
  } finally {
    await opened.close();
  }
}

async function* readChunks(body: OpenBody, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position <= end;) {
    const chunk = await body.read(position, Math.min(chunkBytes, end + 1 - position));
    position += chunk.length;
    yield chunk;
  }
}

async function sendStreamed(answer: Answer, chunks: AsyncIterable<Buffer>, visitor: Visitor): Promise<void> {
  const { response, sent } = visitor;
  if (isGone(response)) return void (sent.isCut = true);
  begin(answer, visitor);
  await pipeline(counted(chunks, sent), response);
}

async function* counted(chunks: AsyncIterable<Buffer>, sent: Sent): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    sent.bytes += chunk.length;
  }
}

function finish(answer: Answer, visitor: Visitor, body?: string | Buffer): void {
  const { response, sent } = visitor;
  if (isGone(response)) return void (sent.isCut = true);
  begin(answer, visitor);
  if (body !== undefined) sent.bytes = Buffer.byteLength(body);
  if (unsent.push({ response, body }) === 1) setImmediate(sendAll);
}

type Unsent = { response: ServerResponse; body: string | Buffer | undefined };

/**
 * Answers to write together, after this turn of the event loop. The largest cost of an answer is that its write wakes a sleeping client;
 * several answers written together wake it once.
 */
let unsent: Unsent[] = [];

function sendAll(): void {
  const answers = unsent;
  unsent = [];
  for (const { response, body } of answers) if (!isGone(response)) response.end(body);
}

function begin({ status, headers }: Answer, { request, response, sent }: Visitor): void {
  sent.status = status;
  if (hasBody(request.headers) || status === 421 || status === 400) response.shouldKeepAlive = false;
  let lines = "";
  for (const name in headers) lines += headerLine(name, headers[name] ?? "");
  writeHead(request, response, status, lines);
}

function isGone(response: ServerResponse): boolean {
  return response.writableEnded || response.destroyed;
}
