import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Problem } from "../problem.ts";
import { int64Number } from "./int64.ts";

/** Bytes of a JSON body, at most (decisions, part 1). */
export const jsonBytesMax = 1_048_576;
/** After a refusal, how much more of a body is taken and thrown away before the connection is cut, and for how long. */
const drainBytesMax = 64 * 1_048_576;
const drainTimeMaxMs = 30_000;

/** Requests whose client waits for `100 Continue` before it sends the body (RFC 9110, 10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Holds back the `100 Continue` until the body is read, so that a refusal comes before the body does. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Reads a body. @throws Problem `payload_too_large` beyond `bytesMax`, `invalid_request` where it ends early */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  waiting.get(request)?.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= bytesMax) return void chunks.push(chunk);
      stop();
      reject(tooLarge(bytesMax));
    };
    const end = (): void => {
      stop();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length));
    };
    const cut = (): void => {
      stop();
      reject(new Problem("invalid_request", "The body ended early."));
    };
    const stop = (): void => void request.off("data", take).off("end", end).off("error", cut).off("close", cut);
    request.on("data", take).on("end", end).on("error", cut).on("close", cut);
  });
}

/** A body as it arrives. Raises `payload_too_large` beyond `bytesMax`, `invalid_request` where it ends early. */
export async function* streamBody(request: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  waiting.get(request)?.writeContinue();
  let length = 0;
  try {
    // The stream outlives a refusal, so that the client can finish and read its answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Problem ? error : new Problem("invalid_request", "The body ended early.");
  }
}

/**
 * Parses a JSON body (RFC 8259); an empty one is undefined.
 *
 * @throws Problem `invalid_request` for what is not JSON in UTF-8
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new Problem("invalid_request", "The body is not UTF-8.");
  const text = bytes.toString("utf8");
  try {
    return parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (error) {
    throw new Problem("invalid_request", `The body is not JSON: ${(error as Error).message.slice(0, 200).toWellFormed()}.`);
  }
}

/** As numbers, the ends of int64 are also what the integers beyond them round to: those are told apart by their text. */
function parse(text: string): unknown {
  if (!text.includes("922337203685477")) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || Math.abs(value) !== 2 ** 63 || !/^-?\d+$/.test(context?.source ?? "")) return value;
    return int64Number(BigInt(context?.source ?? "")) ?? value * 2;
  });
}

/** Whether a request says that it carries a body (RFC 9112, 6). */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The refusal of a body that is too large. */
export function tooLarge(bytesMax: number): Problem {
  return new Problem("payload_too_large", `The body is larger than ${bytesMax} bytes.`);
}

/**
 * Lets a client that is still sending finish, so that it can read its answer instead of meeting a reset connection;
 * one that sends on and on is cut off.
 */
export function drain(request: IncomingMessage): void {
  if (waiting.has(request) || request.complete) return;
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
