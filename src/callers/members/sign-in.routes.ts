import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Answer, type DashboardCall, type Operation } from "../../platform/http/operation.ts";
import { DateTime } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { pendingMs } from "./factors.ts";
import { passwordLengthMax } from "./passwords.ts";
import { CurrentUser, personOf } from "./responses.ts";
import type { SessionServices } from "./sessions.routes.ts";
import type { passkeyCookie, pendingCookie } from "./sessions.ts";
import { currentUser, finishSignIn, signIn, signInByLink, type NewSession, type PendingSignIn, type SignInClient } from "./sign-in.ts";

const tag = "Sign-in";
const closed = { additionalProperties: false };
const Credentials = Type.Object(
  {
    email: Type.String({ maxLength: 254 }),
    password: Type.String({ maxLength: passwordLengthMax }),
    accountId: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);
const LinkToken = Type.Object({ token: Type.String({ minLength: 1, maxLength: 100 }) }, closed);
const SecondStep = Type.Object({
  secondFactors: Type.Array(Type.Enum(["app", "passkey", "recoveryCode"]), { description: "The factors that the second step accepts." }),
  expiresAt: DateTime("When the sign-in has to start again."),
});
export const signedIn = { 200: { description: "The current user, with the session's cookie.", schema: CurrentUser } };
const signedInOrPending = {
  ...signedIn,
  202: { description: "A second factor is needed. The cookie of the second step works in this browser only.", schema: SecondStep },
};

/** `onSignedIn` is called after each sign-in and must not reject. */
export type SignInServices = SessionServices & {
  pendingCookie: ReturnType<typeof pendingCookie>;
  passkeyCookie: ReturnType<typeof passkeyCookie>;
  onSignedIn: () => Promise<void>;
};

/** Signing in, and the current user. */
export const signInRoutes: Operation<SignInServices>[] = [
  operation({
    operationId: "signIn",
    method: "POST",
    path: "/sign-in",
    tag,
    summary: "Sign in",
    description: "Starts a session with an email and a password, or the second step if the member has a second factor.",
    scope: null,
    body: Credentials,
    throttle: countSignIn,
    answers: signedInOrPending,
    handle: async (call) => signInAnswer(call.services, await signIn(call.services.signIn, call.body, clientOf(call)), call.now),
  }),
  operation({
    operationId: "signInByLink",
    method: "POST",
    path: "/sign-in/link",
    tag,
    summary: "Sign in by a link",
    description: "Starts a session with the token of a sign-in link, which works once.",
    scope: null,
    body: LinkToken,
    throttle: countSignIn,
    answers: signedInOrPending,
    handle: async (call) =>
      signInAnswer(call.services, await signInByLink(call.services.signIn, call.body.token, clientOf(call)), call.now),
  }),
  operation({
    operationId: "finishSignIn",
    method: "POST",
    path: "/sign-in/code",
    tag,
    summary: "Finish signing in",
    description: "Starts the session of a sign-in that needs a second factor, with a code of the authenticator app or a recovery code.",
    scope: null,
    body: Type.Object({ code: Type.String({ minLength: 1, maxLength: 100 }) }, closed),
    throttle: countSignIn,
    answers: signedIn,
    handle: async (call) => {
      const { services, body, cookies, now } = call;
      const token = services.pendingCookie.read(cookies);
      return signInAnswer(services, await finishSignIn(services.signIn, token, body.code, clientOf(call)), now);
    },
  }),
  operation({
    operationId: "getSession",
    method: "GET",
    path: "/session",
    tag,
    summary: "Get the session",
    description: "The current user, with role and account.",
    scope: "self",
    answers: { 200: { description: "The current user.", schema: CurrentUser } },
    handle: async ({ db, caller }) => {
      const { accountId, memberId } = personOf(caller);
      return { status: 200, body: await currentUser(db, accountId, memberId) };
    },
  }),
];

/** Counts an attempt to sign in by its address. */
export function countSignIn({ signIn: { throttle: counts } }: SignInServices, address: string, now: number): void {
  counts.requireAddress(address, now);
}

/** Returns the answer to a sign-in, with the cookie of its session or of its second step. */
export async function signInAnswer(services: SignInServices, begun: NewSession | PendingSignIn, now: number): Promise<Answer> {
  const { cookie, onSignedIn } = services;
  const { db } = services.signIn;
  if ("pending" in begun) {
    const body = { secondFactors: begun.secondFactors, expiresAt: formatDateTime(now + pendingMs) };
    return { status: 202, body, headers: { "set-cookie": services.pendingCookie.set(begun.pending) } };
  }
  const { accountId, memberId, tokens } = begun;
  await onSignedIn();
  return { status: 200, body: await currentUser(db, accountId, memberId), headers: { "set-cookie": cookie.set(tokens) } };
}

export function clientOf({ cookies, services, address, userAgent, now }: DashboardCall<SessionServices>): SignInClient {
  return { address, userAgent, tokens: services.cookie.read(cookies), now };
}
