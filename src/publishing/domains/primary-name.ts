import { Problem } from "../../platform/problem.ts";
import type { DomainStatus } from "./schedule.ts";

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

/** The name that was last chosen as primary, ready or not; null if there is none. */
export function configuredPrimary(names: readonly Pick<PrimaryName, "hostname" | "primary" | "becomesPrimary">[]): string | null {
  return (names.find((name) => name.becomesPrimary) ?? names.find((name) => name.primary))?.hostname ?? null;
}

/** Makes a name primary: at once, or, if the current one is ready and this one is not, as soon as it is. */
export function withPrimary<Name extends PrimaryName>(names: readonly Name[], hostname: string): Name[] {
  const chosen = names.find((name) => name.hostname === hostname);
  const current = names.find((name) => name.primary && name !== chosen && name.redirect === null && name.ready);
  const waits = chosen?.ready === false && current !== undefined;
  return names.map((name) => ({ ...name, primary: name === (waits ? current : chosen), becomesPrimary: waits && name === chosen }));
}

/** Makes a name no longer primary. A name that waits to become primary does so at once. */
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
