import type { Clock } from "../../platform/clock.ts";

/** A request to a published site that was answered. */
export type Visit = {
  /** The requested host name; undefined if the request has no valid one. */
  host: string | undefined;
  /** Whether a site has this name. */
  isKnown: boolean;
  protocol: "http/1.1" | "h2";
  /** Of the connection to this process: behind a proxy, `http` although the visitor used HTTPS. */
  scheme: "http" | "https";
  requestId: string;
  /** The visitor's `traceparent` header, if it is valid. */
  traceparent: string | undefined;
  traceId: string | undefined;
  method: string;
  /** Without its query. */
  path: string;
  status: number;
  /** Bytes of the body that were sent. */
  bytes: number;
  ms: number;
  /** Whether the visitor closed the connection before the whole answer was sent. */
  isCut: boolean;
};

export type OnVisit = (visit: Visit) => void;

/**
 * Writes a line of the access log for each visit. The line is built by hand, because the edge answers tens of thousands of requests a second:
 * pino takes five times as long (0.8 µs against 0.14 µs). Only host, method and path can hold characters that need escaping.
 */
export function openAccessLog(clock: Clock, add: (line: string) => void): OnVisit {
  return ({ host, protocol, requestId, traceId, method, path, status, bytes, ms, isCut }) => {
    const named = host === undefined ? "null" : JSON.stringify(host);
    const more = (traceId === undefined ? "" : `,"traceId":"${traceId}"`) + (isCut ? ',"cut":true' : "");
    add(
      `{"level":30,"time":${clock()},"host":${named},"requestId":"${requestId}","method":${JSON.stringify(method)},` +
        `"path":${JSON.stringify(path)},"status":${status},"ms":${Math.round(ms * 1_000) / 1_000},"bytes":${bytes},` +
        `"protocol":"${protocol}"${more}}\n`,
    );
  };
}
