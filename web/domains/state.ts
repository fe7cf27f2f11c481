import type { Schemas } from "../calls/store.ts";

export type Domain = Schemas["Domain"];
export type DomainState =
  | "lost"
  | "suspended"
  | "failing"
  | "attention"
  | "pending"
  | "certificate"
  | "certificateFailed"
  | "redirectWaits"
  | "active";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How a domain stands, in one word: what its owner has to know first. */
export function stateOf(domain: Domain): DomainState {
  const { status, certificate, attention } = domain;
  if (hasProblem(domain, "proved_elsewhere")) return "lost";
  if (isSuspended(domain)) return "suspended";
  if (status === "failing") return "failing";
  if (attention !== null) return "attention";
  if (status === "pending") return "pending";
  if (certificate.issuedAt === null && !hasNoAuthority(domain))
    return certificate.status === "failing" ? "certificateFailed" : "certificate";
  return isRedirectWaiting(domain) ? "redirectWaits" : "active";
}

/** Whether the account's plan has no custom domains, so that the name is not served. */
export function isSuspended(domain: Pick<Domain, "problems">): boolean {
  return hasProblem(domain, "plan_required");
}

/** Whether the name is set to redirect, and what it is to lead to is not ready. */
export function isRedirectWaiting(domain: Pick<Domain, "problems">): boolean {
  return hasProblem(domain, "redirect_target_not_ready");
}

function hasProblem({ problems }: Pick<Domain, "problems">, code: string): boolean {
  return problems.some((problem) => problem.code === code);
}

/** Whether the service orders no certificates: a name that was verified is on its way to one otherwise. */
export function hasNoAuthority({ status, certificate }: Pick<Domain, "status" | "certificate">): boolean {
  return status !== "pending" && certificate.status === "none";
}

/**
 * Where a browser finds a domain, by the address of its project. A domain with a certificate is opened by HTTPS; where the platform has an odd
 * HTTP port, the HTTPS port is not known here, and the edge redirects to it. Returns undefined where no port is known for a domain without one.
 */
export function visitUrl({ hostname, certificate }: Pick<Domain, "hostname" | "certificate">, projectUrl: string): string | undefined {
  const { protocol, port } = new URL(projectUrl);
  const isSecure = certificate.issuedAt !== null;
  if (port === "") return `${isSecure ? "https" : "http"}://${hostname}`;
  return isSecure || protocol === "http:" ? `${protocol}//${hostname}:${port}` : undefined;
}

/** Whether it may soon change without anybody's doing: DNS, or the certificate, is still to come. */
export function isUnsettled(domain: Domain): boolean {
  const { status, certificate } = domain;
  const isMissing = certificate.issuedAt === null && !hasNoAuthority(domain);
  return status !== "verified" || isMissing || certificate.status === "issuing";
}

/** When a name that was never verified stops being held (specification 5.5). Time in ms. */
export function heldUntil({ createdAt }: Domain): number {
  return Date.parse(createdAt) + 48 * hourMs;
}

/**
 * How long until domains are read anew, `quietMs` after somebody last did something: soon at first, as DNS and certificates take minutes, then
 * less and less, for as long as a name is held; false from then on. Reading takes `calls` calls each time.
 */
export function pollMs(quietMs: number, calls: number): number | false {
  if (quietMs > 48 * hourMs) return false;
  const interval = quietMs < 2 * minuteMs ? 2_000 : quietMs < 30 * minuteMs ? 10_000 : minuteMs;
  return interval * Math.max(1, calls);
}

/** What passes by itself, once DNS has spread or answers again. */
const awaited: ReadonlySet<string> = new Set(["record_missing", "proof_missing", "lookup_failed"]);

export type StepState = "done" | "current" | "ahead" | "trouble";
export type Steps = { added: StepState; dns: StepState; certificate: StepState };

/** How far a domain is from being added to being served over HTTPS. */
export function stepsOf(domain: Domain): Steps {
  const { status, certificate, attention } = domain;
  const dns = dnsStep(domain);
  const isWanted = status !== "pending" && !hasNoAuthority(domain);
  const isInTrouble = attention !== null || certificate.status === "failing";
  const certificateStep = certificate.issuedAt !== null && !isInTrouble ? "done" : isInTrouble ? "trouble" : isWanted ? "current" : "ahead";
  return { added: "done", dns, certificate: certificateStep };
}

/** A record that is not seen yet is waited for; only another one in its place is trouble. */
function dnsStep({ status, problems }: Domain): StepState {
  if (status === "verified") return "done";
  return status === "failing" || problems.some(({ code }) => !awaited.has(code)) ? "trouble" : "current";
}

/** The registrable domain that a record's name is relative to: what a DNS provider calls the domain. */
export function zoneOf({ hostname, record }: Pick<Domain, "hostname" | "record">): string {
  return record.name === "@" ? hostname : hostname.slice(record.name.length + 1);
}

/** A whole name as DNS providers ask for it: without the domain that they add themselves; `@` for the domain itself. */
export function relativeTo(zone: string, name: string): string {
  if (name === zone) return "@";
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
