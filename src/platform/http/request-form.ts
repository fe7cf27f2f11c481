import type { FastifyRequest } from "fastify";
import { invalidAt, Problem } from "../problem.ts";
import type { HostCheck } from "./hosts.ts";
import { notFound } from "./routes.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The methods of a path, set for the route that refuses its other methods. */
    allow?: string;
  }
}

/**
 * Returns the refusal of a request that has a wrong form, or a path or method that does not exist. Checked before the framework does so,
 * because its own refusals have another form.
 */
export function requestProblem(request: FastifyRequest, checkHost: HostCheck): Problem | undefined {
  const { raw, is404 } = request;
  const coding = raw.headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    request.answerHeaders.push("Connection", "close"); // where the body ends, and the next request begins, is unknown
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

/** Removes a content type that cannot be parsed. The framework would refuse it before the checks that come first. */
export function hideMalformedType({ raw, mediaType }: FastifyRequest): void {
  if (mediaType === undefined && raw.headers["content-type"] !== undefined) delete raw.headers["content-type"];
}
