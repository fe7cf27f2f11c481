import type { IncomingMessage, ServerResponse } from "node:http";
import { stopParsing } from "./stop-parsing.ts";

/** The time that a client has to read a refusal after the service has stopped reading its body. */
const answerReadMs = 1_000;
/**
 * The most chunks of a body: 1,000, and one more for each 512 bytes. A chunk of one byte costs the server as much as a chunk of
 * thousands.
 */
const chunksFree = 1_000;
const bytesOfChunk = 512;
/** What a chunk takes besides its content: its length in hexadecimal, and two ends of lines. */
const headBytes = 12;
/** Emitted by a request when the bound stops its body. */
export const stoppedEvent = "stopped: too many chunks";
const stopped = new WeakSet<IncomingMessage>();

/** Whether a request's body had too many chunks, so that no more of it will arrive. */
export function isStopped(request: IncomingMessage): boolean {
  return stopped.has(request);
}

/**
 * Bounds the chunks of a body, whether or not anything reads it. Beyond the bound nothing more is read from the connection, which is
 * closed when the client has had time to read the answer. Call it before anything reads the body.
 *
 * @param onBytes called with the bytes that each chunk within the bound took
 * @returns whether the body is chunked
 */
export function boundChunks(request: IncomingMessage, response: ServerResponse, onBytes: (bytes: number) => void): boolean {
  if (request.headers["transfer-encoding"] === undefined) return false;
  const push = request.push.bind(request);
  let [chunks, bytes] = [0, 0];
  let gathered: Buffer[] = [];

  /** Passes on the chunks of one read as one piece, because a stream takes longer for each piece than Node's parser does. */
  function handOn(): void {
    if (gathered.length === 0 || stopped.has(request)) return;
    const piece = gathered.length === 1 ? gathered[0] : Buffer.concat(gathered);
    gathered = [];
    if (!push(piece)) request.socket.pause();
  }

  function stop(): void {
    const { socket } = request;
    stopped.add(request);
    stopParsing(socket);
    // Node closes right after the answer, and a close with unread bytes makes the client's system drop the answer
    socket.destroySoon = () => void socket.end();
    response.shouldKeepAlive = false;
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
    if (chunks > chunksFree + bytes / bytesOfChunk) {
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
