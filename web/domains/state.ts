import type { Schemas } from "../calls/store.ts";

export type Domain = Schemas["Domain"];
export type DomainState = "suspended" | "pending" | "certificate" | "certificateFailed" | "failing" | "attention" | "active";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How a domain stands, in one word: what its owner has to know first. `isSuspended`: the account's plan has no domains. */
export function stateOf({ status, certificate, attention, problems }: Domain, isSuspended: boolean): DomainState {
  if (isSuspended) return "suspended";
  if (status === "failing") return "failing";
  if (attention !== null || problems.some(({ code }) => code === "redirect_target_missing")) return "attention";
  if (status === "pending") return "pending";
  if (certificate.issuedAt !== null) return "active";
  return certificate.status === "failing" ? "certificateFailed" : "certificate";
}

/**
 * Where a browser finds a domain with a certificate, told from the address of its project: by HTTPS, except where people see the platform at an
 * odd HTTP port, whose HTTPS port is not known here and is redirected to.
 */
export function visitUrl(hostname: string, projectUrl: string): string {
  const { protocol, port } = new URL(projectUrl);
  return port === "" ? `https://${hostname}` : `${protocol}//${hostname}:${port}`;
}

/** Whether it may soon stand differently by itself: DNS, or the certificate, is still to come. */
export function isUnsettled({ status, certificate }: Domain): boolean {
  return status !== "verified" || certificate.issuedAt === null || certificate.status === "issuing";
}

/** When a name that was never verified stops being held (specification, part 1, rule 7). Time in ms. */
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
  const isWanted = status !== "pending";
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
