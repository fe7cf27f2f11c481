import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { openHttpClient, type HttpClient } from "../../platform/http-client.ts";
import { AddressError, addressesOf, requireAllowedPort, type AddressRules } from "./endpoint-url.ts";

/** The longest time (ms) of an attempt: DNS, connection, TLS and answer together. */
const attemptMs = 10_000;
/** The most bytes of an answer that are read and kept. */
export const answerBytesMax = 4_096;
/** How long (ms) to wait for the body once the status is known. The body does not change the result. */
const bodyMs = 1_000;
const headBytesMax = 8_192;
const idleMs = 4_000;
const idlePerHostMax = 8;
const idleMax = 1_024;

type SignedMessage = { url: URL; headers: Record<string, string>; body: string; accountId: number; signal?: AbortSignal | undefined };

/** `error` is for the endpoint's owner. `retryAfter` is the raw header. */
export type Outcome =
  | { status: number; answer: string; retryAfter: string | undefined }
  | { status: null; error: string; isAborted?: true | undefined };

export type Sender = { send(sent: SignedMessage): Promise<Outcome>; close(): void };

export type SenderOptions = AddressRules & {
  /** The certificate authorities (PEM) to trust. Default: Node's. */
  ca?: string | undefined;
  timeoutMs?: number | undefined;
};

/**
 * Opens the sender of webhooks. It follows no redirects, uses no proxies, and checks the addresses of each new connection itself. It
 * bounds the time, head and body of an answer, so no endpoint can delay it for longer than `attemptMs`, and the idle connections.
 */
export function openSender(options: SenderOptions): Sender {
  const { timeoutMs = attemptMs } = options;
  const client = openHttpClient({ ca: options.ca, idleMs, idleMax, idlePerHostMax, headBytesMax });
  return {
    async send(sent) {
      const end = new AbortController();
      const timer = setTimeout(() => end.abort(), timeoutMs);
      const abort = (): void => end.abort();
      sent.signal?.addEventListener("abort", abort, { once: true });
      if (sent.signal?.aborted) abort();
      try {
        return await outcomeOf(options, client, sent, end.signal);
      } catch (error) {
        if (sent.signal?.aborted) return { status: null, error: "The service was stopping.", isAborted: true };
        if (end.signal.aborted) return { status: null, error: `No answer within ${timeoutMs / 1_000} seconds.` };
        return { status: null, error: reasonOf(error) };
      } finally {
        clearTimeout(timer);
        sent.signal?.removeEventListener("abort", abort);
      }
    },
    close: () => client.close(),
  };
}

/** The client may send a message twice, on a connection that broke; its endpoint recognizes the repetition by the id. */
async function outcomeOf(options: SenderOptions, client: HttpClient, sent: SignedMessage, signal: AbortSignal): Promise<Outcome> {
  const { url, headers, body, accountId } = sent;
  requireAllowedPort(url);
  if (url.protocol === "http:" && !options.privateAddresses) throw new AddressError("The URL is not an https URL.", { isRefused: true });
  const allowed = (host: string): Promise<string[]> => addressesOf(host.replace(/\.$/, ""), options, accountId);
  const response = await client.send({ url, method: "POST", headers, body, signal, addressesOf: allowed });
  return { status: response.statusCode ?? 0, answer: await readStart(response), retryAfter: response.headers["retry-after"] };
}

/** Reads the start of a body. If the body is too long or too slow, cuts it off and closes the connection. */
function readStart(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const decoder = new StringDecoder("utf8");
  let [text, bytes] = ["", 0];
  const timer = setTimeout(() => cut(), bodyMs);
  const finish = (): void => {
    clearTimeout(timer);
    resolve(text.replaceAll("\0", "\uFFFD").toWellFormed());
  };
  const cut = (): void => {
    finish();
    response.destroy();
  };
  response.on("data", (chunk: Buffer) => {
    text += decoder.write(chunk.subarray(0, answerBytesMax - bytes));
    bytes += chunk.length;
    if (bytes > answerBytesMax) cut();
  });
  response.on("end", finish);
  response.on("error", finish);
  response.on("close", finish);
  return promise;
}

/** Says why a connection failed, without revealing anything about the service's network. */
function reasonOf(error: unknown): string {
  if (error instanceof AddressError) return `The URL ${error.message.replace(/^The URL /, "").replace(/\.$/, "")}.`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.startsWith("HPE_HEADER_OVERFLOW")) return `The answer's head is longer than ${headBytesMax} bytes.`;
  if (code.startsWith("HPE_")) return "The answer is not HTTP.";
  const known = reasons.get(code);
  if (known !== undefined) return known;
  if (/^(ERR_TLS|CERT_|UNABLE_|DEPTH_|SELF_|ERR_SSL|ERR_OSSL|HOSTNAME_|EPROTO)/.test(code))
    return `No TLS connection: ${error instanceof Error ? (error.message.split("\n")[0] ?? "").slice(0, 200) : code}`;
  return code === "" ? "The connection broke." : `The connection broke: ${code}.`;
}

const reasons = new Map([
  ["ECONNREFUSED", "The connection was refused."],
  ["ECONNRESET", "The connection was closed without an answer."],
  ["EPIPE", "The connection was closed without an answer."],
  ["EHOSTUNREACH", "The host cannot be reached."],
  ["ENETUNREACH", "The host cannot be reached."],
  ["ETIMEDOUT", "The host cannot be reached."],
]);
