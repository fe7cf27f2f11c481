import { openPasswordHasher, type HashCost } from "../callers/members/passwords.ts";
import { passkeyCookie, pendingCookie, sessionCookie } from "../callers/members/sessions.ts";
import { openSignInThrottle } from "../callers/members/sign-in.ts";
import type { Gate } from "../platform/http/exchange.ts";
import type { Dashboard } from "./api.ts";
import type { AppContext } from "./context.ts";

/**
 * Opens the services of the operations that only the dashboard calls, and its gate.
 *
 * @param hashCost what hashing a password costs. Default: what OWASP asks for
 * @param onSignedIn called after each sign-in. Must not reject
 */
export function openDashboard(
  { db, keys, bounds, settings }: Pick<AppContext, "db" | "keys" | "bounds" | "settings">,
  gate: Gate,
  hashCost: HashCost | undefined,
  onSignedIn: () => Promise<void>,
): Dashboard {
  const { publicUrl } = settings;
  const signIn = { db, hasher: openPasswordHasher(bounds.queue("passwords"), hashCost), throttle: openSignInThrottle(), secrets: keys };
  const cookies = { cookie: sessionCookie(publicUrl), pendingCookie: pendingCookie(publicUrl), passkeyCookie: passkeyCookie(publicUrl) };
  return { gate, services: { signIn, ...cookies, onSignedIn, publicUrl } };
}
