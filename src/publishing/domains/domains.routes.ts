import { created, listed, mergePatch, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { parseHostname } from "../dns/hostnames.ts";
import { PageQuery, ProjectPath } from "../projects/projects.ts";
import { lookUpClaim } from "./domain-claims.ts";
import {
  addDomain,
  announceAndWake,
  answer,
  changeDomain,
  checkNow,
  type DomainServices,
  findRecordLeft,
  findShown,
  keepCheck,
  readDomains,
  removeDomain,
} from "./domain-operations.ts";
import { requirePaidPlan } from "./domains.store.ts";
import { Domain, DomainInput, DomainPatch, DomainPath, Domains, RemovedDomain } from "./domains.ts";

const path = "/projects/{projectId}/domains";
const onePath = "/projects/{projectId}/domains/{hostname}";
const tag = "Domains";
const stability = "beta";
const oneParams = { projectId: 1, hostname: "www.example.com" };
const www: Domain = {
  hostname: "www.example.com",
  projectId: 1,
  kind: "subdomain",
  status: "verified",
  primary: false,
  redirect: null,
  record: { type: "CNAME", name: "www", value: "petstore.localhost", ttl: 3600 },
  challenge: null,
  problems: [],
  serving: { what: "site", to: null, reason: "www.example.com is verified." },
  certificate: { status: "none", issuedAt: null, expiresAt: null, problem: null, retryAt: null },
  attention: null,
  nextCheckAt: "2026-12-25T10:00:00Z",
  createdAt: "2026-12-24T10:00:00Z",
  verifiedAt: "2026-12-24T10:00:00Z",
};
const shop: Domain = {
  ...www,
  hostname: "shop.example.com",
  status: "pending",
  record: { ...www.record, name: "shop" },
  serving: { what: "nothing", to: null, reason: "shop.example.com has not been verified yet." },
  nextCheckAt: "2026-12-24T10:00:00Z",
  verifiedAt: null,
};

export const domainRoutes: Operation<DomainServices>[] = [
  operation({
    operationId: "listDomains",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List domains",
    description: "The domains of a project, oldest first.",
    scope: "publishing:read",
    params: ProjectPath,
    query: PageQuery,
    example: { params: { projectId: 1 } },
    answers: { 200: listed("The domains.", Domains, [www]) },
    problems: ["not_found"],
    read: readDomains,
  }),
  operation({
    operationId: "addDomain",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Add a domain",
    description:
      "Attaches your host name to a project that has a ready deployment; needs plan Pro or above. Create the `record` of the answer at your registrar, and the `challenge` if it has one. The service checks them for 48 hours; `verifyDomain` checks them now.",
    details:
      "There is a `challenge` if another account used the name before. If another account has the name, the answer is `domain_taken` with a TXT record as its `challenge`: create that record and add the name again to take it over, unless the other account has its own record in place.",
    scope: "publishing:write",
    params: ProjectPath,
    body: DomainInput,
    example: { params: { projectId: 1 }, body: { hostname: "shop.example.com" } },
    answers: {
      201: created("The new domain, not verified yet.", Domain, shop),
    },
    problems: ["plan_required", "not_found", "project_not_deployed", "domain_taken"],
    authorize: (db, { accountId }) => requirePaidPlan(db, accountId),
    before: (db, { accountId, params: { projectId }, body, services: { checks }, now }) =>
      lookUpClaim(db, checks, { accountId, projectId }, parseHostname(body.hostname, checks.own), now),
    write: addDomain,
    finish: announceAndWake,
  }),
  operation({
    operationId: "getDomain",
    method: "GET",
    path: onePath,
    tag,
    stability,
    summary: "Get a domain",
    description: "One domain with its record, its problems and its certificate.",
    scope: "publishing:read",
    params: DomainPath,
    example: { params: oneParams },
    answers: { 200: resource("The domain.", Domain, www) },
    problems: ["not_found"],
    read: async (db, { accountId, params, services, now }) =>
      answer(db, services, await findShown(db, accountId, params.projectId, params.hostname), now),
  }),
  operation({
    operationId: "updateDomain",
    method: "PATCH",
    path: onePath,
    tag,
    stability,
    summary: "Update a domain",
    description:
      "Makes a verified domain primary, or redirects a domain to another name of the project. A redirect takes effect when its target is ready; `serving` shows what visitors get.",
    details:
      "A redirect has status 301 (the default), 302, 307 or 308, and leads to a name that does not redirect. If the primary name becomes a redirect, its target becomes primary.",
    scope: "publishing:write",
    params: DomainPath,
    body: DomainPatch,
    mediaTypes: mergePatch,
    example: { params: oneParams, body: { primary: true } },
    answers: { 200: resource("The updated domain.", Domain, { ...www, primary: true }) },
    problems: ["not_found", "precondition_failed", "domain_taken", "domain_not_verified"],
    write: changeDomain,
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
  operation({
    operationId: "removeDomain",
    method: "DELETE",
    path: onePath,
    tag,
    stability,
    summary: "Remove a domain",
    description:
      "Detaches a domain, and returns once it is not served any more. The answer has a `warning` if its DNS record should change too.",
    details:
      "No node serves it then, not even on open connections, and its certificate is no longer renewed. The warning says that the DNS record still points here, or that browsers may open the name over HTTPS only (HSTS). `redirects` are the names that redirected to it: they keep their redirect, and serve the site while its target is missing.",
    scope: "publishing:write",
    params: DomainPath,
    example: { params: oneParams },
    answers: {
      200: {
        description: "The domain is removed. `warning` says what is left to do, if anything.",
        schema: RemovedDomain,
        example: {
          hostname: "www.example.com",
          warning: "www.example.com still points to petstore.localhost: delete its CNAME record at your registrar.",
          redirects: [],
        },
      },
    },
    problems: ["not_found", "precondition_failed"],
    before: findRecordLeft,
    write: removeDomain,
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
  operation({
    operationId: "verifyDomain",
    method: "POST",
    path: "/projects/{projectId}/domains/{hostname}/verify",
    tag,
    stability,
    summary: "Verify a domain",
    description:
      "Checks the DNS records now, and returns the domain with every problem found. After the first success the service orders a certificate; verifying again orders one that is missing.",
    details:
      "If another account took the name over (`proved_elsewhere`), you get it back if your TXT record is in place and the other account's is not; otherwise the answer is `domain_taken`.",
    scope: "publishing:write",
    params: DomainPath,
    example: { params: oneParams },
    answers: { 200: resource("The domain after the check.", Domain, www) },
    problems: ["plan_required", "not_found", "domain_taken"],
    authorize: (db, { accountId }) => requirePaidPlan(db, accountId),
    before: checkNow,
    write: keepCheck,
    finish: announceAndWake,
  }),
];
