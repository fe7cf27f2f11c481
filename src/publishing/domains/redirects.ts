import { invalidAt, Problem } from "../../platform/problem.ts";
import { isTypo } from "../../platform/typo.ts";
import { redirectRefusal, requireRedirects, type RedirectStatusCode } from "../projects/project-file.ts";
import type { Redirect, DomainStatus } from "./serving.ts";

/**
 * A name of a project, with the fields that matter for the choice of the primary name. At most one name is `primary`. `becomesPrimary`: the name was
 * chosen before it was ready, and becomes primary once it is. `ready`: visitors could be sent to the name if it did not redirect.
 */
export type PrimaryName = {
  hostname: string;
  status: DomainStatus;
  ready: boolean;
  primary: boolean;
  becomesPrimary: boolean;
  redirect: object | null;
};

/** A name of a project, which serves the site or redirects. The primary name, and one that waits to become it, do not redirect. */
export type SiteName = PrimaryName & { redirect: Redirect | null };

/** A merge patch of a name (RFC 7396): absent members stay as they are, also within the redirect; null removes the redirect. */
export type SiteNameChange = { primary?: boolean; redirect?: { to?: string; status?: RedirectStatusCode } | null };

/** The `domains` object of petstore.json, with parsed names. */
export type DomainsConfig = { primary?: string; redirects?: { from: string; to: string; status?: RedirectStatusCode }[] };

/**
 * The names of a project after a change to one of them. If the primary name begins to redirect, its target becomes primary.
 *
 * @throws Problem `invalid_request` for a target outside the project, and a target that redirects; `domain_not_verified` for
 *   a primary name that is not verified; `not_found` for an unknown name
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
  const after = names.map((name) => (name === changed ? { ...name, redirect } : name));
  const touched = new Set(change.redirect === undefined ? [] : [hostname]);
  assertRedirectsEnd(after, (from) => (from === hostname ? "body.redirect.to" : "body.redirect"), touched);

  const isPrimary = changed.primary || changed.becomesPrimary;
  if (change.primary === false) return isPrimary ? withoutPrimary(after, hostname) : after;
  const next = change.primary === true ? hostname : isPrimary ? redirect?.to : undefined;
  if (next === undefined || next === configuredPrimary(names)) return after;
  requireVerified(after, next);
  return withPrimary(after, next);
}

/**
 * The names of a project after its petstore.json is applied. A list of redirects replaces all earlier ones: a name that it does not list as `from`
 * does not redirect. Without a list the redirects stay, except that of the primary name. All names stay attached. `added`: the names to attach.
 *
 * @throws Problem `invalid_request` with the place in the file; the caller must then apply nothing
 */
export function applyConfig(names: readonly SiteName[], { primary, redirects }: DomainsConfig): { names: SiteName[]; added: string[] } {
  requireRedirects(redirects ?? [], primary, (place, why) => {
    throw invalid(place, why);
  });
  const declared = new Map(redirects?.map(({ from, to, status = 301 }): [string, Redirect] => [from, { to, status }]));
  const attached = new Set(names.map(({ hostname }) => hostname));
  const wanted = new Set([...(primary === undefined ? [] : [primary]), ...declared.keys()]);
  const added = [...wanted].filter((hostname) => !attached.has(hostname));
  const redirectOf = ({ hostname, redirect }: SiteName): Redirect | null => {
    if (redirects !== undefined) return declared.get(hostname) ?? null;
    return hostname === primary ? null : redirect;
  };
  const after = [...names, ...added.map(newName)].map((name) => ({ ...name, redirect: redirectOf(name) }));
  const places = new Map([...declared.keys()].map((from, index) => [from, `domains.redirects[${index}].to`]));
  assertRedirectsEnd(after, (from) => places.get(from) ?? "domains.redirects", new Set(declared.keys()));

  const before = configuredPrimary(names);
  const next = primary ?? (before === null ? undefined : (declared.get(before)?.to ?? before));
  return { names: next === undefined ? after : withPrimary(after, next), added };
}

