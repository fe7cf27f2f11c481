import type { IncomingMessage } from "node:http";
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from "node:zlib";
import { openHttpClient, type HttpClient } from "../../platform/http-client.ts";
import { AcmeProblem, NotPermitted } from "./acme-problem.ts";

export type TransportSettings = {
  /** Root certificates, as PEM, for connections to the authority (`ACME_CA_FILE`). Default: those that Node trusts. */
  ca?: string | undefined;
  /** The longest time for one exchange, from looking up the name to the last byte. Default: 15 s. */
  timeoutMs?: number | undefined;
  /** Wraps the transport to trace its exchanges. Default: no tracing. */
  traced?: ((transport: Transport) => Transport) | undefined;
};

export type HttpsRequest = {
  method: "GET" | "HEAD" | "POST";
  url: string;
  body?: string;
  accept?: string;
  /** Sends the request on a new connection, so that it need not be sent again if an idle one was closed. */
  once?: boolean;
  signal?: AbortSignal | undefined;
  /** Called once the connection is open, right before the request is sent. If it returns false, nothing is sent. */
  permit?: (() => boolean) | undefined;
};
export type HttpsAnswer = { status: number; headers: IncomingMessage["headers"]; body: Buffer };

/** Sends one request, and follows no redirects. Rejects with `AcmeProblem` `unreachable` or `nonsense`, an AbortError, or `NotPermitted`. */
type Exchange = (request: HttpsRequest) => Promise<HttpsAnswer>;
export type Transport = { exchange: Exchange; close: () => void };

const bodyBytesMax = 256 * 1024;
const timeoutMsDefault = 15_000;
const socketsMax = 16;
const idleMsMax = 30_000;

/** HTTPS connections to the authority (RFC 8555 section 6.1 requires HTTPS), kept alive, with bounds on time, sockets and bytes. */
export function openTransport(settings: TransportSettings = {}): Transport {
  const client = openHttpClient({ ca: settings.ca, idleMs: idleMsMax, socketsMax });
  const timeoutMs = settings.timeoutMs ?? timeoutMsDefault;
  const transport: Transport = {
    exchange: (sent) => exchangeBounded(client, timeoutMs, sent),
    close: () => client.close(),
  };
  return settings.traced?.(transport) ?? transport;
}

async function exchangeBounded(client: HttpClient, timeoutMs: number, sent: HttpsRequest): Promise<HttpsAnswer> {
  const url = parseHttpsUrl(sent.url);
  const late = AbortSignal.timeout(timeoutMs);
  const signal = sent.signal === undefined ? late : AbortSignal.any([late, sent.signal]);
  const headers = {
    accept: sent.accept ?? "application/json",
    "accept-encoding": "identity",
    "user-agent": "petstore",
    ...(sent.body !== undefined && { "content-type": "application/jose+json" }),
  };
  const beforeSend = (): void => {
    if (sent.permit?.() === false) throw new NotPermitted(`the request to ${url.host} is no longer permitted`);
  };
  const { method, body, once: isSentOnce } = sent;
  try {
    const response = await client.send({ url, method, headers, body, signal, isSentOnce, beforeSend });
    return { status: response.statusCode ?? 0, headers: response.headers, body: await readBody(response, url) };
  } catch (error) {
    if (error instanceof AcmeProblem || error instanceof NotPermitted || sent.signal?.aborted === true) throw error;
    if (isParseError(error)) throw new AcmeProblem("nonsense", `The answer of ${url.host} is not HTTP.`, { cause: error });
    const why = late.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error);
    throw new AcmeProblem("unreachable", `The certificate authority at ${url.host} cannot be reached: ${why}.`, { cause: error });
  }
}

async function readBody(response: IncomingMessage, url: URL): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new AcmeProblem("nonsense", `An answer of ${url.host} has more than ${bodyBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return decoded(Buffer.concat(chunks), response.headers["content-encoding"] ?? "identity", url);
}

const decoders: Record<string, (bytes: Buffer, limit: { maxOutputLength: number }) => Buffer> = {
  gzip: unzipSync,
  "x-gzip": unzipSync,
  deflate: unzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Decompresses an answer, although `accept-encoding` asks for none that is compressed. */
function decoded(bytes: Buffer, encoding: string, url: URL): Buffer {
  const name = encoding.trim().toLowerCase();
  if (bytes.length === 0 || name === "identity" || name === "") return bytes;
  const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  try {
    if (decode) return decode(bytes, { maxOutputLength: bodyBytesMax });
  } catch (error) {
    throw new AcmeProblem("nonsense", `An answer of ${url.host} is not ${name} of at most ${bodyBytesMax} bytes.`, { cause: error });
  }
  throw new AcmeProblem("nonsense", `An answer of ${url.host} has the unknown encoding ${name}.`);
}

function parseHttpsUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "https:")
    throw new AcmeProblem("nonsense", `Not an https:// address of the certificate authority: ${text}`);
  return url;
}

const isParseError = (error: unknown): boolean => error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? `${error.code} ${error.message}` : error.message;
}
