import { readAudit } from "../events/log/audit.store.ts";
import { auditFilters, filterOf } from "../events/log/audit.ts";
import { withNames } from "../events/log/named-events.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import { demandAccount, id } from "./accounts.ts";

const pageMax = 100;
const fields = {
  account: id,
  ...auditFilters,
  before: Type.Optional(id),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax })),
};

/** An operator's view of who did what in an account (specification 8.7). */
export const auditOperations = {
  /** Returns a page of the events that match the filters, newest first, and the `before` of the next page, or null. Default of `limit`: 100. */
  "audit.list": operatorOperation(fields, async ({ db, body: { account, before, limit = pageMax, ...asked } }) => {
    await demandAccount(db, account);
    const { events, next } = await readAudit(db, account, filterOf(asked), before, limit);
    return { events: await withNames(db, account, events), next };
  }),

  /** The same as CSV. The first page has the heading. */
  "audit.export": operatorOperation(fields, async ({ db, body: { account, before, limit = pageMax, ...asked } }) => {
    await demandAccount(db, account);
    const { auditHeading, auditLines } = await import("../events/log/audit-export.ts"); // exports are rare
    const { events, next } = await readAudit(db, account, filterOf(asked), before, limit);
    const lines = auditLines(await withNames(db, account, events));
    return { csv: before === undefined ? `${auditHeading()}${lines}` : lines, count: events.length, next };
  }),
} satisfies OperatorOperations<unknown>;
