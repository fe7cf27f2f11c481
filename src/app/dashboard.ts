import type { Dashboard } from "./api.ts";
import { openDashboardGate, type DashboardGateOptions } from "../callers/members/gate.ts";
import type { KeyAdministration } from "../callers/members/keys.routes.ts";
import { openPasswordHasher } from "../callers/members/passwords.ts";
import { sessionCookie } from "../callers/members/sessions.ts";
import { openSignInThrottle } from "../callers/members/throttle.ts";
import type { Limiter } from "../callers/limits/limits.ts";

type DashboardOptions = DashboardGateOptions & {
  administration: KeyAdministration;
  limiter: Limiter;
  /** Called after each sign-in. Must not reject. */
  onSignedIn: () => Promise<void>;
};

/** Opens the dashboard's gate, and what the operations that only it calls need. */
export function openDashboard(options: DashboardOptions): Dashboard {
  const { db, publicUrl, administration, limiter, onSignedIn } = options;
  const signIn = { db, hasher: openPasswordHasher(), throttle: openSignInThrottle() };
  const cookie = sessionCookie(publicUrl);
  return { gate: openDashboardGate(options), services: { signIn, cookie, onSignedIn, publicUrl, administration, limiter } };
}
