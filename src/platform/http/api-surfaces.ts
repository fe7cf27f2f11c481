import type { FastifyRequest } from "fastify";
import type { Gate } from "./caller.ts";

/** The path below which the API is served. It has the major version (specification 1.1). */
export const prefix = "/v1";

/** The path below which the dashboard calls the same operations, and those that only it calls. */
export const dashboardPrefix = "/dashboard/v1";

/** The address of a path of the description: a relative reference that begins with `/` (RFC 3986, 4.2). */
export function addressOf(path: string): string {
  return prefix + path;
}

/** An address of the API, moved below the prefix `to`. Any other address is returned as it is. */
export function relocated(address: string, to: string): string {
  return address.startsWith(`${prefix}/`) ? to + address.slice(prefix.length) : address;
}

/** The paths below a prefix, with their gate and their headers (a flat array of alternating names and values). */
export type ApiSurface = {
  prefix: string;
  gate: Gate;
  /** Which values of the Host header its routes accept. */
  hosts: "any" | "public";
  /** On every answer. */
  headers: readonly string[];
  /** On the answer to a CORS preflight. Default: none, so that other origins get no CORS headers. */
  preflightHeaders?: readonly string[];
};

const exposed =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit, RateLimit-Policy, Retry-After, Sunset, Deprecation, Link, ETag, Location, Allow, X-Request-Id, Idempotent-Replayed";

/** The API. It ignores cookies, so any origin may read its answers (specification 1.12). */
export function apiSurface(gate: Gate): ApiSurface {
  return {
    prefix,
    gate,
    hosts: "any",
    headers: listed({
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers": exposed,
      "Cache-Control": "private, no-cache",
      "X-Content-Type-Options": "nosniff",
    }),
    preflightHeaders: listed({
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, X-API-Key, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, traceparent",
      "Access-Control-Max-Age": "86400",
    }),
  };
}

/** The calls of the dashboard: only from its own origin, and never cached. */
export function dashboardSurface(gate: Gate): ApiSurface {
  return {
    prefix: dashboardPrefix,
    gate,
    hosts: "public",
    headers: listed({
      "Cache-Control": "no-store",
      "Cross-Origin-Resource-Policy": "same-origin",
      "X-Content-Type-Options": "nosniff",
    }),
  };
}

/** The surface that a request is sent to: by its route, or by the decoded first segments of its path. */
export function surfaceOf(request: FastifyRequest, surfaces: readonly ApiSurface[]): ApiSurface | undefined {
  const { url: route } = request.routeOptions;
  if (route !== undefined) return surfaces.find((surface) => route.startsWith(`${surface.prefix}/`));
  return surfaces.find((surface) => firstSegments(request.url, surface.prefix.split("/").length) === surface.prefix);
}

/** The first `count` segments of a path, decoded if possible. The empty one before the first slash counts. */
function firstSegments(url: string, count: number): string {
  const segments = url.split(/[?#]/, 1)[0]?.split("/", count) ?? [];
  return segments.map(decoded).join("/");
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A flat array of alternating names and values, as node:http takes headers. */
function listed(headers: Record<string, string>): string[] {
  return Object.entries(headers).flat();
}
