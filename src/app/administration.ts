import { accountOperations } from "../administration/accounts.ts";
import { keyOperations } from "../administration/keys.ts";
import { memberOperations } from "../administration/members.ts";
import { operation, type Parts } from "../administration/operation.ts";

/**
 * An operator's operations, by name. Each validates its input (`invalid_request`) and throws `not_found` for an absent resource. When it
 * returns, every node has applied the change: a revoked key works nowhere.
 */
export function openAdministration(parts: Parts) {
  return {
    /** The public origin of the service. */
    "service.describe": operation({}, async () => ({ publicUrl: parts.publicUrl })),
    ...accountOperations(parts),
    ...keyOperations(parts),
    ...memberOperations(parts),
  };
}

export type Administration = ReturnType<typeof openAdministration>;
