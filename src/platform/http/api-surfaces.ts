import type { FastifyRequest } from "fastify";
import type { Gate } from "./caller.ts";
import { dashboardPrefix, prefix } from "./prefix.ts";

/** The paths below a prefix, with a way in and headers (names and values by turns) of their own. */
export type ApiSurface = {
  prefix: string;
  gate: Gate;
  /** Which values of the Host header its routes accept. */
  hosts: "any" | "public";
  /** On every answer. */
  headers: readonly string[];
  /** On the answer to a CORS preflight. Without any, other origins get no CORS headers. */
  preflightHeaders?: readonly string[];
};

const exposed =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit, RateLimit-Policy, Retry-After, Sunset, Deprecation, Link, ETag, Location, Allow, X-Request-Id, Idempotent-Replayed";

/** The API. No cookies are known here, so any origin may read its answers (decisions, part 1: CORS). */
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

/** What the dashboard calls: for its own origin only, and kept by nobody. */
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

/** The realm that a request is to: by its route, or by its first segments, which may be written in more than one way. */
export function surfaceOf(request: FastifyRequest, realms: readonly ApiSurface[]): ApiSurface | undefined {
  const { url: route } = request.routeOptions;
  if (route !== undefined) return realms.find((realm) => route.startsWith(`${realm.prefix}/`));
  return realms.find((realm) => firstSegments(request.url, realm.prefix.split("/").length) === realm.prefix);
}

/** The first parts between slashes, the empty one before the first slash included, decoded where they can be. */
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

/** Headers as node:http takes them, names and values by turns. */
function listed(headers: Record<string, string>): string[] {
  return Object.entries(headers).flat();
}
