import type { Static } from "typebox";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import type { Answer, Call } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import { recordFor } from "../dns/hostnames.ts";
import { findProject, lockProject, lockProjectOf } from "../projects/projects.store.ts";
import { type PageQuery, projectChanged, type ProjectNames, type ProjectPath } from "../projects/projects.ts";
import { applyCheck, checkDomain, type CheckOutcome, type Checks, isReadyAt, ownershipRecordOf, stillLeadsHere } from "./checks.ts";
import { claimDomain, type LookedUpClaim, lookUpClaim } from "./domain-claims.ts";
import { deleteDomain, findDomain, listDomains, requirePaidPlan, type StoredDomain } from "./domains.store.ts";
import { type Domain, domainChanged, type DomainPatch, type DomainPath, storedForm } from "./domains.ts";
import { deleteLost, findLost, listLost } from "./lost-domains.store.ts";
import {
  listRedirectsTo,
  lockNames,
  type ProjectContext,
  readConfigured,
  readProjectContext,
  saveNames,
  type StoredName,
} from "./names.store.ts";
import { takenByAnother } from "./ownership.ts";
import { changeName, configuredPrimary } from "./redirects.ts";
import { hstsWarning, type Serving, servingOf } from "./serving.ts";
import { attentionOf, problemsOf, servingReason, type Trouble, troublesOf } from "./troubles.ts";

/** `wake` starts the workers that check domains and order certificates. */
export type DomainServices = {
  checks: Checks;
  wake: () => void;
  announcer: Announcer;
  /** Whether visitors reach the edge at ports 80 and 443, which HSTS needs. */
  sendsHsts: boolean;
};

type DomainCall<I = unknown> = Call<DomainServices, { params: Static<typeof DomainPath> } & I>;
type ProjectCall<I = unknown> = Call<DomainServices, { params: Static<typeof ProjectPath> } & I>;

/** A page of a project's domains, including those that another account took over. */
export async function readDomains(db: Database, call: ProjectCall<{ query: Static<typeof PageQuery> }>): Promise<Answer> {
  const { accountId, params, query, services, now } = call;
  const { projectId } = params;
  const [after = 0] = positionOf(query, 1) ?? [];
  await findProject(db, accountId, projectId);
  const limit = (query.limit ?? limitDefault) + 1;
  const lists = await Promise.all([listDomains, listLost].map((list) => list(db, accountId, projectId, Number(after), limit)));
  const rows = lists
    .flat()
    .toSorted((a, b) => a.id - b.id)
    .slice(0, limit);
  const page = pageOf(`/projects/${projectId}/domains`, query, rows, (row) => [row.id]);
  const shown = await domainResponses(db, services.checks, page.rows, now);
  return { status: 200, body: shown.map(({ body }) => body), headers: page.headers };
}

/** Attaches the domain whose proofs were looked up. @throws Problem `project_not_deployed`, `plan_required`, `domain_taken` */
export async function addDomain(tx: Transaction, call: ProjectCall, wanted: LookedUpClaim): Promise<Answer> {
  const { accountId, params, services, now } = call;
  const { projectId } = params;
  const project = await lockProject(tx, accountId, projectId);
  await requirePaidPlan(tx, accountId);
  if (project.deploymentId === null) {
    throw new Problem(
      "project_not_deployed",
      "The project has no ready deployment: deploy it or publish its storefront first, then add the domain.",
    );
  }
  const domain = await claimDomain(tx, services.checks, { accountId, projectId }, wanted, now);
  const location = addressOf(`/projects/${projectId}/domains/${domain.hostname}`);
  const answered = { ...(await answer(tx, services, domain, now, 201)), headers: { location } };
  await services.announcer.publish(tx, domainChanged(domain.hostname)); // another account may have had it
  return answered;
}

