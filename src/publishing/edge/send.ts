import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { busy, busyText, sizeOf, type Answer, type Body } from "./answer.ts";
import { hasBody } from "../../platform/http/bodies.ts";
import type { Bodies, OpenBody } from "./bodies.ts";

const chunkBytes = 64 * 1024;

/** Sends an answer over HTTP/1.1. If the request has a body, the connection closes after the answer, and the body is not read. */
export async function sendAnswer(
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
  bodies: Bodies,
  hotFileBytesMax: number,
): Promise<void> {
  if (answer.body === undefined || request.method === "HEAD") return finish(answer, request, response);
  if (typeof answer.body === "string") return finish(answer, request, response, answer.body);
  const { file, encoding, range } = answer.body;
  if (sizeOf(file, encoding) > hotFileBytesMax) return sendLarge(answer, answer.body, request, response, bodies);
  const whole = bodies.hot(file, encoding) ?? (await bodies.read(file, encoding));
  if (whole.length !== sizeOf(file, encoding)) throw new Error("the file is not of the size that its manifest says");
  return finish(answer, request, response, range === undefined ? whole : whole.subarray(range.start, range.end + 1));
}

async function sendLarge(answer: Answer, body: Body, request: IncomingMessage, response: ServerResponse, bodies: Bodies): Promise<void> {
  const { file, encoding, range } = body;
  const opened = await bodies.open(answer.host ?? "", file, encoding);
  if (opened === undefined) return finish(busy, request, response, busyText);
  try {
    if (isGone(response)) return;
    begin(answer, request, response);
    await pipeline(readChunks(opened, range?.start ?? 0, range?.end ?? sizeOf(file, encoding) - 1), response);
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

function finish(answer: Answer, request: IncomingMessage, response: ServerResponse, body?: string | Buffer): void {
  if (isGone(response)) return;
  begin(answer, request, response);
  if (unsent.push({ response, body }) === 1) setImmediate(sendAll);
}

type Unsent = { response: ServerResponse; body: string | Buffer | undefined };

/**
 * Answers to write together, after this turn of the event loop. The first write wakes a sleeping client, which is the largest cost of an
 * answer, so that the client wakes once for several.
 */
let unsent: Unsent[] = [];

function sendAll(): void {
  const answers = unsent;
  unsent = [];
  for (const { response, body } of answers) if (!isGone(response)) response.end(body);
}

function begin({ status, headers }: Answer, request: IncomingMessage, response: ServerResponse): void {
  const closes = hasBody(request.headers) || status === 421 || status === 400;
  response.writeHead(status, closes ? { ...headers, Connection: "close" } : headers);
}

function isGone(response: ServerResponse): boolean {
  return response.writableEnded || response.destroyed;
}
