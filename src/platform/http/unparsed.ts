import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { invalidAt, Problem } from "../problem.ts";
import { errorBody } from "./answers.ts";
import { drainBytesMax, drainTimeMaxMs } from "./bodies.ts";
import type { Pipelines } from "./pipelining.ts";
import { headerLines, type Surface } from "./exchange.ts";
import { nextRequestId } from "./request-ids.ts";
import { errorTable, statusOf } from "../error-table.ts";

/** The most bytes of a request line with its headers, as node:http counts them: the URL, the names and the values. */
export const headersBytesMax = 16_384;
/** The most headers of a request. Node reads one more, which shows that there are too many, and drops the rest. */
export const headersMax = 256;

/** The refusal of a request line and headers beyond a bound. */
export function headersTooLarge(): Problem {
  return new Problem("headers_too_large", errorTable.headers_too_large.example, { headers: { Connection: "close" } });
}

type Connection = Duplex & { remoteAddress?: string };

/** Connections that were refused. Node reports an error for every further packet of such a connection. */
const refused = new WeakSet<Connection>();

/**
 * Answers a request that cannot be parsed, once for each connection, with the headers of a surface's answers. Earlier requests get their
 * answers first. Closes the connection when the client has read the answer.
 */
export async function refuseUnparsed(
  { gate, lines }: Surface,
  log: Logger,
  pipelines: Pick<Pipelines, "answered">,
  error: Error & { code?: string },
  socket: Connection,
): Promise<void> {
  if (refused.has(socket)) return;
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  refused.add(socket);
  drainConnection(socket);
  await pipelines.answered(socket);
  if (!socket.writable) return;
  const problem = error.code === "HPE_HEADER_OVERFLOW" ? headersTooLarge() : invalidAt("request", "must be valid HTTP/1.1");
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : statusOf(problem.code);
  const body = JSON.stringify({ ...errorBody(problem), status });
  const limits = await gate.limitHeadersOf(socket.remoteAddress ?? "unknown");
  const requestId = nextRequestId();
  log.info({ requestId, status }, "a request that could not be read");
  const own = headerLines({
    "X-Request-Id": requestId,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": `${Buffer.byteLength(body)}`,
    Connection: "close",
  });
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}${limits}${own}\r\n${body}`);
}

/** Reads what the client still sends, within bounds. Closing earlier would reset the connection, and lose the answer. */
function drainConnection(socket: Connection): void {
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), drainTimeMaxMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > drainBytesMax) socket.destroy();
  });
}