/** Makes a domain primary or a redirect. */
export async function changeDomain(tx: Transaction, call: DomainCall<{ body: Static<typeof DomainPatch> }>): Promise<Answer> {
  const { accountId, params, body, conditions, services, now } = call;
  const { projectId, hostname } = params;
  const { checks, announcer } = services;
  const lost = await findLost(tx, accountId, projectId, storedForm(hostname));
  if (lost !== null) throw takenByAnother(lost.hostname, ownershipRecordOf(checks, lost));
  await lockProjectOf(tx, { accountId, projectId });
  const domain = await lockDomain(tx, accountId, projectId, hostname);
  requireConditions(conditions, (await domainResponse(tx, checks, domain, now)).version);
  const names = await lockNames(tx, { accountId, projectId }, (name) => isReadyAt(checks, name, now));
  const { redirect } = body;
  const change = { ...body, ...(redirect?.to !== undefined && { redirect: { ...redirect, to: storedForm(redirect.to) } }) };
  await saveNames(tx, { accountId, projectId }, names, changeName(names, domain.hostname, present(change)));
  const answered = await answer(tx, services, await findDomain(tx, accountId, projectId, domain.hostname), now);
  await announcer.publish(tx, projectChanged(accountId, projectId));
  return answered;
}

/** Checks whether the domain's DNS record still points here, so that the answer to the removal can warn about it. */
export async function findRecordLeft(db: Database, { accountId, params, services }: DomainCall): Promise<{ leadsHere: boolean }> {
  const domain = await findShown(db, accountId, params.projectId, params.hostname);
  return { leadsHere: await stillLeadsHere(services.checks, domain) };
}

/** Removes a domain, and warns if its DNS record or HSTS still needs attention. */
export async function removeDomain(tx: Transaction, call: DomainCall, { leadsHere }: { leadsHere: boolean }): Promise<Answer> {
  const { accountId, params, conditions, services, now } = call;
  const { projectId, hostname } = params;
  const { checks, announcer, sendsHsts } = services;
  const lost = await findLost(tx, accountId, projectId, storedForm(hostname));
  if (lost !== null) {
    requireConditions(conditions, (await domainResponse(tx, checks, lost, now)).version);
    await deleteLost(tx, accountId, lost.hostname);
    return { status: 200, body: { hostname: lost.hostname, redirects: [] } };
  }
  const domain = await lockDomain(tx, accountId, projectId, hostname);
  requireConditions(conditions, (await domainResponse(tx, checks, domain, now)).version);
  const redirects = await listRedirectsTo(tx, domain, domain.hostname);
  await deleteDomain(tx, domain);
  await announcer.publish(tx, domainChanged(domain.hostname));
  const { hsts } = await findProject(tx, accountId, projectId);
  const warnings = [
    leadsHere ? recordWarning(domain, checks.own.platformDomain) : null,
    sendsHsts && hsts ? hstsWarning(domain, now) : null,
  ];
  const warning = warnings.filter((one) => one !== null).join(" ");
  return { status: 200, body: { hostname: domain.hostname, ...(warning !== "" && { warning }), redirects } };
}

type CheckedDomain = { domain: StoredDomain; wanted: LookedUpClaim } | { domain: StoredDomain; wanted?: undefined; checked: CheckOutcome };

/** Looks up the proofs of a name that another account took over, or checks the records of any other domain. */
export async function checkNow(db: Database, { accountId, params, services: { checks }, now }: DomainCall): Promise<CheckedDomain> {
  const { projectId, hostname } = params;
  const lost = await findLost(db, accountId, projectId, storedForm(hostname));
  if (lost !== null) return { domain: lost, wanted: await lookUpClaim(db, checks, { accountId, projectId }, lost, now) };
  const domain = await findDomain(db, accountId, projectId, storedForm(hostname));
  return { domain, checked: await checkDomain(checks, db, domain) };
}

