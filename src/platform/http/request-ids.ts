import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const process = randomBytes(6).toString("base64url");
let count = 0;

/** A new id for `X-Request-Id` and the log: a random part that is unique to this process, and a counter. */
export function nextRequestId(): string {
  count += 1;
  return `${process}-${count.toString(36)}`;
}

const ownId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` if it is valid, otherwise a new id. */
export function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && ownId.test(given) ? given : nextRequestId();
}

/** Version, trace, parent and flags; a later version than 00 may have more fields behind them. */
const traceForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[A-Za-z0-9._-]{0,64})?$/;

/** The `traceparent` of a request, for the log; undefined if it is not valid (W3C Trace Context, 2.2 and 4.3). */
export function traceparentOf({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== "string") return undefined;
  const [, version, trace = "", parent = "", more] = traceForm.exec(traceparent) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  return isZero(trace) || isZero(parent) ? undefined : traceparent;
}

/** The trace id of a valid `traceparent`. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

function isZero(hexadecimal: string): boolean {
  return hexadecimal === "0".repeat(hexadecimal.length);
}
