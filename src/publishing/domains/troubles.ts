import { type DnsProblem, dnsProblemCodes } from "../dns/dns-problems.ts";
import type { DomainStatus, NameState, Serving } from "./serving.ts";

/*
 * What is wrong with a name. `troublesOf` alone decides that; its problems, the reason for what it serves, the attention it needs, the state of its
 * certificate and its events say it in their words.
 */

/** `since` in ms. `target`: the state of the name that a redirect waits for; undefined if it is not attached to the project. */
export type Trouble =
  | { code: "taken" | "plan_required" | "not_verified" | "dns_wrong" | "certificate_not_renewed" }
  | { code: "redirect_waits"; to: string; target: NameState | undefined }
  | { code: "certificate_missing"; since: number; hasExpired: boolean };

type Certificate = Record<"id" | "issuedAt" | "expiresAt" | "wantedSince", number | null> & { problem: string | null };

/** `isLost`: another account has taken it over. Times in ms. */
type Name = { status: DomainStatus; isLost: boolean; certificate: Certificate };

/** The facts about other things that decide what is wrong with a name. `waitsFor`: the target of its redirect, if that is not ready. */
type TroubleContext = { isPaid: boolean; waitsFor: { to: string; target: NameState | undefined } | null };

/** How long (ms) a certificate may take (specification 5.8). */
export const certificateDueMs = 30 * 60_000;

/** A renewal that still fails when less than this part of the lifetime is left is a trouble. Renewals begin when a third is left. */
const lateRenewalPart = 1 / 6;

/**
 * The troubles of a name at `now`. First those that decide what it serves, the most important one before the others. A certificate is a trouble once it
 * has expired or is 30 minutes late, if one is wanted: `wantedSince` is null without an authority.
 */
export function troublesOf({ status, isLost, certificate }: Name, { isPaid, waitsFor }: TroubleContext, now: number): Trouble[] {
  const troubles: Trouble[] = [];
  if (isLost) troubles.push({ code: "taken" });
  if (!isPaid) troubles.push({ code: "plan_required" });
  if (status === "pending") troubles.push({ code: "not_verified" });
  if (waitsFor !== null) troubles.push({ code: "redirect_waits", ...waitsFor });
  if (status === "failing") troubles.push({ code: "dns_wrong" });
  if (status === "pending") return troubles;
  const [missingAt, notRenewedAt] = certificateTroublesAt(certificate);
  if (missingAt <= now) troubles.push({ code: "certificate_missing", since: missingAt, hasExpired: hasLifetime(certificate) });
  else if (notRenewedAt <= now) troubles.push({ code: "certificate_not_renewed" });
  return troubles;
}

/** When time alone may bring another trouble; null: never, as things stand. */
export function nextTroubleAt({ certificate }: Pick<Name, "certificate">, now: number): number | null {
  const nextAt = Math.min(...certificateTroublesAt(certificate).filter((at) => at > now));
  return Number.isFinite(nextAt) ? nextAt : null;
}

const hasLifetime = ({ id, expiresAt }: Certificate): boolean => id !== null && expiresAt !== null;

/** When a missing certificate becomes a trouble, and when a failing renewal does. `Infinity`: never, as things stand. */
function certificateTroublesAt({ id, issuedAt, expiresAt, problem, wantedSince }: Certificate): [missing: number, notRenewed: number] {
  if (wantedSince === null) return [Infinity, Infinity];
  if (id === null || expiresAt === null) return [wantedSince + certificateDueMs, Infinity];
  const lifetime = expiresAt - (issuedAt ?? expiresAt);
  return [expiresAt, problem === null ? Infinity : expiresAt - Math.floor(lifetime * lateRenewalPart)];
}

const recordedCodes = ["plan_required", "dns_wrong", "certificate_missing", "certificate_not_renewed"] as const;
export type RecordedTrouble = (typeof recordedCodes)[number];

/** Why a name needs its owner, as its events say it (specification 8.2). A name that was never verified does not; a plan is its only reason. */
export function recordedTroubles(troubles: readonly Trouble[]): RecordedTrouble[] {
  const codes = new Set<string>(troubles.map(({ code }) => code));
  if (codes.has("not_verified")) return [];
  return codes.has("plan_required") ? ["plan_required"] : recordedCodes.filter((code) => codes.has(code));
}

export const domainProblemCodes = [...dnsProblemCodes, "proved_elsewhere", "redirect_target_not_ready", "plan_required"] as const;

/** What is wrong with a domain, in words that its owner can act on. */
export type DomainProblem = Omit<DnsProblem, "code"> & { code: (typeof domainProblemCodes)[number] };

/** The problems of a name: those that the last check of its DNS found, between those of its plan and of its redirect. */
export function problemsOf(
  { hostname, problems }: { hostname: string; problems: readonly DomainProblem[] },
  troubles: readonly Trouble[],
  hasAuthority: boolean,
): DomainProblem[] {
  const redirect = troubles.find((trouble) => trouble.code === "redirect_waits");
  return [
    ...(troubles.some(({ code }) => code === "plan_required") ? [planProblem(hostname)] : []),
    ...problems,
    ...(redirect === undefined ? [] : [redirectProblem(hostname, redirect.to, redirect.target, hasAuthority)]),
  ];
}

