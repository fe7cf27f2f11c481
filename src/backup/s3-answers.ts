/** The bounds of what a store answers: its size, its shape, and the pages of a list. */

type Timing = { requestMs: number; pieceMs: number };

/** A store takes pieces of any size, but this program asks for at most 8 MiB of one. A page of a list has 1,000 names. */
const pieceBytesMax = 8 << 20;
const textBytesMax = 4 << 20;
const pagesMax = 100;
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
  return async (url, init) => {
    const { href } = new URL(url instanceof Request ? url.url : url);
    const isRange = new Headers(init?.headers).has("range");
    const isNextPage = href.includes("continuation-token=");
    pages = isNextPage ? pages + 1 : 0;
    if (pages > pagesMax) throw new ForeignAnswerError(`a list of more than ${pagesMax} pages`);
    const ms = isRange || href.includes("partNumber=") ? pieceMs : requestMs;
    const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(ms) });
    if (response.body === null) return response;
    const bytes = await readBounded(response.body, isRange && response.ok ? pieceBytesMax : textBytesMax);
    const { status, statusText, headers } = response;
    if (isRange && response.ok) return new Response(bytes, { status, statusText, headers });
    const text = bytes.toString("utf8");
    const isXml = isShallowXml(text);
    if (response.ok && text.trim() !== "" && !isXml) throw new ForeignAnswerError(kindOf(text));
    return new Response(isXml ? text : "", { status, statusText, headers });
  };
}

async function readBounded(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
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
