import type { Caller } from "../../platform/http/caller.ts";
import { operation, type AnswerStream, type Operation } from "../../platform/http/operation.ts";
import { takePlace } from "../../platform/jobs/fair-share.ts";
import { Type } from "../../platform/json-schema.ts";
import { Problem } from "../../platform/problem.ts";
import { readAudit, recordExport } from "./audit.store.ts";
import { AuditPage, AuditQuery, ExportQuery, filterOf } from "./audit.ts";
import type { EventServices } from "./events.routes.ts";
import { withNames } from "./named-events.ts";

const tag = "Audit";
const scope = "audit:read";
const limitDefault = 20;

/** Who did what in the account: for its owners, in the dashboard. */
export const auditRoutes: Operation<Pick<EventServices, "exports" | "listeners">>[] = [
  operation({
    operationId: "listAudit",
    method: "GET",
    path: "/audit",
    tag,
    summary: "List who did what",
    description: "The events that pass all given filters, the newest first, with the names of who did them.",
    scope,
    query: AuditQuery,
    answers: { 200: { description: "The events.", schema: AuditPage } },
    read: async (db, { accountId, query }) => {
      const page = await readAudit(db, accountId, filterOf(query), query.before, query.limit ?? limitDefault);
      return { status: 200, body: { events: await withNames(db, accountId, page.events), next: page.next } };
    },
  }),
  operation({
    operationId: "exportAudit",
    method: "GET",
    path: "/audit/export",
    tag,
    summary: "Export who did what",
    description:
      "The same events as CSV, at most 100,000. At most two exports of an account run at once. The export itself is recorded as an event.",
    scope,
    query: ExportQuery,
    answers: { 200: { description: "A line for each event.", schema: Type.String(), mediaType: "text/csv" } },
    handle: async ({ db, caller, query, services }) => {
      const filter = filterOf(query);
      const { accountId, memberId } = personOf(caller);
      const { sendAudit } = await import("./audit-export.ts"); // loaded on demand, because exports are rare
      const release = await takePlace(services.exports, accountId);
      try {
        await db.write((tx) => recordExport(tx, accountId, memberId));
      } catch (error) {
        release();
        throw error;
      }
      const exporting = { db, accountId, filter, release, isClosed: () => services.listeners.isClosed() };
      return {
        status: 200,
        headers: {
          "content-type": "text/csv; charset=utf-8; header=present",
          "content-disposition": 'attachment; filename="audit.csv"',
          "cache-control": "no-store",
        },
        stream: (body: AnswerStream) => void sendAudit(body, exporting),
      };
    },
  }),
];

function personOf(caller: Caller | null) {
  if (!caller?.person) throw new Problem("unauthorized", "Sign in first.");
  return { accountId: caller.accountId, memberId: caller.person.memberId };
}
