import type { IncomingMessage } from "node:http";
import { openHttpClient } from "../../platform/http-client.ts";
import { AddressError, addressesOf, requireAllowedPort, type AddressRules } from "./endpoint-url.ts";

/** The longest time (ms) of a download: DNS, connection, TLS, redirects and answer together. */
const fetchMs = 30_000;
const redirectsMax = 3;
const headBytesMax = 8_192;
const redirects = new Set([301, 302, 303, 307, 308]);

/** A download did not succeed. The message is for the person who gave the address. `isFinal`: trying again does not help. */
export class FetchError extends Error {
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}

export type Download = { url: string; accountId: number; bytesMax: number; accept: string; signal: AbortSignal };

/**
 * Opens the downloads of files whose addresses people name. It checks the addresses of each connection as the sender of webhooks does, those of
 * redirects too, uses no proxies, and bounds the time, head and body of an answer.
 */
export function openFetcher(rules: AddressRules) {
  const client = openHttpClient({ headBytesMax });

  async function responseFrom(
    url: URL,
    { accountId, accept }: Pick<Download, "accountId" | "accept">,
    signal: AbortSignal,
    left = redirectsMax,
  ): Promise<IncomingMessage> {
    if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") throw refused("is not one of a file on the web");
    requireAllowedPort(url);
    const allowed = (host: string): Promise<string[]> => addressesOf(host.replace(/\.$/, ""), rules, accountId);
    const sent = { url, method: "GET", headers: { accept, "user-agent": "petstore" }, signal, addressesOf: allowed };
    const response = await client.send(sent);
    const { statusCode: status = 0, headers } = response;
    if (status === 200) return response;
    response.destroy();
    const next = redirects.has(status) && headers.location !== undefined ? URL.parse(headers.location, url) : null;
    if (next === null) throw new FetchError(`Its server answered ${status}.`, { isFinal: status >= 400 && status < 500 && status !== 429 });
    if (left === 0) throw refused("redirects too often");
    return responseFrom(next, { accountId, accept }, signal, left - 1);
  }

  return {
    /** Downloads a file, and passes its bytes to `use`. @throws FetchError, and what `use` throws */
    async download<T>(download: Download, use: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T> {
      const late = AbortSignal.timeout(fetchMs);
      const signal = AbortSignal.any([download.signal, late]);
      const url = URL.parse(download.url);
      if (url === null) throw refused("is not a URL");
      const response = await responseFrom(url, download, signal).catch((error: unknown) => {
        throw fetchErrorOf(error, late);
      });
      try {
        return await use(bounded(response, download.bytesMax, late));
      } finally {
        response.destroy();
      }
    },
    close: () => client.close(),
  };
}

async function* bounded(response: IncomingMessage, bytesMax: number, late: AbortSignal): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw refused(`leads to a file of more than ${bytesMax / 1_048_576} MiB`);
      yield chunk;
    }
  } catch (error) {
    throw fetchErrorOf(error, late);
  }
}

function refused(why: string): FetchError {
  return new FetchError(`The address ${why}.`, { isFinal: true });
}

/** Says why a download failed, without revealing anything about the service's network. */
function fetchErrorOf(error: unknown, late: AbortSignal): FetchError {
  if (error instanceof FetchError) return error;
  if (error instanceof AddressError)
    return new FetchError(`The address ${error.message.replace(/\.$/, "")}.`, { isFinal: error.isRefused });
  return new FetchError(
    late.aborted ? `It was not there within ${fetchMs / 1_000} seconds.` : "Its server could not be reached, or ended the connection.",
  );
}
