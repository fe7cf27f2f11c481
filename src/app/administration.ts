import { accountOperations } from "../administration/accounts.ts";
import { keyOperations } from "../administration/keys.ts";
import { memberOperations } from "../administration/members.ts";
import { operation, type Parts } from "../administration/operation.ts";

/**
 * What an operator may do, by name. Each operation checks its input (`invalid_request`), knows absent things as
 * `not_found`, and is done, here and on every other node, when it answers: a key that was revoked works no more.
 */
export function openAdministration(parts: Parts) {
  return {
    /** What others have to know of the service: where people find it. */
    "service.describe": operation({}, async () => ({ publicUrl: parts.publicUrl })),
    ...accountOperations(parts),
    ...keyOperations(parts),
    ...memberOperations(parts),
  };
}

export type Administration = ReturnType<typeof openAdministration>;
