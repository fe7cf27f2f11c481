import type { DomainProblem } from "./domain-problems.ts";
import type { DomainStatus } from "./schedule.ts";
import type { NameState, Serving } from "./serving.ts";

/** Why visitors of a name get what they get. */
export function servingReason(name: { hostname: string; status: DomainStatus; redirect: { to: string } | null }, serving: Serving): string {
  const { hostname, redirect } = name;
  if (serving.what === "nothing") {
    return serving.because === "plan_required" ? planMessage(hostname) : `${hostname} has not been verified yet.`;
  }
  if (serving.what === "redirect") {
    if (serving.because === "redirect_to_primary") return `The project redirects its other names to its primary name, ${serving.to}.`;
    if (redirect?.to === serving.to) return `${hostname} redirects to ${serving.to}.`;
    return `${hostname} redirects to ${redirect?.to}, and the project redirects that to its primary name, ${serving.to}.`;
  }
  if (redirect !== null) return `${hostname} redirects to ${redirect.to} as soon as that is ready. Until then it serves the site.`;
  if (name.status === "failing") return `The DNS of ${hostname} has changed. It serves the site for the visitors who still get here.`;
  return `${hostname} is verified.`;
}

/** The reason of a name that another account has taken over. */
export function takenReason(hostname: string): string {
  return `Another account has taken ${hostname} over.`;
}

const planMessage = (hostname: string): string =>
  `The account's plan has no custom domains, so ${hostname} is not served. The project is served at its address on the platform.`;

export function planProblem(hostname: string): DomainProblem {
  return {
    code: "plan_required",
    message: planMessage(hostname),
    expected: "the plan Pro or above",
    found: "a plan without custom domains",
    fix: "Have the plan changed to Pro or above: the name is then served again as it is set up here, with the certificate that it has.",
  };
}

/** The problem of a name whose redirect waits for its target. `target` is undefined where it is not attached to the project. */
export function redirectProblem(hostname: string, to: string, target: NameState | undefined, hasAuthority: boolean): DomainProblem {
  const { found, fix } = shortOf(to, target);
  return {
    code: "redirect_target_not_ready",
    message: `${hostname} does not redirect to ${to} yet, because ${found}. The redirect takes effect as soon as ${to} is ready.`,
    expected: hasAuthority ? `${to} verified, with its certificate` : `${to} verified`,
    found,
    fix: `${fix} Or choose another target, or remove the redirect of ${hostname}.`,
  };
}

function shortOf(to: string, target: NameState | undefined): { found: string; fix: string } {
  if (target === undefined) return { found: `${to} is not attached to this project`, fix: `Add ${to} again.` };
  if (target.redirect !== null) return { found: `${to} redirects itself`, fix: `Remove the redirect of ${to}.` };
  if (target.status === "pending") return { found: `${to} has not been verified`, fix: `Verify ${to}.` };
  if (target.status === "failing")
    return { found: `the DNS of ${to} has changed`, fix: `Correct the DNS records of ${to} and verify it again.` };
  return target.certificateId === null
    ? { found: `${to} has no certificate yet`, fix: `Wait for the certificate of ${to}, or see what its problems say.` }
    : { found: `the certificate of ${to} has expired`, fix: `Verify ${to} again to order a new certificate.` };
}
