import { Problem } from "../../platform/problem.ts";
import type { DomainStatus } from "./schedule.ts";

/**
 * A name of a project as the choice of the primary one sees it. At most one name is `primary`. `becomesPrimary`: it was chosen while another one
 * was in effect and it was not ready itself, and becomes primary once it is. `ready`: visitors could be sent to it, were it not to redirect.
 */
export type PrimaryName = {
  hostname: string;
  status: DomainStatus;
  ready: boolean;
  primary: boolean;
  becomesPrimary: boolean;
  redirect: object | null;
};

/** The name that was last chosen as primary, whether or not it is ready; null where there is none. */
export function configuredPrimary(names: readonly Pick<PrimaryName, "hostname" | "primary" | "becomesPrimary">[]): string | null {
  return (names.find((name) => name.becomesPrimary) ?? names.find((name) => name.primary))?.hostname ?? null;
}

/** Makes a name primary: at once, or, while another one is ready and this one is not, as soon as it is. */
export function withPrimary<Name extends PrimaryName>(names: readonly Name[], hostname: string): Name[] {
  const chosen = names.find((name) => name.hostname === hostname);
  const current = names.find((name) => name.primary && name !== chosen && name.redirect === null && name.ready);
  const waits = chosen?.ready === false && current !== undefined;
  return names.map((name) => ({ ...name, primary: name === (waits ? current : chosen), becomesPrimary: waits && name === chosen }));
}

/** Ends that a name is primary. One that waits to be it is primary at once. */
export function withoutPrimary<Name extends PrimaryName>(names: readonly Name[], hostname: string): Name[] {
  const others = names.filter((name) => name.hostname !== hostname);
  const waiting = others.find((name) => name.becomesPrimary);
  const next = others.find((name) => name.primary) ?? waiting;
  return names.map((name) => ({ ...name, primary: name === next, becomesPrimary: name === waiting && name !== next }));
}

/** @throws Problem `domain_not_verified` */
export function requireVerified(names: readonly PrimaryName[], hostname: string): void {
  if (names.find((name) => name.hostname === hostname)?.status === "verified") return;
  throw new Problem(
    "domain_not_verified",
    `${hostname} is not verified, so it cannot be the primary name. Correct its DNS records and verify it first.`,
  );
}
