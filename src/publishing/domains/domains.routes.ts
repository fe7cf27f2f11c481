import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { requireConditions } from "../../platform/http/conditions.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { addressOf } from "../../platform/http/prefix.ts";
import { created, deleted, listed, mergePatch, resource } from "../../platform/http/resource-answers.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import { PageQuery, projectChanged, ProjectPath } from "../projects/projects.ts";
import { findProject, lockProject } from "../projects/projects.store.ts";
import { attach, lookUpProofs } from "./domain-claims.ts";
import { applyCheck, checkDomain, isReadyAt, ownershipRecordOf, stillLeadsHere, type Checks } from "./checks.ts";
import { domainChanged, DomainPatch, DomainPath, Domain, Domains, keptForm, NewDomain, RemovedDomain } from "./domains.ts";
import { deleteDomain, findDomain, listDomains, requirePaidPlan, type StoredDomain } from "./domains.store.ts";
import { parseHostname } from "../dns/dns.ts";
import { hstsWarning } from "./hsts.ts";
import { deleteLost, findLost, listLost } from "./lost-domains.store.ts";
import { listRedirectsTo, lockNames, saveNames } from "./names.store.ts";
import { takenByAnother } from "./ownership.ts";
import { changeName } from "./redirects.ts";
import { shownDomain, shownDomains } from "./domain-response.ts";

/** `wake` is called when there is something to check or a certificate to order. */
export type DomainParts = {
  checks: Checks;
  wake: () => void;
  announcer: Announcer;
  /** Whether people reach the edge at the ports that HSTS is sent for. */
  sendsHsts: boolean;
};

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

