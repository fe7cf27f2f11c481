import type { FastifyRequest } from "fastify";
import { invalidAt, Problem } from "../problem.ts";
import type { HostCheck } from "./hosts.ts";
import { notFound } from "./routes.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Of routes that stand for the methods that a path does not have: those that it has. */
    allow?: string;
  }
}

/**
 * What is wrong with a request before its operation looks at it: the form of its HTTP, and a path or a method that does
 * not exist. Here, because the framework has refusals of its own that would come before these.
 */
export function requestProblem(request: FastifyRequest, checkHost: HostCheck): Problem | undefined {
  const { raw, is404 } = request;
  const coding = raw.headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    request.answerHeaders.push("Connection", "close"); // what follows cannot be told from another request
    return invalidAt("header.Transfer-Encoding", "must be chunked, or absent");
  }
  const host = checkHost(request);
  if (host) return host;
  return is404 ? notFound() : methodProblem(request);
}

function methodProblem(request: FastifyRequest): Problem | undefined {
  const { method, params, answerHeaders } = request;
  const { allow } = request.routeOptions.config;
  if (allow === undefined || method === "OPTIONS") return undefined;
  if (Object.values(params as Record<string, string>).includes("")) return notFound();
  answerHeaders.push("Allow", allow);
  return new Problem("method_not_allowed", `${method} is not a method of this path. It has ${allow}.`);
}

/** A content type that cannot be parsed counts as none: the framework would refuse it before all that comes first. */
export function hideMalformedType({ raw, mediaType }: FastifyRequest): void {
  if (mediaType === undefined && raw.headers["content-type"] !== undefined) delete raw.headers["content-type"];
}
