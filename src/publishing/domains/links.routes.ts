import type { Static } from "typebox";
import type { Queryable } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { findDomain } from "./domains.store.ts";
import { storedForm, DomainPath } from "./domains.ts";
import { endLink, findLinkEnd, linkMs, makeLink } from "./links.store.ts";

/** `publicUrl`: the origin of the page that a link leads to. */
export type LinkServices = { publicUrl: string };

const path = "/projects/{projectId}/domains/{hostname}/link";
const tag = "Domains";
const expiresAt = DateTime("When it ends.");
const Made = Type.Object({ url: Type.String({ description: "The address to pass on, shown once." }), expiresAt });

/** A link to a page that shows the DNS records of a name to the person who sets them (specification 5.12). */
export const linkRoutes: Operation<LinkServices>[] = [
  operation({
    operationId: "createDomainLink",
    method: "POST",
    path,
    tag,
    summary: "Make a link to the records of a domain",
    description: "Makes a link that shows the records to create and whether they are right, for 14 days. An earlier link ends.",
    scope: "publishing:write",
    params: DomainPath,
    answers: { 201: { description: "The link.", schema: Made } },
    problems: ["not_found"],
    handle: async ({ db, caller, params, now, services }) => {
      const token = await db.write(async (tx) => makeLink(tx, await domainOf(tx, caller!.accountId, params), now));
      return { status: 201, body: { url: `${services.publicUrl}/dns-records/${token}`, expiresAt: formatDateTime(now + linkMs) } };
    },
  }),
  operation({
    operationId: "getDomainLink",
    method: "GET",
    path,
    tag,
    summary: "Find out whether a domain has a link",
    description: "When the link to the records of a domain ends; null without one.",
    scope: "publishing:read",
    params: DomainPath,
    answers: { 200: { description: "When it ends.", schema: Type.Object({ expiresAt: Nullable(expiresAt) }) } },
    problems: ["not_found"],
    handle: async ({ db, caller, params, now }) => {
      const end = await findLinkEnd(db, await domainOf(db, caller!.accountId, params), now);
      return { status: 200, body: { expiresAt: end === null ? null : formatDateTime(end) } };
    },
  }),
  operation({
    operationId: "deleteDomainLink",
    method: "DELETE",
    path,
    tag,
    summary: "End the link to the records of a domain",
    description: "Ends the link at once.",
    scope: "publishing:write",
    params: DomainPath,
    answers: { 204: { description: "There is no link any more." } },
    problems: ["not_found"],
    handle: async ({ db, caller, params }) => {
      await db.write(async (tx) => endLink(tx, await domainOf(tx, caller!.accountId, params)));
      return { status: 204 };
    },
  }),
];

function domainOf(db: Queryable, accountId: number, { projectId, hostname }: Static<typeof DomainPath>) {
  return findDomain(db, accountId, projectId, storedForm(hostname));
}