/** Saves the result of `checkNow`. */
export async function keepCheck(tx: Transaction, call: DomainCall, found: CheckedDomain): Promise<Answer> {
  const { accountId, params, services, now } = call;
  const { checks, announcer } = services;
  const { domain } = found;
  await lockProjectOf(tx, { accountId, projectId: params.projectId });
  const after = found.wanted
    ? await claimDomain(tx, checks, { accountId, projectId: params.projectId }, found.wanted, now)
    : await applyCheck(checks, tx, domain, found.checked, { isAsked: true, now });
  if (after === null) throw new Problem("not_found", `${domain.hostname} is not attached to project ${domain.projectId}.`);
  const answered = await answer(tx, services, after, now);
  await announcer.publish(tx, domainChanged(after.hostname));
  return answered;
}

/** Waits until all nodes know of the change, then starts the workers. */
export async function announceAndWake(_db: Database, { services }: Call<DomainServices>): Promise<void> {
  await services.announcer.waitForAll();
  services.wake();
}

/** The answer with the current state of a domain. */
export async function answer(db: Queryable, { checks }: DomainServices, domain: StoredDomain, now: number, status = 200) {
  return { status, ...(await domainResponse(db, checks, domain, now)) };
}

/** Finds a domain of the project, even if another account took it over. @throws Problem `not_found` */
export async function findShown(db: Queryable, accountId: number, projectId: number, hostname: string): Promise<StoredDomain> {
  const name = storedForm(hostname);
  return (await findLost(db, accountId, projectId, name)) ?? findDomain(db, accountId, projectId, name);
}

function recordWarning({ hostname, kind }: StoredDomain, platformDomain: string): string {
  return `${hostname} still points to ${platformDomain}: delete its ${kind === "apex" ? "ALIAS" : "CNAME"} record at your registrar.`;
}

/** Finds and locks a domain in one statement: between two, another account could take the name over. @throws Problem `not_found` */
function lockDomain(tx: Transaction, accountId: number, projectId: number, hostname: string): Promise<StoredDomain> {
  return findDomain(tx, accountId, projectId, storedForm(hostname), tx.forUpdate);
}

/** Removes undefined members, which a validated body may have in place of absent ones. */
function present<T extends object>(patch: T): T {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as T;
}

/** A domain as the API returns it, and the version of that response. */
type DomainResponse = { body: Domain; version: string };

const moment = (time: number | null): string | null => (time === null ? null : formatDateTime(time));

/** A domain as the API returns it at `now`. */
async function domainResponse(db: Queryable, checks: Checks, domain: StoredDomain, now: number): Promise<DomainResponse> {
  const [shown] = await domainResponses(db, checks, [domain], now);
  return shown!;
}

/** Domains of one project as the API returns them at `now`, read with as many queries as one domain needs. */
async function domainResponses(db: Queryable, checks: Checks, domains: StoredDomain[], now: number): Promise<DomainResponse[]> {
  const [first] = domains;
  if (first === undefined) return [];
  const targets = new Set(domains.flatMap(({ redirect }) => redirect?.to ?? []));
  const project = await readProjectContext(db, first, [...targets]);
  return domains.map((domain) => {
    const body = bodyOf(domain, checks, project, now);
    return { body, version: versionOfShown(domain.version, body) };
  });
}

function bodyOf(domain: StoredDomain, checks: Checks, project: ProjectContext, now: number): Domain {
  const hasAuthority = checks.authority !== null;
  const troubles = troublesOf(domain, { isPaid: project.isPaid, waitsFor: waitingRedirect(domain, checks, project, now) }, now);
  const serving = servingOfDomain(domain, checks, project, now);
  const attention = attentionOf(domain, troubles);
  return {
    hostname: domain.hostname,
    projectId: domain.projectId,
    kind: domain.kind,
    status: domain.status,
    primary: configuredPrimary(project.primaries) === domain.hostname,
    redirect: domain.redirect,
    record: recordFor(domain, checks.own.platformDomain),
    challenge: domain.proofNeeded ? ownershipRecordOf(checks, domain) : null,
    problems: problemsOf(domain, troubles, hasAuthority),
    serving: {
      what: serving.what,
      to: serving.what === "redirect" ? serving.to : null,
      reason: servingReason(domain, serving, troubles),
    },
    certificate: certificateResponse(domain, project.isPaid, troubles, now),
    attention: attention && { ...attention, since: formatDateTime(attention.since) },
    nextCheckAt: moment(domain.nextCheckAt),
    createdAt: formatDateTime(domain.createdAt),
    verifiedAt: moment(domain.verifiedAt),
  };
}

