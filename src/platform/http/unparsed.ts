import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "../problem.ts";
import { errorBody } from "./answers.ts";
import type { Realm } from "./realms.ts";
import { nextRequestId } from "./request-ids.ts";

/** Gives what is not HTTP a last answer, with the headers of a realm's answers, and no more of the connection. */
export async function refuseUnparsed(
  { gate, headers: always }: Realm,
  error: Error & { code?: string },
  socket: Duplex & { remoteAddress?: string },
): Promise<void> {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const problem = new Problem("invalid_request", status === 431 ? "The headers are too large." : "The request is not valid HTTP.");
  const body = JSON.stringify({ ...errorBody(problem), status });
  const limits = await gate.describeAddress(socket.remoteAddress ?? "unknown");
  const type = ["Content-Type", "application/json; charset=utf-8", "Content-Length", `${Buffer.byteLength(body)}`];
  const headers = [...always, ...limits, "X-Request-Id", nextRequestId(), ...type, "Connection", "close"];
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
}
