import { readAudit } from "../events/log/audit.store.ts";
import { auditFilters, filterOf } from "../events/log/audit.ts";
import { withNames } from "../events/log/named-events.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { openOperatorOperations, type OperatorCalls } from "../platform/http/run.ts";
import { Type } from "../platform/json-schema.ts";
import type { Logger } from "../platform/log.ts";
import { Problem } from "../platform/problem.ts";
import type { CallRecord } from "../platform/socket.ts";
import { askToReplaceAll, countFormer } from "../publishing/certificates/former-authority.ts";
import { accountOperations, type AccountServices, demandAccount, id } from "./accounts.ts";
import { keyOperations, type KeyServices } from "./keys.ts";
import { memberOperations, type MemberServices } from "./members.ts";
import { privacyOperations } from "./privacy.ts";
import { secretsOperations, type SecretsServices } from "./secrets-rotation.ts";

/** `directoryUrl` is the directory of the configured certificate authority; empty without one. */
type ServiceServices = { publicUrl: string; directoryUrl: string };
type OperatorServices = AccountServices & KeyServices & MemberServices & SecretsServices & ServiceServices;

const serviceOperations = {
  /** The public origin of the service. */
  "service.describe": operatorOperation({}, async ({ services: { publicUrl } }) => ({ publicUrl })),

  /**
   * Has the certificates of other authorities than the configured one replaced, trusted ones too, as fast as the budget allows; of one host only, if
   * it is given. Returns how many are left.
   */
  "certificates.replace": operatorOperation(
    { hostname: Type.Optional(Type.String({ maxLength: 253 })) },
    async ({ db, body: { hostname }, now, services: { directoryUrl } }) => {
      if (directoryUrl === "")
        throw new Problem("invalid_request", "ACME_DIRECTORY_URL is not set, so there is no authority to issue certificates.");
      await askToReplaceAll(db, directoryUrl, hostname?.toLowerCase(), now);
      const { remaining, kept, most } = await countFormer(db, directoryUrl, now);
      return { remaining, kept, most, directoryUrl };
    },
  ),
} satisfies OperatorOperations<ServiceServices>;

const auditPageMax = 100;
const auditFields = {
  account: id,
  ...auditFilters,
  before: Type.Optional(id),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: auditPageMax })),
};

/** An operator's view of who did what in an account (specification 8.7). */
const auditOperations = {
  /** Returns a page of the events that match the filters, newest first, and the `before` of the next page, or null. Default of `limit`: 100. */
  "audit.list": operatorOperation(auditFields, async ({ db, body: { account, before, limit = auditPageMax, ...asked } }) => {
    await demandAccount(db, account);
    const { events, next } = await readAudit(db, account, filterOf(asked), before, limit);
    return { events: await withNames(db, account, events), next };
  }),

  /** The same as CSV. The first page has the heading. */
  "audit.export": operatorOperation(auditFields, async ({ db, body: { account, before, limit = auditPageMax, ...asked } }) => {
    await demandAccount(db, account);
    const { auditHeading, auditLines } = await import("../events/log/audit-export.ts"); // exports are rare
    const { events, next } = await readAudit(db, account, filterOf(asked), before, limit);
    const lines = auditLines(await withNames(db, account, events));
    return { csv: before === undefined ? `${auditHeading()}${lines}` : lines, count: events.length, next };
  }),
} satisfies OperatorOperations<unknown>;

/** Every operation of the operator's. */
const operations = {
  ...serviceOperations,
  ...accountOperations,
  ...keyOperations,
  ...memberOperations,
  ...secretsOperations,
  ...auditOperations,
  ...privacyOperations,
};

export type Administration = OperatorCalls<typeof operations>;

/**
 * Opens an operator's operations, by name. Each validates its input (`invalid_request`) and throws `not_found` for an absent resource. When it
 * returns, every node has applied the change: a revoked key works nowhere.
 */
export function openAdministration({ db, clock, ...services }: { db: Database; clock: Clock } & OperatorServices): Administration {
  return openOperatorOperations(operations, { db, clock, services });
}

/** The fields whose identifiers are logged. Other fields, such as keys, links and emails, are never logged. */
const idNames = new Set(["id", "account", "accountId", "keyId", "memberId", "projectId"]);

/** Logs an administrative command: its name, its operator, and the identifiers in its input and result. */
export function logCommand(log: Pick<Logger, "info">, called: CallRecord): void {
  const { operation, operator, input } = called;
  if (operation === "service.describe") return; // commands call it, not operators
  const command = operation
    .slice(0, 100)
    .replace(".", " ")
    .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const outcome = "refused" in called ? { refused: called.refused } : { made: idsIn(called.result) };
  log.info({ command, operator, target: idsIn(input), ...outcome }, "administrative command");
}

/** The identifiers of a value: those of its own fields, and `account.id` for a nested account. */
function idsIn(value: unknown): Record<string, number> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const ids = Object.entries(value).flatMap(([name, field]): [string, number][] => {
    if (!idNames.has(name)) return [];
    const own = isRow(field) ? field.id : (field as unknown);
    return typeof own === "number" ? [[name, own]] : [];
  });
  return ids.length > 0 ? Object.fromEntries(ids) : undefined;
}

function isRow(value: unknown): value is { id: unknown } {
  return typeof value === "object" && value !== null && "id" in value;
}
