import { announcedBytes, hasBody, readBody, tooLarge } from "./bodies.ts";
import type { Exchange } from "./exchange.ts";
import { requireMediaType } from "./negotiation.ts";
import type { RequestBounds } from "./request-bounds.ts";

/**
 * Receives the body of a request into memory, within the bounds of its operation and of the process.
 *
 * @throws Problem `payload_too_large`, then `unsupported_media_type`, then `unavailable` while other bodies take up too much memory
 */
export function receiveBody(
  exchange: Exchange,
  requests: Pick<RequestBounds, "takeBytes">,
  mediaTypes: readonly string[],
  bytesMax: number,
): Promise<Buffer> {
  const { request, headers } = exchange;
  requireBodyWithin(headers, bytesMax);
  if (headers["transfer-encoding"] !== undefined) {
    return readBody(request, bytesMax, (count) => requests.takeBytes(exchange, count)).then((bytes) => {
      // the size comes first, and the size of a chunked body is known only now
      if (bytes.length > 0) requireMediaType(mediaTypes, headers);
      return bytes;
    });
  }
  if (hasBody(headers)) requireMediaType(mediaTypes, headers);
  const refusal = requests.takeBytes(exchange, announcedBytes(headers));
  if (refusal) throw refusal;
  return readBody(request, bytesMax);
}

/** Refuses a body by the length that its headers announce. @throws Problem `payload_too_large` */
export function requireBodyWithin(headers: Exchange["headers"], bytesMax: number): void {
  if (announcedBytes(headers) > bytesMax) throw tooLarge(bytesMax);
}