/** The redirect of a name that waits until its target is ready; null if it does not. */
function waitingRedirect({ redirect }: StoredDomain, checks: Checks, { targets }: ProjectContext, now: number) {
  if (redirect === null) return null;
  const target = targets.find(({ hostname }) => hostname === redirect.to);
  return target !== undefined && isReadyAt(checks, target, now) ? null : { to: redirect.to, target };
}

function servingOfDomain(domain: StoredDomain, checks: Checks, project: ProjectContext, now: number): Serving {
  if (domain.isLost) return { what: "nothing" };
  const ready = (name: StoredName): boolean => isReadyAt(checks, name, now);
  const { isPaid, redirectToPrimary, primaries, targets } = project;
  return servingOf(domain, {
    isPaid,
    redirectToPrimary,
    primary: primaries.find((name) => name.primary && ready(name))?.hostname ?? null,
    isReady: (hostname) => targets.some((name) => name.hostname === hostname && ready(name)),
  });
}

/**
 * A certificate that is due now counts as being issued: the result of the previous try is not shown. One that has expired is failing until another is issued.
 */
function certificateResponse(
  { status: domainStatus, caa, certificate }: StoredDomain,
  isPaid: boolean,
  troubles: readonly Trouble[],
  now: number,
): Domain["certificate"] {
  const { status, dueAt } = certificate;
  const isTriedNow = status === "failing" && isPaid && domainStatus === "verified" && caa === "allowed" && dueAt !== null && dueAt <= now;
  const hasExpired = troubles.some((trouble) => trouble.code === "certificate_missing" && trouble.hasExpired);
  const isIssuing = !hasExpired && (status === "issuing" || isTriedNow);
  return {
    status: isIssuing ? "issuing" : hasExpired ? "failing" : status,
    issuedAt: moment(certificate.issuedAt),
    expiresAt: moment(certificate.expiresAt),
    problem: isIssuing ? null : (certificate.problem ?? (hasExpired ? "The certificate has expired, and has not been renewed." : null)),
    retryAt: isIssuing ? null : moment(certificate.retryAt),
  };
}

/** The address of a site, with scheme and port: at a project's slug on the platform, or at a custom domain. */
export type Origins = { ofSlug: (slug: string) => string; ofDomain: (hostname: string, isSecure: boolean) => string };

/** The names of an account's projects as the API returns them, in the order of the projects. */
export async function projectNames(
  db: Queryable,
  checks: Checks,
  { ofSlug, ofDomain }: Origins,
  projects: { accountId: number; id: number; slug: string }[],
  now: number,
): Promise<ProjectNames[]> {
  const [first] = projects;
  if (first === undefined) return [];
  const ids = projects.map(({ id }) => id);
  const { isPaid, byProject } = await readConfigured(db, first.accountId, ids);
  return projects.map(({ id, slug }) => {
    const { primaries, redirects } = byProject.get(id)!;
    const inEffect = isPaid ? primaries.find((name) => name.primary && isReadyAt(checks, name, now)) : undefined;
    return {
      url: inEffect === undefined ? ofSlug(slug) : ofDomain(inEffect.hostname, inEffect.certificateId !== null),
      domains: { primary: configuredPrimary(primaries), redirects: redirects.flatMap(configuredRedirect) },
    };
  });
}

function configuredRedirect({ hostname: from, redirect }: StoredName) {
  return redirect === null ? [] : [{ from, to: redirect.to, status: redirect.status }];
}
