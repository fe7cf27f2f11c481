import { once } from "node:events";
import { IncomingMessage, type ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { pipeline } from "node:stream/promises";
import { sizeOf, text, type Answer, type Body } from "./answer.ts";
import type { Bodies } from "./bodies.ts";

export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

const busyText = "Too many large files are being read. Try again in a moment.";
const busy: Answer = { status: 503, headers: { ...text(503, busyText).headers, "Retry-After": 1 } };

/** Sends an answer over either protocol. A body that the client sends is not read: the connection or stream ends with the answer. */
export async function sendAnswer(
  answer: Answer,
  request: Incoming,
  response: Outgoing,
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

async function sendLarge(answer: Answer, body: Body, request: Incoming, response: Outgoing, bodies: Bodies): Promise<void> {
  const { file, encoding, range } = body;
  const opened = await bodies.open(answer.host ?? "", file, encoding, range?.start ?? 0, range?.end ?? sizeOf(file, encoding) - 1);
  if (opened === undefined) return finish(busy, request, response, busyText);
  try {
    if (isGone(response)) return;
    begin(answer, request, response);
    await pipeline(opened.bytes, response as NodeJS.WritableStream);
    endStream(request, response);
  } finally {
    await opened.close();
  }
}

function finish(answer: Answer, request: Incoming, response: Outgoing, body?: string | Buffer): void {
  if (isGone(response)) return;
  begin(answer, request, response);
  if (request instanceof IncomingMessage) {
    if (unsent.push({ response, body }) === 1) setImmediate(sendAll);
    return;
  }
  if (body === undefined) response.end();
  else response.end(body);
  endStream(request, response);
}

type Unsent = { response: Outgoing; body: string | Buffer | undefined };

/** Answers that leave together: each write to a client that sleeps wakes it, which costs more than all else, and the first one wakes it for several. */
let unsent: Unsent[] = [];

function sendAll(): void {
  const answers = unsent;
  unsent = [];
  for (const { response, body } of answers) if (!isGone(response)) (response as ServerResponse).end(body);
}

function begin({ status, headers }: Answer, request: Incoming, response: Outgoing): void {
  const closes = request instanceof IncomingMessage && (hasBody(request) || status === 421 || status === 400);
  (response as ServerResponse).writeHead(status, closes ? { ...headers, Connection: "close" } : headers);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** On HTTP/2 a client that still sends is told that nobody reads it (RFC 9113, section 8.1). */
function endStream(request: Incoming, response: Outgoing): void {
  if (request instanceof IncomingMessage || request.stream === undefined || request.stream.endAfterHeaders) return;
  const { stream } = response as Http2ServerResponse;
  if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR);
  else
    void once(stream, "finish").then(
      () => stream.close(constants.NGHTTP2_NO_ERROR),
      () => undefined,
    );
}

function isGone(response: Outgoing): boolean {
  const { stream } = response as Http2ServerResponse;
  return response.writableEnded || (response as ServerResponse).destroyed || stream?.destroyed;
}
