import type { IncomingMessage } from "node:http";
import { openHttpClient, type HttpClient } from "../platform/http-client.ts";

/** The bounds of what a store answers: its size, its shape, and the pages of a list. */

type Timing = { requestMs: number; pieceMs: number };

/** A store takes pieces of any size, but this program asks for at most 8 MiB of one. A page of a list has 1,000 names. */
const pieceBytesMax = 8 << 20;
const textBytesMax = 4 << 20;
const pagesMax = 100;
/** How long (ms) an idle connection is kept. */
const idleMs = 4_000;
/** A list has elements in four levels. */
const depthMax = 8;

/** The answer does not come from an S3 store, but for example from a proxy. The message is one line. */
export class ForeignAnswerError extends Error {}

/**
 * Returns a `fetch` for one store, with a time-out for each request. It reads an answer whole, up to a bound, and refuses one that no S3 store
 * would send before its XML is parsed.
 */
export function boundedFetch({ requestMs, pieceMs }: Timing): typeof fetch {
  let pages = 0;
  const client = openHttpClient({ idleMs });
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { href } = url;
    const isRange = new Headers(init?.headers).has("range");
    const isNextPage = href.includes("continuation-token=");
    pages = isNextPage ? pages + 1 : 0;
    if (pages > pagesMax) throw new ForeignAnswerError(`a list of more than ${pagesMax} pages`);
    const ms = isRange || href.includes("partNumber=") ? pieceMs : requestMs;
    const { response, bytes } = await exchange(url, client, init, { ms, bytesMax: isRange ? pieceBytesMax : textBytesMax });
    const { statusCode: status = 0, statusMessage: statusText = "" } = response;
    const headers = new Headers(Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(", ")]));
    const isOk = status >= 200 && status < 300;
    if (status === 204 || init?.method === "HEAD") return new Response(null, { status, statusText, headers });
    if (isRange && isOk) return new Response(bytes, { status, statusText, headers });
    const text = bytes.toString("utf8");
    const isXml = isShallowXml(text);
    if (isOk && text.trim() !== "" && !isXml) throw new ForeignAnswerError(kindOf(text));
    return new Response(isXml ? text : "", { status, statusText, headers });
  };
}

/** Sends a request, whose body is a text or bytes, and reads its answer. After `ms` it rejects with a TimeoutError. */
async function exchange(url: URL, client: HttpClient, init: RequestInit = {}, { ms, bytesMax }: { ms: number; bytesMax: number }) {
  const signal = AbortSignal.timeout(ms);
  const { method = "GET", body } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  try {
    const response = await client.send({ url, method, headers, body: (body ?? undefined) as string | Uint8Array | undefined, signal });
    return { response, bytes: await readBounded(response, bytesMax) };
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : error;
  }
}

async function readBounded(body: IncomingMessage, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if ((bytes += chunk.length) > bytesMax) throw new ForeignAnswerError(`an answer of more than ${bytesMax >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function kindOf(text: string): string {
  return /^\s*<(!doctype html|html)/i.test(text) ? "a page of HTML" : "no XML of S3";
}

/** Whether each element is closed and few are nested: the library's parser takes very long for other texts. */
function isShallowXml(text: string): boolean {
  if (!/^\s*<(\?xml|ListBucketResult|InitiateMultipartUploadResult|CompleteMultipartUploadResult|Error)\b/.test(text)) return false;
  const open: string[] = [];
  for (const [, mark, name = "", rest = ""] of text.matchAll(/<([/?]?)([\w:.-]{1,100})([^<>]*)>/g)) {
    if (mark === "?" || (mark === "" && rest.endsWith("/"))) continue;
    if (mark === "") {
      if (open.push(name) > depthMax) return false;
    } else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}

/** Runs a request. Throws ForeignAnswerError if the library cannot read the answer; passes on network errors and refusals. */
export async function foreignUnlessKnown<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const { name, code, status, cause } = error as { name: string; code?: string; status?: number; cause?: unknown };
    const isKnown = error instanceof ForeignAnswerError || status !== undefined || code !== undefined || cause !== undefined;
    if (isKnown || name === "TimeoutError" || name === "AbortError") throw error;
    throw new ForeignAnswerError((error as Error).message.split("\n")[0]!.slice(0, 200), { cause: error });
  }
}
