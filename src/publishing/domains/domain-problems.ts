import { type DnsProblem, dnsProblemCodes } from "../dns/dns-problems.ts";
import type { NameState } from "./serving.ts";

export const domainProblemCodes = [...dnsProblemCodes, "proved_elsewhere", "redirect_target_not_ready", "plan_required"] as const;

/** What is wrong with a domain, in words that its owner can act on. */
export type DomainProblem = Omit<DnsProblem, "code"> & { code: (typeof domainProblemCodes)[number] };

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

export const planMessage = (hostname: string): string =>
  `The account's plan has no custom domains, so ${hostname} is not served. The project is served at its address on the platform.`;

export function planProblem(hostname: string): DomainProblem {
  return {
    code: "plan_required",
    message: planMessage(hostname),
    expected: "the plan Pro or above",
    found: "a plan without custom domains",
    fix: "Have the plan changed to Pro or above. The name is then served again as it is set up here, with its certificate.",
  };
}

/** The problem of a name whose redirect waits for its target. `target` is undefined if it is not attached to the project. */
export function redirectProblem(hostname: string, to: string, target: NameState | undefined, hasAuthority: boolean): DomainProblem {
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
