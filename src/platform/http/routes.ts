import { andThen, type Awaitable } from "../db/database.ts";
import { send, sendAnswer } from "./answers.ts";
import { announcedBytes, hasBody, parseJson, readBody, tooLarge } from "./bodies.ts";
import { addHeader, type Exchange, type Route, type Surface } from "./exchange.ts";
import { requireAccepted, requireMediaType } from "./negotiation.ts";
import { anyFile } from "./pictures.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { otherMethods, type Router } from "./router.ts";
import type { Runnable } from "./run.ts";

type Bytes = Pick<RequestBounds, "takeBytes">;

/**
 * Adds a route below a surface for each operation, and a 405 for each method that a path does not have. Refusals come in the order of
 * specification 1.9; the gate has made those that come before them (address, key, limits).
 */
export function addOperations(router: Pick<Router, "add">, surface: Surface, operations: Iterable<Runnable>, requests: Bytes): void {
  for (const [path, own] of Map.groupBy(operations, ({ operation }) => operation.path)) {
    const byMethod = new Map(own.map((one) => [one.operation.method as string, routeOf(one, surface, requests)]));
    const allow = [...byMethod.keys(), ...(byMethod.has("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted().join(", ");
    const others = otherMethods(surface, allow, (exchange) => {
      addHeader(exchange, "Allow", allow);
      send(exchange, 204);
    });
    router.add(routePattern(surface.prefix, path), byMethod, others);
  }
}

function routeOf(runnable: Runnable, surface: Surface, requests: Bytes): Route {
  const { operation, run } = runnable;
  const { operationId } = operation;
  const receive = receiverOf(runnable, requests);
  return {
    name: operationId,
    operationId,
    isOpen: operation.scope === null,
    surface,
    hosts: surface.hosts,
    isProbe: false,
    problem: undefined,
    serve: (exchange) =>
      andThen(
        run(exchange, () => receive(exchange)),
        (answer) => sendAnswer(exchange, answer),
      ),
  };
}

/** Returns the function that checks the form of a request to an operation, and reads its JSON body if the operation has one. */
function receiverOf({ operation, bytesMax }: Runnable, requests: Bytes): (exchange: Exchange) => Awaitable<unknown> {
  const { upload, body, mediaTypes = ["application/json"], answers } = operation;
  const answersWith = answers[200]?.mediaType;
  return (exchange) => {
    const { headers } = exchange;
    requireAccepted(headers.accept, answersWith);
    if (upload) {
      requireBodyWithin(headers, bytesMax);
      requireMediaType([...upload.mediaTypes, anyFile], headers);
    }
    return body && receiveBody(exchange, requests, mediaTypes, bytesMax).then(parseJson);
  };
}

/**
 * Receives the body of a request into memory, within the bounds of its operation and of the process.
 *
 * @throws Problem `payload_too_large`, then `unsupported_media_type`, then `unavailable` while other bodies take up too much memory
 */
export function receiveBody(exchange: Exchange, requests: Bytes, mediaTypes: readonly string[], bytesMax: number): Promise<Buffer> {
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
function requireBodyWithin(headers: Exchange["headers"], bytesMax: number): void {
  if (announcedBytes(headers) > bytesMax) throw tooLarge(bytesMax);
}

function routePattern(base: string, path: string): string {
  return (base + path).replaceAll(/\{(\w+)\}/g, ":$1");
}