const invalid = (path: string, message: string): Problem => invalidAt(path, message, message);

const newName = (hostname: string): SiteName => ({
  hostname,
  status: "pending",
  ready: false,
  primary: false,
  becomesPrimary: false,
  redirect: null,
});

function mergedRedirect(before: Redirect | null, change: { to?: string; status?: RedirectStatusCode } | undefined): Redirect | null {
  if (change === undefined) return before;
  const { to, status } = { ...before, ...change };
  if (to === undefined) throw invalid("body.redirect.to", "A redirect needs a target.");
  return { to, status: status ?? 301 };
}

/**
 * Each redirect that a change touches must lead to a name of the project that serves the site: no chains, so no loops. `touched` are the names in
 * the change; redirects between others are not checked, so that one whose target was removed does not block every change.
 */
function assertRedirectsEnd(names: readonly SiteName[], pathOf: (from: string) => string, touched: ReadonlySet<string>): void {
  const attached = new Set(names.map(({ hostname }) => hostname));
  const targets = new Map(names.flatMap(({ hostname, redirect }) => (redirect === null ? [] : [[hostname, redirect.to] as const])));
  for (const { hostname, redirect } of names) {
    if (redirect === null || (!touched.has(hostname) && !touched.has(redirect.to))) continue;
    const why = attached.has(redirect.to) ? redirectRefusal(targets, hostname) : notAttached(redirect.to, names);
    if (why !== undefined) throw invalid(pathOf(hostname), why);
  }
}

/** The most names that a mistyped one is compared with. Each comparison takes time proportional to the product of their lengths. */
const comparedMax = 20;

/** The message that refuses a target, with the name that was probably meant. */
function notAttached(hostname: string, names: readonly SiteName[]): string {
  const meant = names.slice(0, comparedMax).find((name) => name.redirect === null && isTypo(hostname, name.hostname));
  const advice =
    meant === undefined ? "Add it first, or choose a name that is attached." : `That looks like a typing error for ${meant.hostname}.`;
  return `No name ${JSON.stringify(hostname)} is attached to this project. ${advice}`;
}

/** The name that was last chosen as primary, ready or not; null if there is none. */
export function configuredPrimary(names: readonly Pick<PrimaryName, "hostname" | "primary" | "becomesPrimary">[]): string | null {
  return (names.find((name) => name.becomesPrimary) ?? names.find((name) => name.primary))?.hostname ?? null;
}

/** Makes a name primary: at once, or, if the current one is ready and this one is not, as soon as it is. */
function withPrimary<Name extends PrimaryName>(names: readonly Name[], hostname: string): Name[] {
  const chosen = names.find((name) => name.hostname === hostname);
  const current = names.find((name) => name.primary && name !== chosen && name.redirect === null && name.ready);
  const waits = chosen?.ready === false && current !== undefined;
  return names.map((name) => ({ ...name, primary: name === (waits ? current : chosen), becomesPrimary: waits && name === chosen }));
}

/** Makes a name no longer primary. A name that waits to become primary does so at once. */
function withoutPrimary<Name extends PrimaryName>(names: readonly Name[], hostname: string): Name[] {
  const others = names.filter((name) => name.hostname !== hostname);
  const waiting = others.find((name) => name.becomesPrimary);
  const next = others.find((name) => name.primary) ?? waiting;
  return names.map((name) => ({ ...name, primary: name === next, becomesPrimary: name === waiting && name !== next }));
}

/** @throws Problem `domain_not_verified` */
function requireVerified(names: readonly PrimaryName[], hostname: string): void {
  if (names.find((name) => name.hostname === hostname)?.status === "verified") return;
  throw new Problem(
    "domain_not_verified",
    `${hostname} is not verified, so it cannot be the primary name. Correct its DNS records and verify it first.`,
  );
}
