import { planMessage } from "./domain-problems.ts";
import type { DomainStatus } from "./schedule.ts";
import type { Serving } from "./serving.ts";

/** Explains what visitors of a name get. */
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
  if (redirect !== null) return `${hostname} redirects to ${redirect.to} as soon as that name is ready. Until then it serves the site.`;
  if (name.status === "failing") return `The DNS of ${hostname} has changed. Visitors who still reach this service get the site.`;
  return `${hostname} is verified.`;
}

/** Explains why a name that another account has taken over serves nothing. */
export function takenReason(hostname: string): string {
  return `Another account has taken ${hostname} over.`;
}
