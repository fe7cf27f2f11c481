import type { FastifyReply } from "fastify";
import { Problem } from "../problem.ts";
import { drain, hasBody } from "./bodies.ts";
import { etagOf, noneMatchHolds } from "./conditions.ts";
import type { Answer } from "./operation.ts";
import { statuses } from "./statuses.ts";

/** The body of the spec's Error for a problem. */
export function errorBody(problem: Problem): { code: string; message: string; status: number; details?: Problem["details"] } {
  const { code, message, details } = problem;
  return { code, message, status: statuses[code], ...(details && { details }) };
}

/** The problem that a caller is told about: what is unexpected becomes `internal`, told to nobody. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (code === "FST_ERR_BAD_URL") return new Problem("invalid_request", "The path is not a valid URL path.");
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Problem("invalid_request", (error as Error).message);
  const problem = new Problem("internal", "Something went wrong here. The X-Request-Id of this answer finds it in the log.");
  problem.cause = error;
  return problem;
}

/** Sends a refusal. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (hasBody(reply.request.headers)) drain(reply.request.raw);
  if (problem.headers) reply.headers(problem.headers);
  if (problem.code === "unauthorized") reply.header("www-authenticate", 'Bearer realm="petstore"');
  return reply
    .code(statuses[problem.code])
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(errorBody(problem)));
}

/** Sends an answer, or 304 where the client has this version already (RFC 9110, 13.1.2). */
export function sendAnswer(reply: FastifyReply, answer: Answer, ifNoneMatch?: string): FastifyReply {
  const { version, headers } = answer;
  if (headers) reply.headers(headers);
  if (version !== undefined) {
    reply.header("etag", etagOf(version));
    if (ifNoneMatch !== undefined && !noneMatchHolds(ifNoneMatch, version)) return reply.code(304).send();
  }
  reply.code(answer.status);
  return answer.body === undefined ? reply.send() : reply.send(answer.body);
}
