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
    /** Names and values by turns, of the headers of the answer: node:http writes such a list as it is. */
    answerHeaders: string[];
    /** As it was sent, if it is valid (W3C Trace Context). */
    traceparent: string | undefined;
    /** When it came, by `performance.now()`. */
    startedAt: number;
    /** Tells the log and the metrics how the request was answered. */
    answered(status: number): void;
  }
}

/** The body of the spec's Error for a problem. */
export function errorBody({ code, message, details, challenge }: Problem): ErrorBody {
  return { code, message, status: statuses[code], ...(details && { details }), ...(challenge && { challenge }) };
}

/** The problem that the caller sees: an unexpected error becomes `internal`, without its text. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // stores turn every reference that a client can name into a problem: what is left is the account itself
  if (breaks("foreign_key", error)) return new Problem("unauthorized", "The account was deleted meanwhile.");
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (code === "FST_ERR_BAD_URL") return invalidAt("path", "must be a valid URL path");
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return invalidAt("request", "must be valid HTTP", (error as Error).message);
  return new Problem("internal", "Something went wrong here. The X-Request-Id of this answer finds it in the log.", { cause: error });
}

/** Sends a refusal. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  if (hasBody(request.headers)) drain(request.raw);
  const { answerHeaders } = request;
  for (const [name, value] of Object.entries(problem.headers ?? {})) answerHeaders.push(name, value);
  if (problem.code === "unauthorized") answerHeaders.push("WWW-Authenticate", 'Bearer realm="petstore"');
  send(request, reply, statuses[problem.code], JSON.stringify(errorBody(problem)));
}

/** Writes the answers of an operation by the schemas that describe them. */
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

/** The answers of this turn of the event loop: at most as many as there are requests in flight. */
let unsent: Answered[] = [];

/**
 * Writes an answer itself: the framework would look at each header again, which costs as much as the rest. The answers of
 * one turn of the event loop leave together: the first wakes a client that sleeps, which takes longer than to write to
 * one that is awake.
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