export function domainRoutes({ checks, wake, announcer, sendsHsts }: DomainParts): Operation[] {
  const answer = async (db: Queryable, domain: StoredDomain, now: number, status = 200) => ({
    status,
    ...(await shownDomain(db, checks, domain, now)),
  });

  return [
    operation({
      operationId: "listDomains",
      method: "GET",
      path,
      tag,
      stability,
      summary: "List domains",
      description: "The domains of a project, in the order in which they were added.",
      scope: "publishing:read",
      params: ProjectPath,
      query: PageQuery,
      example: { params: { projectId: 1 } },
      answers: { 200: listed("The domains.", Domains, [www]) },
      problems: ["not_found"],
      read: async (db, { accountId, params: { projectId }, query, now }) => {
        const [after = 0] = positionOf(query, 1) ?? [];
        await findProject(db, accountId, projectId);
        const limit = (query.limit ?? limitDefault) + 1;
        const lists = await Promise.all([listDomains, listLost].map((list) => list(db, accountId, projectId, Number(after), limit)));
        const rows = lists
          .flat()
          .toSorted((a, b) => a.id - b.id)
          .slice(0, limit);
        const page = pageOf(path.replace("{projectId}", String(projectId)), query, rows, (row) => [row.id]);
        const shown = await shownDomains(db, checks, page.rows, now);
        return { status: 200, body: shown.map(({ body }) => body), headers: page.headers };
      },
    }),
    operation({
      operationId: "addDomain",
      method: "POST",
      path,
      tag,
      stability,
      summary: "Add a domain",
      description:
        "Attaches a host name of yours to a project that has a ready deployment; plan Pro or above. Create the `record` of the answer at your registrar. It is checked by itself for 48 hours, and `verifyDomain` checks it now. Where another account has used the name, `challenge` is needed as well. A name that another account has is a `domain_taken`, with the TXT record that wins it as `challenge`: with that in place, adding the name takes it over, unless the other account has its own in place.",
      scope: "publishing:write",
      params: ProjectPath,
      body: NewDomain,
      example: { params: { projectId: 1 }, body: { hostname: "shop.example.com" } },
      answers: {
        201: created("The domain, to be verified.", Domain, shop),
      },
      problems: ["plan_required", "not_found", "project_not_deployed", "domain_taken"],
      permit: (db, { accountId }) => requirePaidPlan(db, accountId),
      before: (db, { accountId, params: { projectId }, body, now }) =>
        lookUpProofs(db, checks, { accountId, projectId }, parseHostname(body.hostname, checks.own), now),
      write: async (tx, { accountId, params: { projectId }, now }, wanted) => {
        const project = await lockProject(tx, accountId, projectId);
        await requirePaidPlan(tx, accountId);
        if (project.deploymentId === null) {
          throw new Problem("project_not_deployed", "The project has no ready deployment: deploy it first, then add the domain.");
        }
        const domain = await attach(tx, checks, { accountId, projectId }, wanted, now);
        const location = addressOf(`/projects/${projectId}/domains/${domain.hostname}`);
        const answered = { ...(await answer(tx, domain, now, 201)), headers: { location } };
        await announcer.publish(tx, domainChanged(domain.hostname)); // it may have been another's
        return answered;
      },
      finish: async () => {
        await announcer.waitForAll();
        wake();
      },
    }),
    operation({
      operationId: "getDomain",
      method: "GET",
      path: onePath,
      tag,
      stability,
      summary: "Get a domain",
      description: "One domain with its record, what is wrong with it, and its certificate.",
      scope: "publishing:read",
      params: DomainPath,
      example: { params: oneParams },
      answers: { 200: resource("The domain.", Domain, www) },
      problems: ["not_found"],
      read: async (db, { accountId, params: { projectId, hostname }, now }) =>
        answer(db, await findShown(db, accountId, projectId, hostname), now),
    }),
    operation({
      operationId: "updateDomain",
      method: "PATCH",
      path: onePath,
      tag,
      stability,
      summary: "Update a domain",
      description:
        "Makes the domain primary, for which it has to be verified, or a redirect to another name of the project. A redirect has status 301, 302, 307 or 308, and leads to a name that does not redirect itself. It waits until that name is ready: `serving` shows what visitors get meanwhile. Where the primary name begins to redirect, its target becomes primary.",
      scope: "publishing:write",
      params: DomainPath,
      body: DomainPatch,
      mediaTypes: mergePatch,
      example: { params: oneParams, body: { primary: true } },
      answers: { 200: resource("The domain as it now stands.", Domain, { ...www, primary: true }) },
      problems: ["not_found", "precondition_failed", "domain_taken", "domain_not_verified"],
      write: async (tx, { accountId, params: { projectId, hostname }, body, conditions, now }) => {
        const lost = await findLost(tx, accountId, projectId, keptForm(hostname));
        if (lost !== null) throw takenByAnother(lost.hostname, ownershipRecordOf(checks, lost));
        const domain = await lockDomain(tx, accountId, projectId, hostname);
        requireConditions(conditions, (await shownDomain(tx, checks, domain, now)).version);
        const names = await lockNames(tx, { accountId, projectId }, (name) => isReadyAt(checks, name, now));
        const { redirect } = body;
        const change = { ...body, ...(redirect?.to !== undefined && { redirect: { ...redirect, to: keptForm(redirect.to) } }) };
        await saveNames(tx, accountId, names, changeName(names, domain.hostname, present(change)));
        const answered = await answer(tx, await findDomain(tx, accountId, projectId, domain.hostname), now);
        await announcer.publish(tx, projectChanged(accountId, projectId));
        return answered;
      },
      finish: () => announcer.waitForAll(),
    }),
    operation({
      operationId: "removeDomain",
      method: "DELETE",
      path: onePath,
      tag,
      stability,
      summary: "Remove a domain",
      description:
        "From the answer on no node serves the name, on open connections neither, and its certificate is not renewed. While the DNS record still leads here, and where browsers were told to open the name over HTTPS only (HSTS), the answer is a 200 with a warning. It is a 200 with `redirects` where other names redirected to it: they keep their redirect, and serve the site as long as its target is missing.",
      scope: "publishing:write",
      params: DomainPath,
      example: { params: oneParams },
      answers: {
        200: {
          description: "The domain is removed, and something is left to do.",
          schema: RemovedDomain,
          example: {
            hostname: "www.example.com",
            warning: "www.example.com still leads to petstore.localhost: delete its CNAME record at your registrar.",
            redirects: [],
          },
        },
        204: deleted("The domain is removed."),
      },
      problems: ["not_found", "precondition_failed"],
      before: async (db, { accountId, params: { projectId, hostname } }) => {
        const domain = await findShown(db, accountId, projectId, hostname);
        return { leadsHere: await stillLeadsHere(checks, domain) };
      },
      write: async (tx, { accountId, params: { projectId, hostname }, conditions, now }, { leadsHere }) => {
        const lost = await findLost(tx, accountId, projectId, keptForm(hostname));
        if (lost !== null) {
          requireConditions(conditions, (await shownDomain(tx, checks, lost, now)).version);
          await deleteLost(tx, accountId, lost.hostname);
          return { status: 204 };
        }
        const domain = await lockDomain(tx, accountId, projectId, hostname);
        requireConditions(conditions, (await shownDomain(tx, checks, domain, now)).version);
        const redirects = await listRedirectsTo(tx, domain, domain.hostname);
        await deleteDomain(tx, domain);
        await announcer.publish(tx, domainChanged(domain.hostname));
        const { hsts } = await findProject(tx, accountId, projectId);
        const warnings = [
          leadsHere ? recordWarning(domain, checks.own.platformDomain) : null,
          sendsHsts && hsts ? hstsWarning(domain, now) : null,
        ];
        const warning = warnings.filter((one) => one !== null).join(" ");
        if (warning === "" && redirects.length === 0) return { status: 204 };
        return { status: 200, body: { hostname: domain.hostname, ...(warning !== "" && { warning }), redirects } };
      },
      finish: () => announcer.waitForAll(),
    }),
    operation({
      operationId: "verifyDomain",
      method: "POST",
      path: "/projects/{projectId}/domains/{hostname}/verify",
      tag,
      stability,
      summary: "Verify a domain",
      description:
        "Checks the DNS records now, and gives the domain with every problem found. After the first success a certificate is ordered by itself; verifying again orders one that is missing. A name that another account took over (`proved_elsewhere`) comes back where your TXT record is in place and the other account's is not, and is a `domain_taken` otherwise.",
      scope: "publishing:write",
      params: DomainPath,
      example: { params: oneParams },
      answers: { 200: resource("The domain as it was found.", Domain, www) },
      problems: ["plan_required", "not_found", "domain_taken"],
      permit: (db, { accountId }) => requirePaidPlan(db, accountId),
      before: async (db, { accountId, params: { projectId, hostname }, now }) => {
        const lost = await findLost(db, accountId, projectId, keptForm(hostname));
        if (lost !== null) return { domain: lost, wanted: await lookUpProofs(db, checks, { accountId, projectId }, lost, now) };
        const domain = await findDomain(db, accountId, projectId, keptForm(hostname));
        return { domain, checked: await checkDomain(checks, db, domain) };
      },
      write: async (tx, { accountId, params: { projectId }, now }, { domain, wanted, checked }) => {
        const after = wanted
          ? await attach(tx, checks, { accountId, projectId }, wanted, now)
          : await applyCheck(checks, tx, domain, checked, { isAsked: true, now });
        if (after === null) throw new Problem("not_found", `${domain.hostname} is not attached to project ${domain.projectId}.`);
        const answered = await answer(tx, after, now);
        await announcer.publish(tx, domainChanged(after.hostname));
        return answered;
      },
      finish: async () => {
        await announcer.waitForAll();
        wake();
      },
    }),
  ];
}

/** A domain of the project, also one that another account took over. @throws Problem `not_found` */
async function findShown(db: Queryable, accountId: number, projectId: number, hostname: string): Promise<StoredDomain> {
  const name = keptForm(hostname);
  return (await findLost(db, accountId, projectId, name)) ?? findDomain(db, accountId, projectId, name);
}

function recordWarning({ hostname, kind }: StoredDomain, platformDomain: string): string {
  return `${hostname} still leads to ${platformDomain}: delete its ${kind === "apex" ? "ALIAS" : "CNAME"} record at your registrar.`;
}

/** In one statement, so that it is never the row of who has just taken the name over. @throws Problem `not_found` */
function lockDomain(tx: Transaction, accountId: number, projectId: number, hostname: string): Promise<StoredDomain> {
  return findDomain(tx, accountId, projectId, keptForm(hostname), tx.forUpdate);
}

/** A merge patch's absent members, which a validated body may hold as undefined. */
function present<T extends object>(patch: T): T {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as T;
}
