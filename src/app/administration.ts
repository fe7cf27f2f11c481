import { accountOperations } from "../administration/accounts.ts";
import { certificateOperations } from "./certificate-operations.ts";
import { keyOperations } from "../administration/keys.ts";
import { memberOperations } from "../administration/members.ts";
import { secretsOperations } from "../administration/secrets.ts";
import { operation, type Parts } from "../administration/operation.ts";
import { auditOperations } from "./audit-operations.ts";
import { operatorOrigin, type Origin } from "../platform/events.ts";

/**
 * An operator's operations, by name. Each validates its input (`invalid_request`) and throws `not_found` for an absent resource. When it
 * returns, every node has applied the change: a revoked key works nowhere.
 *
 * @param origin who acts, for the events. Default: the operator
 */
export function openAdministration(given: Parts, origin: Origin = operatorOrigin) {
  const parts = { ...given, db: given.db.as({ origin }) };
  return {
    /** The public origin of the service. */
    "service.describe": operation({}, async () => ({ publicUrl: parts.publicUrl })),
    ...accountOperations(parts),
    ...certificateOperations(parts),
    ...keyOperations(parts),
    ...memberOperations(parts),
    ...secretsOperations(parts),
    ...auditOperations(parts),
  };
}

export type Administration = ReturnType<typeof openAdministration>;
