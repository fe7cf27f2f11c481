import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Bounds } from "../bounds.ts";
import type { Route } from "./exchange.ts";

/**
 * The most requests of one connection that wait for their answers. Node's parser begins all requests of one read, of up to 64 KiB,
 * before anything else runs.
 */
const unansweredMax = 32;

/** Counts the requests that a connection sends before it has read the earlier answers. */
export type Pipelines = {
  /** Counts a request until its answer has closed and the function that this returns is called. Call it before anything reads the body. */
  begin(request: IncomingMessage, response: ServerResponse): () => void;
  /** Resolves when all complete requests of a connection have been answered. */
  answered(socket: Duplex): Promise<void>;
};

/**
 * Bounds how many requests of a connection are in progress. The one that reaches the bound is the last one: the connection closes
 * after its answer, and no later request is processed, so the client may send those again (RFC 9112, 9.3.2).
 */
export function boundPipelines(bounds: Pick<Bounds, "refused">): Pipelines {
  const pipelines = new WeakMap<Duplex, Pipeline>();

  function begin(request: IncomingMessage, response: ServerResponse): () => void {
    const { socket } = request;
    let own = pipelines.get(socket);
    if (own === undefined) pipelines.set(socket, (own = { unanswered: 0, last: undefined, before: undefined }));
    const pipeline = own;
    const begun = { request, response };
    pipeline.unanswered += 1;
    pipeline.before = pipeline.last;
    pipeline.last = begun;
    if (pipeline.unanswered >= unansweredMax) endAfter(request, response);
    // Node answers a request for an upgrade (RFC 9110, 7.8) as a plain one, but drops the bytes that it has read after it
    else if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    return () => {
      pipeline.unanswered -= 1;
      if (pipeline.last === begun) pipeline.last = undefined;
      if (pipeline.before === begun) pipeline.before = undefined;
    };
  }

  function endAfter(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    bounds.refused("pipelined_requests");
    response.shouldKeepAlive = false;
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null) => {
      if (chunk === null) stopParsing(socket);
      return push(chunk);
    };
  }

  async function answered(socket: Duplex): Promise<void> {
    const { last, before } = pipelines.get(socket) ?? {};
    // answers go out in the order of their requests, of which only the last can be incomplete
    const awaited = last === undefined || last.request.complete ? last : before;
    if (awaited) await new Promise((resolve) => void awaited.response.once("close", resolve));
  }

  return { begin, answered };
}

type PendingExchange = { request: IncomingMessage; response: ServerResponse };
/** The requests of a connection that have no answer yet: how many they are, and the last two. */
type Pipeline = { unanswered: number; last: PendingExchange | undefined; before: PendingExchange | undefined };

/** The time that a client has to read a refusal after the service has stopped reading its body. */
const answerReadMs = 1_000;
/**
 * The most chunks of a body: 1,000, and one more for each 512 bytes. A chunk of one byte costs the server as much as a chunk of
 * thousands.
 */
const chunksFree = 1_000;
/** The same for operations that need no key and take few bytes, and for the rest of a body whose request has its answer. */
const chunksFreeOpen = 200;
const bytesOfChunk = 512;
/** What a chunk takes besides its content: its length in hexadecimal, and two ends of lines. */
const headBytes = 12;
/** Emitted by a request when the bound stops its body. */
export const stoppedEvent = "stopped: too many chunks";
const stoppedRequests = new WeakSet<IncomingMessage>();

/** Whether a request's body had too many chunks, so that no more of it will arrive. */
export function isStopped(request: IncomingMessage): boolean {
  return stoppedRequests.has(request);
}

/**
 * Bounds the chunks of a body, whether or not anything reads it. Beyond the bound nothing more is read from the connection, which is
 * closed when the client has had time to read the answer. Call it before anything reads the body.
 *
 * @param route `isOpen`: whether the request needs no key
 * @param onBytes called with the bytes that each chunk within the bound took
 * @returns whether the body is chunked
 */
export function boundChunks(
  request: IncomingMessage,
  response: ServerResponse,
  { isOpen }: Pick<Route, "isOpen">,
  onBytes: (bytes: number) => void,
): boolean {
  if (request.headers["transfer-encoding"] === undefined) return false;
  const push = request.push.bind(request);
  let [chunks, bytes] = [0, 0];
  let gathered: Buffer[] = [];

  /** Passes on the chunks of one read as one piece, because a stream takes longer for each piece than Node's parser does. */
  function handOn(): void {
    if (gathered.length === 0 || stoppedRequests.has(request)) return;
    const piece = gathered.length === 1 ? gathered[0] : Buffer.concat(gathered);
    gathered = [];
    if (!push(piece)) request.socket.pause();
  }

  function stop(): void {
    const { socket } = request;
    stoppedRequests.add(request);
    stopParsing(socket);
    // Node closes right after the answer, and a close with unread bytes makes the client's system drop the answer
    socket.destroySoon = () => void socket.end();
    response.shouldKeepAlive = false;
    // `shouldKeepAlive` comes too late for an answer whose head is already made
    if (response.writableFinished) socket.end();
    else response.once("finish", () => socket.end());
    // oxlint-disable-next-line no-underscore-dangle -- Node's own name; a request that asks for more would wake the socket
    request._read = () => undefined;
    request.emit(stoppedEvent);
    setTimeout(() => socket.destroy(), answerReadMs).unref();
  }

  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      handOn();
      return push(chunk);
    }
    chunks += 1;
    bytes += chunk.length;
    if (chunks > (isOpen || response.headersSent ? chunksFreeOpen : chunksFree) + bytes / bytesOfChunk) {
      stop();
      return false;
    }
    onBytes(chunk.length + headBytes);
    if (gathered.push(chunk) === 1) process.nextTick(handOn);
    return true;
  };
  // Once the answer has been sent, Node reads an unread body without counting its chunks, unless reading has begun
  request.read(0);
  return true;
}

/** Node's parser of a connection. Its callbacks are properties with numbers as names, which are constants of its class. */
type Parser = Record<number, unknown> & {
  constructor: Partial<Record<"kOnHeaders" | "kOnHeadersComplete" | "kOnBody" | "kOnMessageComplete", number>>;
};

const stoppedSockets = new WeakSet<Socket>();

/**
 * Makes Node's parser ignore everything else that it reads from a connection, which must then be closed: the rest of a body, and later
 * requests. Node has no public way to stop within one read, whose 64 KiB can contain 10,000 chunks or 3,600 requests.
 */
export function stopParsing(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket;
  if (!parser || stoppedSockets.has(socket)) return;
  stoppedSockets.add(socket);
  const { kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete } = parser.constructor;
  const numbers = [kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete].filter((number) => number !== undefined);
  const callbacks = numbers.map((number) => parser[number]);
  for (const number of numbers) parser[number] = undefined;
  // Node gives the parser to another connection after this event
  socket.once("close", () => numbers.forEach((number, i) => (parser[number] = callbacks[i])));
}
