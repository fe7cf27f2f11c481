import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../problem.ts";
import { listItems } from "./negotiation.ts";
import type { Conditions, Version } from "./operation.ts";

/** Whether a GET or HEAD is answered in full, with a 304, or with a 412. */
export type ReadOutcome = "full" | "not_modified" | "failed";

/**
 * Evaluates the preconditions of a GET or HEAD that would be answered with a 200, in the order of RFC 9110, 13.2.2.
 *
 * @param etag the entity tag of the representation to send, which may be weak
 */
export function evaluateRead(headers: Pick<IncomingHttpHeaders, "if-match" | "if-none-match">, etag: string): ReadOutcome {
  const ifMatch = headers["if-match"];
  const ifNoneMatch = headers["if-none-match"];
  if (ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) return "failed";
  return ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag) ? "not_modified" : "full";
}

/** Whether a list of `If-Match` has the tag or `*`. Strong comparison: a weak tag matches nothing (RFC 9110, 8.8.3.2). */
export function matchesStrongly(list: string, etag: string): boolean {
  return listItems(list).some((item) => item === "*" || (item === etag && !isWeak(item)));
}

/** Whether a list of `If-None-Match` has the tag or `*`. Weak comparison: `W/"a"` and `"a"` are the same (RFC 9110, 8.8.3.2). */
export function matchesWeakly(list: string, etag: string): boolean {
  const opaque = opaqueTag(etag);
  return listItems(list).some((item) => item === "*" || opaqueTag(item) === opaque);
}

function opaqueTag(etag: string): string {
  return isWeak(etag) ? etag.slice(2) : etag;
}

function isWeak(etag: string): boolean {
  return etag.startsWith("W/");
}

/** The strong entity tag of a version of a resource. */
export function etagOf(version: Version): string {
  return `"v${version}"`;
}

/** The version of a resource whose representation depends on more than its row: the row's number of changes, and a digest. */
export function versionOfShown(changes: number, shown: object): string {
  return `${changes}-${createHash("sha256").update(JSON.stringify(shown)).digest("base64url").slice(0, 16)}`;
}

/** Whether a write has a precondition, so that the operation must read the resource before it writes. */
export function isConditional({ ifMatch, ifNoneMatch }: Conditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/**
 * Refuses a write whose preconditions do not hold for the current version of the resource.
 *
 * @throws Problem `precondition_failed`
 */
export function requireConditions({ ifMatch, ifNoneMatch }: Conditions, version: Version): void {
  const etag = etagOf(version);
  if (ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) throw changedMeanwhile();
  if (ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag)) {
    throw new Problem("precondition_failed", "The resource exists with an ETag that If-None-Match excludes.");
  }
}

/**
 * Refuses a write with `If-Match` that would create the resource: an absent resource matches no tag.
 *
 * @throws Problem `precondition_failed`
 */
export function requireAbsentAllowed({ ifMatch }: Conditions): void {
  if (ifMatch !== undefined) throw new Problem("precondition_failed", "The resource does not exist, so nothing matches If-Match.");
}

/** The refusal of a request whose `If-Match` does not have the current ETag. */
export function changedMeanwhile(): Problem {
  return new Problem("precondition_failed", "The resource has changed: its ETag is not one of those in If-Match.");
}
