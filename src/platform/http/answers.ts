import fastJson from "fast-json-stringify";
import type { FastifyReply, FastifyRequest } from "fastify";
import { breaks } from "../db/database.ts";
import { invalidAt, Problem } from "../problem.ts";
import { drain, hasBody } from "./bodies.ts";
import { changedMeanwhile, etagOf, evaluateRead } from "./conditions.ts";
import type { Answer, DescribedOperation } from "./operation.ts";
import type { ErrorBody } from "./schemas.ts";
import { statuses } from "./statuses.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The headers of the answer: a flat array of alternating names and values, which node:http writes without a copy. */
    answerHeaders: string[];
    /** The request's own header if it is valid (W3C Trace Context). */
    traceparent: string | undefined;
    /** When the request arrived, by `performance.now()`. */
    startedAt: number;
    /** Records the answer in the log and the metrics. */
    answered(status: number): void;
  }
}

/** The `Error` body of a problem. */
export function errorBody({ code, message, details, challenge }: Problem): ErrorBody {
  return { code, message, status: statuses[code], ...(details && { details }), ...(challenge && { challenge }) };
}

/** The problem that the caller sees: an unexpected error becomes `internal`, without its text. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // stores check every reference that a client can name, so only the account itself can be missing
  if (breaks("foreign_key", error)) return new Problem("unauthorized", "The account was deleted meanwhile.");
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (code === "FST_ERR_BAD_URL") return invalidAt("path", "must be a valid URL path");
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return invalidAt("request", "must be valid HTTP", (error as Error).message);
  return new Problem("internal", "Something went wrong here. The X-Request-Id of this answer finds it in the log.", { cause: error });
}

/** Sends the answer of a problem. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  if (hasBody(request.headers)) drain(request.raw);
  const { answerHeaders } = request;
  for (const [name, value] of Object.entries(problem.headers ?? {})) answerHeaders.push(name, value);
  if (problem.code === "unauthorized") answerHeaders.push("WWW-Authenticate", 'Bearer realm="petstore"');
  send(request, reply, statuses[problem.code], JSON.stringify(errorBody(problem)));
}

/** Returns the function that sends the answers of an operation, serialised by their schemas. */
export function answerWriter({ answers, read }: DescribedOperation) {
  const writers = new Map<number, (body: unknown) => string>();
  for (const [status, { schema }] of Object.entries(answers)) if (schema) writers.set(Number(status), fastJson(schema));
  return (request: FastifyRequest, reply: FastifyReply, { status, body, headers, version }: Answer): void => {
    const { answerHeaders } = request;
    if (headers) for (const name in headers) answerHeaders.push(name, headers[name] ?? "");
    if (version !== undefined) {
      const etag = etagOf(version);
      const outcome = read ? evaluateRead(request.headers, etag) : "full";
      if (outcome === "failed") throw changedMeanwhile();
      answerHeaders.push("ETag", etag);
      if (outcome === "not_modified") return send(request, reply, 304);
    }
    const write: (body: unknown) => string = writers.get(status) ?? JSON.stringify;
    send(request, reply, status, body === undefined ? undefined : write(body));
  };
}

type Answered = { request: FastifyRequest; reply: FastifyReply; status: number; body: string | undefined };

/** The answers of this turn of the event loop: at most one for each request in flight. */
let unsent: Answered[] = [];

/**
 * Sends an answer without the framework, which would check each header again at the cost of everything else. The answers of one
 * turn of the event loop are written together, because waking a sleeping client costs more than writing to one that is awake.
 */
export function send(request: FastifyRequest, reply: FastifyReply, status: number, body?: string): void {
  reply.hijack();
  const { answerHeaders } = request;
  if (body !== undefined)
    answerHeaders.push("Content-Type", "application/json; charset=utf-8", "Content-Length", `${Buffer.byteLength(body)}`);
  reply.raw.writeHead(status, answerHeaders);
  if (unsent.push({ request, reply, status, body: request.method === "HEAD" ? undefined : body }) === 1) setImmediate(sendAll);
}

function sendAll(): void {
  const answers = unsent;
  unsent = [];
  for (const { reply, body } of answers) reply.raw.end(body);
  for (const { request, status } of answers) request.answered(status);
}
