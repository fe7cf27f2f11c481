import type { Dashboard } from "./api.ts";
import { openDashboardGate, type DashboardGateOptions } from "../callers/members/gate.ts";
import { openPasswordHasher, type HashCost } from "../callers/members/passwords.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import { passkeyCookie, pendingCookie, sessionCookie } from "../callers/members/sessions.ts";
import { openSignInThrottle } from "../callers/members/sign-in.ts";

type DashboardOptions = DashboardGateOptions & {
  bounds: Bounds;
  /** Default: OWASP's. */
  hashCost: HashCost | undefined;
  /** The keys that encrypt the secrets of authenticator apps. */
  secrets: SecretsKeys;
  /** Called after each sign-in. Must not reject. */
  onSignedIn: () => Promise<void>;
};

/** Opens the dashboard's gate, and the services of the operations that only the dashboard calls. */
export function openDashboard(options: DashboardOptions): Dashboard {
  const { db, publicUrl, onSignedIn, secrets, hashCost, bounds } = options;
  const signIn = { db, hasher: openPasswordHasher(bounds.queue("passwords"), hashCost), throttle: openSignInThrottle(), secrets };
  const cookies = { cookie: sessionCookie(publicUrl), pendingCookie: pendingCookie(publicUrl), passkeyCookie: passkeyCookie(publicUrl) };
  return { gate: openDashboardGate(options), services: { signIn, ...cookies, onSignedIn, publicUrl } };
}
