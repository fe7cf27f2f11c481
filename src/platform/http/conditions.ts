import { createHash } from "node:crypto";
import { Problem } from "../problem.ts";
import { listItems } from "./header-lists.ts";
import type { Conditions, Version } from "./operation.ts";

/** The strong ETag of a resource's version (RFC 9110, 8.8.3). */
export function etagOf(version: Version): string {
  return `"v${version}"`;
}

/** The version of a resource that shows more than its row: the row's count of changes, and a digest of what is shown. */
export function versionOfShown(changes: number, shown: object): string {
  return `${changes}-${createHash("sha256").update(JSON.stringify(shown)).digest("base64url").slice(0, 16)}`;
}

/** Whether an `If-None-Match` list names the version; weak comparison (RFC 9110, 13.1.2). */
export function noneMatchHolds(list: string, version: Version): boolean {
  return !listed(list, version, true);
}

/** Whether a request says what it has seen: an operation that has no need to look before it writes looks then. */
export function isConditional({ ifMatch, ifNoneMatch }: Conditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/**
 * Holds a read to its `If-Match`: what it names is what is read, or nothing is.
 *
 * @throws Problem `precondition_failed`
 */
export function requireMatch(ifMatch: string | undefined, version: Version): void {
  if (ifMatch !== undefined && !listed(ifMatch, version, false)) {
    throw new Problem("precondition_failed", "The resource has changed: its ETag is not one of those in If-Match.");
  }
}

/**
 * Holds a write to its `If-Match` (strong comparison, RFC 9110, 13.1.1) and `If-None-Match`.
 *
 * @throws Problem `precondition_failed`
 */
export function requireConditions({ ifMatch, ifNoneMatch }: Conditions, version: Version): void {
  requireMatch(ifMatch, version);
  if (ifNoneMatch !== undefined && listed(ifNoneMatch, version, true)) {
    throw new Problem("precondition_failed", "The resource exists with an ETag that If-None-Match excludes.");
  }
}

/** Holds a write that would create the resource to its `If-Match`: there is nothing that could match. */
export function requireAbsentAllowed({ ifMatch }: Conditions): void {
  if (ifMatch !== undefined) throw new Problem("precondition_failed", "The resource does not exist, so nothing matches If-Match.");
}

function listed(list: string, version: Version, weak: boolean): boolean {
  const etag = etagOf(version);
  return listItems(list).some((tag) => tag === "*" || tag === etag || (weak && tag === `W/${etag}`));
}
