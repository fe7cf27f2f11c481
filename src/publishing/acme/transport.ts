import { Agent, request, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from "node:zlib";
import { connectingBy, raceAddresses } from "../../platform/address-race.ts";
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
  const [kept, fresh] = [true, false].map((keepAlive) =>
    raceAddresses(new Agent({ ca: settings.ca, keepAlive, maxSockets: socketsMax, timeout: idleMsMax })),
  ) as [Agent, Agent];
  const timeoutMs = settings.timeoutMs ?? timeoutMsDefault;
  const transport: Transport = {
    exchange: (sent) => exchangeBounded(sent.once === true ? fresh : kept, timeoutMs, sent),
    close: () => {
      for (const agent of [kept, fresh]) agent.destroy();
    },
  };
  return settings.traced?.(transport) ?? transport;
}

async function exchangeBounded(agent: Agent, timeoutMs: number, sent: HttpsRequest): Promise<HttpsAnswer> {
  const url = parseHttpsUrl(sent.url);
  const late = AbortSignal.timeout(timeoutMs);
  const signal = sent.signal === undefined ? late : AbortSignal.any([late, sent.signal]);
  const headers = {
    accept: sent.accept ?? "application/json",
    "accept-encoding": "identity",
    "user-agent": "petstore",
    ...(sent.body === undefined ? {} : { "content-type": "application/jose+json", "content-length": Buffer.byteLength(sent.body) }),
  };
  const options = { method: sent.method, agent, signal, headers, ...connectingBy({ until: signal }) };
  try {
    return await exchangeOnce(url, options, sent).catch((error: unknown) => {
      // The authority closed an idle connection just as it was reused. Sending again is safe, because a
      // request that would create something twice is sent once.
      if (error instanceof StaleConnection) return exchangeOnce(url, options, sent);
      throw error;
    });
  } catch (error) {
    if (error instanceof AcmeProblem || error instanceof NotPermitted || sent.signal?.aborted === true) throw error;
    if (isParseError(error)) throw new AcmeProblem("nonsense", `The answer of ${url.host} is not HTTP.`, { cause: error });
    const why = late.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error);
    throw new AcmeProblem("unreachable", `The certificate authority at ${url.host} cannot be reached: ${why}.`, { cause: error });
  }
}

class StaleConnection extends Error {}

function exchangeOnce(url: URL, options: RequestOptions, { body, permit }: HttpsRequest): Promise<HttpsAnswer> {
  return new Promise((answered, failed) => {
    const sent = request(url, options, (response) => {
      readBody(response, url).then(
        (bytes) => answered({ status: response.statusCode ?? 0, headers: response.headers, body: bytes }),
        (error: Error) => {
          sent.destroy();
          failed(error);
        },
      );
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const stale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      failed(stale ? new StaleConnection(error.message, { cause: error }) : error);
    });
    // The agent hands over a socket that has completed its TLS handshake.
    sent.on("socket", () => {
      if (permit?.() === false) sent.destroy(new NotPermitted(`the request to ${url.host} is no longer permitted`));
      else sent.end(body);
    });
  });
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
