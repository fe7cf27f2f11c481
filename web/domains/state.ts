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

/** Returns the state of a domain. If several apply, returns the one that the owner needs to know first. */
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

/** Whether the domain is not served because the plan includes no custom domains. */
export function isSuspended(domain: Pick<Domain, "problems">): boolean {
  return hasProblem(domain, "plan_required");
}

/** Whether the domain's redirect waits until its target is ready. */
export function isRedirectWaiting(domain: Pick<Domain, "problems">): boolean {
  return hasProblem(domain, "redirect_target_not_ready");
}

function hasProblem({ problems }: Pick<Domain, "problems">, code: string): boolean {
  return problems.some((problem) => problem.code === code);
}

/** Whether the domain shows that the service orders no certificates: only then is a verified domain's certificate `none`. */
export function hasNoAuthority({ status, certificate }: Pick<Domain, "status" | "certificate">): boolean {
  return status !== "pending" && certificate.status === "none";
}

/**
 * Returns a domain's URL, at the port of its project's address. With a certificate the URL uses HTTPS, unless that port is a non-standard
 * HTTP port: then it uses HTTP, and the edge redirects. Returns undefined for a domain without a certificate at a non-standard HTTPS port.
 */
export function visitUrl({ hostname, certificate }: Pick<Domain, "hostname" | "certificate">, projectUrl: string): string | undefined {
  const { protocol, port } = new URL(projectUrl);
  const isSecure = certificate.issuedAt !== null;
  if (port === "") return `${isSecure ? "https" : "http"}://${hostname}`;
  return isSecure || protocol === "http:" ? `${protocol}//${hostname}:${port}` : undefined;
}

/** Whether the domain still waits for DNS or for its certificate, and so may change without any action. */
export function isUnsettled(domain: Domain): boolean {
  const { status, certificate } = domain;
  const isMissing = certificate.issuedAt === null && !hasNoAuthority(domain);
  return status !== "verified" || isMissing || certificate.status === "issuing";
}

/** Returns when a domain that was never verified loses its reservation (specification 5.5), in ms since the Unix epoch. */
export function reservedUntil({ createdAt }: Domain): number {
  return Date.parse(createdAt) + 48 * hourMs;
}

/**
 * Returns the polling interval in ms. It is short at first, because DNS changes and certificates usually take minutes, and grows with
 * `quietMs`, the time since the last user action. Returns false after 48 hours, when reservations end. `calls` is the number of requests
 * for each poll.
 */
export function pollMs(quietMs: number, calls: number): number | false {
  if (quietMs > 48 * hourMs) return false;
  const interval = quietMs < 2 * minuteMs ? 2_000 : quietMs < 30 * minuteMs ? 10_000 : minuteMs;
  return interval * Math.max(1, calls);
}

/** Problems that may end without any action, because DNS changes take time to spread. */
const transient: ReadonlySet<string> = new Set(["record_missing", "proof_missing", "lookup_failed"]);

export type StepState = "done" | "current" | "ahead" | "trouble";
export type Steps = { added: StepState; dns: StepState; certificate: StepState };

/** The steps from adding a domain to serving it over HTTPS. */
export function stepsOf(domain: Domain): Steps {
  const { status, certificate, attention } = domain;
  const dns = dnsStep(domain);
  const isOrdered = status !== "pending" && !hasNoAuthority(domain);
  const isInTrouble = attention !== null || certificate.status === "failing";
  const certificateStep =
    certificate.issuedAt !== null && !isInTrouble ? "done" : isInTrouble ? "trouble" : isOrdered ? "current" : "ahead";
  return { added: "done", dns, certificate: certificateStep };
}

/** A missing record may still appear, so the step is `current`. A wrong record is `trouble`. */
function dnsStep({ status, problems }: Domain): StepState {
  if (status === "verified") return "done";
  return status === "failing" || problems.some(({ code }) => !transient.has(code)) ? "trouble" : "current";
}

/** The registrable domain, which DNS providers call the domain. Record names are relative to it. */
export function zoneOf({ hostname, record }: Pick<Domain, "hostname" | "record">): string {
  return record.name === "@" ? hostname : hostname.slice(record.name.length + 1);
}

/** Returns a full name in the form that DNS providers ask for: relative to `zone`, or `@` for the zone itself. */
export function relativeTo(zone: string, name: string): string {
  if (name === zone) return "@";
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

/** The other form of a name, with or without `www`. Visitors expect both to lead to the same site. */
export type Partner = { hostname: string; isWww: boolean };

/**
 * Returns the other form of a typed name, which the page offers to add too: `www` for an apex, and the apex for `www`. The browser has no Public
 * Suffix List, so a name of two labels, or of three that end like `co.uk`, counts as an apex. Returns undefined for any other text.
 */
export function partnerOf(typed: string): Partner | undefined {
  const name = hostnameIn(typed).trim().toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  if (/[\s/:@*?#\\]/.test(name) || labels.includes("")) return undefined;
  if (labels[0] === "www") return labels.length > 2 ? { hostname: name.slice(4), isWww: false } : undefined;
  const isApex = labels.length === 2 || (labels.length === 3 && labels[1]!.length <= 3 && labels[2]!.length === 2);
  return isApex && /[a-z]$/.test(name) ? { hostname: `www.${name}`, isWww: true } : undefined;
}

/** Returns the host name of a typed or pasted URL. Returns any other text unchanged; the service checks it. */
export function hostnameIn(text: string): string {
  return /^https?:\/\/([^/?#:@\s]+)(?::\d+)?(?:[/?#]|$)/i.exec(text.trim())?.[1] ?? text;
}