/** For the account that lost a name to another one. */
export function provedElsewhere(hostname: string): DomainProblem {
  return {
    code: "proved_elsewhere",
    message: `Another account has proved with a TXT record that ${hostname} belongs to it. Your project no longer serves the name.`,
    expected: "your TXT record, and not another account's",
    found: "another account's TXT record",
    fix: `If the name is yours, create the TXT record shown, delete the other one at the same name, and check again. Otherwise remove ${hostname} here.`,
  };
}

const planMessage = (hostname: string): string =>
  `The account's plan has no custom domains, so ${hostname} is not served. The project is served at its address on the platform.`;

function planProblem(hostname: string): DomainProblem {
  return {
    code: "plan_required",
    message: planMessage(hostname),
    expected: "the plan Pro or above",
    found: "a plan without custom domains",
    fix: "Have the plan changed to Pro or above. The name is then served again as it is set up here, with its certificate.",
  };
}

/** The problem of a name whose redirect waits for its target. `target` is undefined if it is not attached to the project. */
function redirectProblem(hostname: string, to: string, target: NameState | undefined, hasAuthority: boolean): DomainProblem {
  const { found, fix } = whyNotReady(to, target);
  return {
    code: "redirect_target_not_ready",
    message: `${hostname} does not redirect to ${to} yet, because ${found}. The redirect takes effect as soon as ${to} is ready.`,
    expected: hasAuthority ? `${to} verified, with its certificate` : `${to} verified`,
    found,
    fix: `${fix} Or choose another target, or remove the redirect of ${hostname}.`,
  };
}

function whyNotReady(to: string, target: NameState | undefined): { found: string; fix: string } {
  if (target === undefined) return { found: `${to} is not attached to this project`, fix: `Add ${to} again.` };
  if (target.redirect !== null) return { found: `${to} is a redirect itself`, fix: `Remove the redirect of ${to}.` };
  if (target.status === "pending") return { found: `${to} has not been verified`, fix: `Verify ${to}.` };
  if (target.status === "failing")
    return { found: `the DNS of ${to} has changed`, fix: `Correct the DNS records of ${to} and verify it again.` };
  return target.certificateId === null
    ? { found: `${to} has no certificate yet`, fix: `Wait for the certificate of ${to}, or read its problems.` }
    : { found: `the certificate of ${to} has expired`, fix: `Verify ${to} again to order a new certificate.` };
}

/** Explains what visitors of a name get. */
export function servingReason(
  { hostname, redirect }: { hostname: string; redirect: { to: string } | null },
  serving: Serving,
  [first]: readonly Trouble[],
): string {
  if (serving.what === "redirect") {
    if (serving.because === "redirect_to_primary") return `The project redirects its other names to its primary name, ${serving.to}.`;
    if (redirect?.to === serving.to) return `${hostname} redirects to ${serving.to}.`;
    return `${hostname} redirects to ${redirect?.to}, and the project redirects that to its primary name, ${serving.to}.`;
  }
  if (first?.code === "taken") return `Another account has taken ${hostname} over.`;
  if (first?.code === "plan_required") return planMessage(hostname);
  if (first?.code === "not_verified") return `${hostname} has not been verified yet.`;
  if (first?.code === "redirect_waits")
    return `${hostname} redirects to ${first.to} as soon as that name is ready. Until then it serves the site.`;
  if (first?.code === "dns_wrong") return `The DNS of ${hostname} has changed. Visitors who still reach this service get the site.`;
  return `${hostname} is verified.`;
}

export const attentionChecks = ["still_verifies", "caa_allows", "re_verify"] as const;

/** `passed` is null if the check could not be made. */
type AttentionCheck = { check: (typeof attentionChecks)[number]; passed: boolean | null; message: string };
export type Attention = { since: number; message: string; checks: AttentionCheck[] };

type Caa = "allowed" | "blocked" | "unknown";

/** What an owner should look at when a certificate is missing (specification 5.8); null if none is. */
export function attentionOf(
  { hostname, status, caa, certificate }: Pick<Name, "status" | "certificate"> & { hostname: string; caa: Caa },
  troubles: readonly Trouble[],
): Attention | null {
  const missing = troubles.find((trouble) => trouble.code === "certificate_missing");
  if (missing === undefined) return null;
  const checks = [stillVerifies(status, hostname), caaAllows(caa, hostname), reVerify(certificate.problem)];
  const late = missing.hasExpired ? "has expired" : "is more than 30 minutes late";
  const message = `The certificate of ${hostname} ${late}. ${checks.map((check) => check.message).join(" ")}`;
  return { since: missing.since, message, checks };
}

function stillVerifies(status: DomainStatus, hostname: string): AttentionCheck {
  const passed = status === "verified";
  const message = passed
    ? `1. ${hostname} still verifies.`
    : `1. ${hostname} no longer verifies: correct its DNS records as described under its problems.`;
  return { check: "still_verifies", passed, message };
}

const caaWords = {
  allowed: "allow the certificate authority.",
  blocked: "block the certificate authority: its problems say who can correct them, and how.",
  unknown: "could not be looked up. Until they can, the certificate authority refuses.",
};

function caaAllows(caa: Caa, hostname: string): AttentionCheck {
  return {
    check: "caa_allows",
    passed: caa === "unknown" ? null : caa === "allowed",
    message: `2. The CAA records of ${hostname} ${caaWords[caa]}`,
  };
}

function reVerify(certificateProblem: string | null): AttentionCheck {
  const reason = certificateProblem === null ? "" : ` The last try ended with: ${certificateProblem}`;
  return { check: "re_verify", passed: null, message: `3. When both are right, use Re-verify to order the certificate again.${reason}` };
}
