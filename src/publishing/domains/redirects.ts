import { Problem } from "../../platform/problem.ts";
import type { DomainProblem } from "./domain-problems.ts";

export const redirectStatuses = [301, 302, 307, 308] as const;
export type RedirectStatus = (typeof redirectStatuses)[number];
export type Redirect = { to: string; status: RedirectStatus };

/** One name of a project: served, or redirecting; at most one name is primary, and that one is served. */
export type SiteName = { hostname: string; primary: boolean; redirect: Redirect | null };

/** A merge patch of a name (RFC 7396): what is absent stays, within the redirect too; a redirect of null ends it. */
export type SiteNameChange = { primary?: boolean; redirect?: { to?: string; status?: number } | null };

/** The `domains` object of petstore.json, its names parsed already. */
export type DomainsConfig = { primary?: string; redirects?: { from: string; to: string; status?: number }[] };

/**
 * The names of a project after a change to one of them. Where the primary name begins to redirect, its target becomes primary.
 * Raises `invalid_request` for another status, a target outside the project, and a target that redirects; `not_found` for an unknown name.
 */
export function changeName(names: readonly SiteName[], hostname: string, change: SiteNameChange): SiteName[] {
  const changed = names.find((name) => name.hostname === hostname);
  if (changed === undefined) throw new Problem("not_found", `${hostname} is not attached to this project.`);
  const redirect = change.redirect === null ? null : mergedRedirect(changed.redirect, change.redirect);
  if (change.primary === true && redirect !== null)
    throw invalid(
      "body.primary",
      `${hostname} redirects to ${redirect.to}, so it cannot be the primary name. Set its redirect to null first.`,
    );
  const primary = primaryAfter(names, changed, change, redirect);
  const after = names.map((name) => ({
    ...name,
    redirect: name === changed ? redirect : name.redirect,
    primary: name.hostname === primary,
  }));
  const touched = new Set(change.redirect === undefined ? [] : [hostname]);
  assertRedirectsEnd(after, (from) => (from === hostname ? "body.redirect.to" : "body.redirect"), touched);
  return after;
}

/**
 * The names of a project after its petstore.json: those that it names are as it says (a name that is no `from` does not redirect), the others stay.
 * `added` are not attached yet. Raises `invalid_request` with the place in the file, and then nothing of it is to be applied.
 */
export function applyConfig(
  names: readonly SiteName[],
  { primary, redirects = [] }: DomainsConfig,
): { names: SiteName[]; added: string[] } {
  const declared = new Map<string, Redirect | null>(redirects.flatMap(({ from, to }) => [from, to]).map((hostname) => [hostname, null]));
  if (primary !== undefined) declared.set(primary, null);
  const places = new Map<string, string>();
  for (const [index, { from, ...redirect }] of redirects.entries()) {
    const path = `domains.redirects[${index}]`;
    if (places.has(from)) throw invalid(`${path}.from`, `${from} has more than one redirect.`);
    if (from === primary) throw invalid(`${path}.from`, `${from} is the primary name, so it cannot redirect.`);
    places.set(from, `${path}.to`);
    declared.set(from, withStatus(redirect, path));
  }
  const attached = new Set(names.map(({ hostname }) => hostname));
  const added = [...declared.keys()].filter((hostname) => !attached.has(hostname));
  const before = [...names, ...added.map((hostname): SiteName => ({ hostname, primary: false, redirect: null }))];
  const primaryBefore = names.find((name) => name.primary)?.hostname;
  const primaryAfterwards = primary ?? declared.get(primaryBefore ?? "")?.to ?? primaryBefore;
  const after = before.map(({ hostname, redirect }) => ({
    hostname,
    redirect: declared.get(hostname) === undefined ? redirect : declared.get(hostname)!,
    primary: hostname === primaryAfterwards,
  }));
  assertRedirectsEnd(after, (from) => places.get(from) ?? "domains.redirects", new Set(declared.keys()));
  return { names: after, added };
}

/** The problem of a name whose redirect leads to a name that has been removed; null where all is well. */
export function redirectProblem({ hostname, redirect }: SiteName, names: readonly SiteName[]): DomainProblem | null {
  if (redirect === null || names.some((name) => name.hostname === redirect.to)) return null;
  return {
    code: "redirect_target_missing",
    message: `${hostname} redirects to ${redirect.to}, which has been removed from this project.`,
    expected: "a redirect to a name of this project",
    found: `a redirect to ${redirect.to}`,
    fix: `Add ${redirect.to} again, choose another target, or remove the redirect of ${hostname}.`,
  };
}

function mergedRedirect(before: Redirect | null, change: { to?: string; status?: number } | undefined): Redirect | null {
  if (change === undefined) return before;
  const { to, status } = { ...before, ...change };
  if (to === undefined) throw invalid("body.redirect.to", "A redirect needs the name that it leads to.");
  return withStatus({ to, status }, "body.redirect");
}

function withStatus({ to, status = 301 }: { to: string; status?: number | undefined }, path: string): Redirect {
  const known = redirectStatuses.find((one) => one === status);
  if (known === undefined) throw invalid(`${path}.status`, `A redirect has the status ${redirectStatuses.join(", ")}.`);
  return { to, status: known };
}

function primaryAfter(
  names: readonly SiteName[],
  changed: SiteName,
  change: SiteNameChange,
  redirect: Redirect | null,
): string | undefined {
  const primary = names.find((name) => name.primary)?.hostname;
  if (change.primary === true) return changed.hostname;
  if (primary !== changed.hostname) return primary;
  if (redirect !== null) return redirect.to;
  return change.primary === false ? undefined : primary;
}

/**
 * Each redirect that a change touches must end at a served name of the project: no chains, so no loops. `touched` are the names that the change says
 * something about; a redirect between others is left alone, so that one whose target was removed does not stand in the way of every change.
 */
function assertRedirectsEnd(names: readonly SiteName[], pathOf: (from: string) => string, touched: ReadonlySet<string>): void {
  const byHostname = new Map(names.map((name) => [name.hostname, name]));
  for (const { hostname, redirect } of names) {
    if (redirect === null || (!touched.has(hostname) && !touched.has(redirect.to))) continue;
    const path = pathOf(hostname);
    if (redirect.to === hostname) throw invalid(path, `${hostname} cannot redirect to itself.`);
    const target = byHostname.get(redirect.to);
    if (target === undefined) throw invalid(path, `No name ${JSON.stringify(redirect.to)} is attached to this project: add it first.`);
    if (target.redirect === null) continue;
    const loop = loopFrom(byHostname, hostname);
    throw invalid(
      path,
      loop === null
        ? `${hostname} would redirect to ${redirect.to}, which redirects to ${target.redirect.to}: let both lead to the name that is served.`
        : `These redirects make a loop: ${loop.join(" → ")}.`,
    );
  }
}

/** The names from `start` back to `start`; null if its redirects lead elsewhere. Takes no more steps than there are names. */
function loopFrom(byHostname: ReadonlyMap<string, SiteName>, start: string): string[] | null {
  const path = [start];
  for (let step = 0; step < byHostname.size; step++) {
    const next = byHostname.get(path.at(-1)!)?.redirect?.to;
    if (next === undefined) return null;
    path.push(next);
    if (next === start) return path;
  }
  return null;
}

const invalid = (path: string, message: string): Problem => new Problem("invalid_request", message, { details: [{ path, message }] });
