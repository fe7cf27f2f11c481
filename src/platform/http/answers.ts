import { breaks, unavailable } from "../db/database.ts";
import { statusOf } from "../error-table.ts";
import { Problem, type ProblemFields } from "../problem.ts";
import { drain, hasBody } from "./bodies.ts";
import { etagOf } from "./conditions.ts";
import { addHeader, closeAfter, type Exchange } from "./exchange.ts";
import { openOutbox } from "./http1.ts";
import type { Answer } from "./operation.ts";
import { writeHead } from "./response-head.ts";
import type { ErrorBody } from "./schemas.ts";

/** The `Error` body of a problem. */
export function errorBody({ code, message, details, challenge }: ProblemFields): ErrorBody {
  return { code, message, status: statusOf(code), ...(details && { details }), ...(challenge && { challenge }) };
}

/** Errors of the system that the machine caused, not the request: a full or failing disk, a quota, too many open files, too little memory. */
const machineCodes = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "ESTALE", "EMFILE", "ENFILE", "ENOMEM"]);

/** The problem that the caller sees: `unavailable` if the machine cannot do it now. An unexpected error becomes `internal`, without its text. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // stores check every reference that a client can name, so only the account itself can be missing
  if (breaks("foreign_key", error)) return new Problem("unauthorized", "The account was deleted meanwhile.");
  if (machineCodes.has((error as Partial<NodeJS.ErrnoException> | undefined)?.code ?? "")) return unavailable(error);
  return new Problem("internal", "Something went wrong here. The X-Request-Id of this answer finds it in the log.", { cause: error });
}

/** The body of the last problem: requests that the limits refuse share one. */
let last: { problem: ProblemFields; text: string } | undefined;

/** Answers a request with a problem. */
export function sendProblem(exchange: Exchange, problem: ProblemFields): void {
  if (hasBody(exchange.headers)) drain(exchange.request);
  const { headers, code } = problem;
  for (const name in headers) {
    if (name.toLowerCase() === "connection") closeAfter(exchange);
    else addHeader(exchange, name, headers[name] ?? "");
  }
  if (code === "unauthorized") exchange.lines += 'WWW-Authenticate: Bearer realm="petstore"\r\n';
  if (last?.problem !== problem) last = { problem, text: JSON.stringify(errorBody(problem)) };
  sendJson(exchange, statusOf(code), last.text);
}

/** Sends the answer of an operation. */
export function sendAnswer(exchange: Exchange, { status, body, text, stream, headers, version }: Answer): void {
  if (headers) for (const name in headers) addHeader(exchange, name, headers[name] ?? "");
  if (version !== undefined) exchange.lines += `ETag: ${etagOf(version)}\r\n`; // a number or a digest, which needs no check
  if (stream) sendStream(exchange, status, stream);
  else if (text !== undefined) sendJson(exchange, status, text);
  else if (body === undefined) send(exchange, status);
  else sendJson(exchange, status, JSON.stringify(body));
}

/** Holds at most one answer for each request in flight. */
const sendSoon = openOutbox<Exchange>((exchange, at) => exchange.service.answered(exchange, at));

const json = "application/json; charset=utf-8";
const jsonLine = `Content-Type: ${json}\r\nContent-Length: `;

/** Sends a JSON text. */
export function sendJson(exchange: Exchange, status: number, text: string): void {
  sendText(exchange, status, text, json);
}

function typeLine(type: string): string {
  return type === json ? jsonLine : `Content-Type: ${type}\r\nContent-Length: `;
}

/** Sends a text. ASCII is written as Latin-1, which costs half as much as encoding it as UTF-8. */
export function sendText(exchange: Exchange, status: number, text: string, type: string): void {
  const length = Buffer.byteLength(text);
  exchange.lines += `${typeLine(type)}${length}\r\n`;
  send(exchange, status, text, length === text.length ? "latin1" : "utf8");
}

export function sendBytes(exchange: Exchange, status: number, bytes: Buffer, type: string): void {
  exchange.lines += `Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n`;
  send(exchange, status, bytes);
}

/** Sends an answer, whose other headers are in the exchange already. */
export function send(exchange: Exchange, status: number, body?: string | Buffer, encoding: Exchange["encoding"] = "utf8"): void {
  const { request, response, method } = exchange;
  if (exchange.status !== 0) throw new Error("the request has its answer already");
  writeHead(request, response, status, exchange.limits + exchange.lines);
  exchange.status = status;
  exchange.body = method === "HEAD" ? undefined : body;
  exchange.encoding = encoding;
  sendSoon(exchange);
}

/** Sends the head of an answer whose body stays open. The bounds and the log count its request as answered. The connection closes after the body. */
function sendStream(exchange: Exchange, status: number, stream: NonNullable<Answer["stream"]>): void {
  const { request, response, method } = exchange;
  closeAfter(exchange);
  writeHead(request, response, status, exchange.limits + exchange.lines);
  exchange.status = status;
  exchange.service.answered(exchange, performance.now());
  response.flushHeaders();
  stream({
    write: (text) => response.writableEnded || response.write(text),
    end: () => response.end(),
    destroy: () => response.destroy(),
    onDrain: (listener) => void response.on("drain", listener),
    onClose: (listener) => (response.closed ? listener() : void response.on("close", listener)),
  });
  if (method === "HEAD") response.end();
}
