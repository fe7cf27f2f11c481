import type { Dashboard } from "./api.ts";
import { openDashboardGate, type DashboardGateOptions } from "../callers/members/gate.ts";
import { keyRoutes, type KeyAdministration } from "../callers/members/keys.routes.ts";
import { memberRoutes } from "../callers/members/members.routes.ts";
import { openPasswordHasher } from "../callers/members/passwords.ts";
import { sessionRoutes } from "../callers/members/sessions.routes.ts";
import { signInRoutes } from "../callers/members/sign-in.routes.ts";
import { openSignInThrottle } from "../callers/members/throttle.ts";
import type { Limiter } from "../callers/limits/limits.ts";

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
