import { headerLines, type Gate, type Surface } from "./exchange.ts";
import type { Answer } from "./operation.ts";

/** The path below which the API is served. It has the major version (specification 1.1). */
export const prefix = "/v1";

/** The path below which the dashboard calls the same operations, and those that only the dashboard has. */
export const dashboardPrefix = "/dashboard/v1";

/** The address of a path of the description: a relative reference that begins with `/` (RFC 3986, 4.2). */
export function addressOf(path: string): string {
  return prefix + path;
}

/** An address of the API, moved below the prefix `to`. Any other address is returned as it is. */
export function relocated(address: string, to: string): string {
  return address.startsWith(`${prefix}/`) ? to + address.slice(prefix.length) : address;
}

/** The answer with its addresses below `base`, for an operation of the API that is served there too. */
export function moved(answer: Answer, base: string): Answer {
  if (base === prefix) return answer;
  const { location, link, ...headers } = answer.headers ?? {};
  if (location !== undefined) headers["location"] = relocated(location, base);
  if (link !== undefined) headers["link"] = `<${relocated(link.slice(1), base)}`;
  return { ...answer, headers };
}

const exposed =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit, RateLimit-Policy, Retry-After, Sunset, Deprecation, Link, ETag, Location, Allow, X-Request-Id, Idempotent-Replayed, Preference-Applied, Events-Oldest";

/** The API. It ignores cookies, so any origin may read its answers (specification 1.12). */
export function apiSurface(gate: Gate): Surface {
  return {
    prefix,
    gate,
    hosts: "any",
    lines: headerLines({
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers": exposed,
      "Cache-Control": "private, no-cache",
      "X-Content-Type-Options": "nosniff",
    }),
    preflightLines: headerLines({
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, X-API-Key, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Prefer, X-Request-Id, traceparent",
      "Access-Control-Max-Age": "86400",
    }),
  };
}

/** The path of the Model Context Protocol, by which agents call the same operations. */
export const mcpPath = "/mcp";

/** The calls of agents. No other origin may read the answers, and nothing caches them. */
export function mcpSurface(gate: Gate): Surface {
  const lines = headerLines({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
  return { prefix: mcpPath, gate, hosts: "any", lines };
}

/** The calls of the dashboard: only from its own origin, and never cached. */
export function dashboardSurface(gate: Gate): Surface {
  return {
    prefix: dashboardPrefix,
    gate,
    hosts: "public",
    lines: headerLines({
      "Cache-Control": "no-store",
      "Cross-Origin-Resource-Policy": "same-origin",
      "X-Content-Type-Options": "nosniff",
    }),
  };
}
