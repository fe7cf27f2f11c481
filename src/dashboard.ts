import type { Dashboard } from "./api.ts";
import { openDashboardGate, type DashboardGateOptions } from "./callers/people/gate.ts";
import { keyRoutes, type KeyAdministration } from "./callers/people/keys.routes.ts";
import { memberRoutes } from "./callers/people/members.routes.ts";
import { openPasswordHasher } from "./callers/people/passwords.ts";
import { sessionRoutes } from "./callers/people/sessions.routes.ts";
import { signInRoutes } from "./callers/people/sign-in.routes.ts";
import { openSignInThrottle } from "./callers/people/throttle.ts";
import type { Limiter } from "./callers/limits/limits.ts";

type DashboardOptions = DashboardGateOptions & {
  administration: KeyAdministration;
  limiter: Limiter;
  /** Called after each sign-in. Must not reject. */
  onSignedIn: () => Promise<void>;
};

/** Joins what signed-in people call: the way in, and the operations that are theirs alone. */
export function openDashboard(options: DashboardOptions): Dashboard {
  const { db, publicUrl, administration, limiter, onSignedIn } = options;
  const signIn = { db, publicUrl, onSignedIn, hasher: openPasswordHasher(), throttle: openSignInThrottle() };
  return {
    gate: openDashboardGate(options),
    operations: [
      ...signInRoutes(signIn),
      ...sessionRoutes(signIn),
      ...memberRoutes({ publicUrl }),
      ...keyRoutes({ administration, limiter }),
    ],
  };
}
