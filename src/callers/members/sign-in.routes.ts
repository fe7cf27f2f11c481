import { Type } from "typebox";
import { operation, type Answer, type DashboardCall, type Operation } from "../../platform/http/operation.ts";
import { CurrentUser, personOf } from "./responses.ts";
import { passwordLengthMax } from "./passwords.ts";
import type { SessionServices } from "./sessions.routes.ts";
import { endSession } from "./sessions.store.ts";
import { signIn, signInByLink, currentUser, type NewSession, type SignInClient } from "./sign-in.ts";

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
const signedIn = { 200: { description: "The current user, with the session's cookie.", schema: CurrentUser } };

/** `onSignedIn` is called after each sign-in and must not reject. */
export type SignInServices = SessionServices & { onSignedIn: () => Promise<void> };

/** Signing in and out, and the current user. */
export const signInRoutes: Operation<SignInServices>[] = [
  operation({
    operationId: "signIn",
    method: "POST",
    path: "/sign-in",
    tag,
    summary: "Sign in",
    description: "Starts a session with an email and a password.",
    scope: null,
    body: Credentials,
    throttle,
    answers: signedIn,
    handle: async (call) => welcome(call.services, await signIn(call.services.signIn, call.body, clientOf(call))),
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
    throttle,
    answers: signedIn,
    handle: async (call) => welcome(call.services, await signInByLink(call.services.signIn, call.body.token, clientOf(call))),
  }),
  operation({
    operationId: "signOut",
    method: "POST",
    path: "/sign-out",
    tag,
    summary: "Sign out",
    description: "Ends the session, if there is one.",
    scope: null,
    answers: { 204: { description: "The session has ended." } },
    handle: async ({ db, caller, services: { cookie } }) => {
      if (caller?.person) {
        const { accountId, sessionId } = personOf(caller);
        await db.write((tx) => endSession(tx, accountId, sessionId));
      }
      return { status: 204, headers: { "set-cookie": cookie.clear() } };
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

function throttle({ signIn: { throttle: counts } }: SignInServices, address: string, now: number): void {
  counts.requireAddress(address, now);
}

async function welcome(
  { signIn: { db }, cookie, onSignedIn }: SignInServices,
  { accountId, memberId, token }: NewSession,
): Promise<Answer> {
  await onSignedIn();
  return { status: 200, body: await currentUser(db, accountId, memberId), headers: { "set-cookie": cookie.set(token) } };
}

function clientOf({ caller, address, userAgent, now }: DashboardCall): SignInClient {
  const earlier = caller?.person && { accountId: caller.accountId, sessionId: caller.person.sessionId };
  return { address, userAgent, earlier, now };
}
