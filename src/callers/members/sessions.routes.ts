import { smallBytesMax } from "../../platform/http/bodies.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Answer, type DashboardCall, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Id } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { byId, Problem } from "../../platform/problem.ts";
import type { BrowserServices } from "./browser-sessions.routes.ts";
import { endPending } from "./factors.store.ts";
import { findMember, findPassword, replacePassword, setMemberEmail } from "./members.store.ts";
import { emailOf } from "./members.ts";
import { newSalt, passwordLengthMax, requireGoodPassword } from "./passwords.ts";
import { personOf, signedOut, CurrentUser } from "./responses.ts";
import {
  insertSession,
  confirmSession,
  endOtherSessions,
  endOwnSession,
  endSession,
  findSessions,
  listSessions,
} from "./sessions.store.ts";
import { confirmedMs, type Session } from "./sessions.ts";
import { currentUser, requirePassword, refusedField, type SignInParts } from "./sign-in.ts";

const tag = "Sessions";
const SessionPath = Type.Object({ sessionId: Id("The session.") });
const SessionResponse = Type.Object({
  id: Id("Unique identifier of the session."),
  current: Type.Boolean({ description: "Whether it is the session of this request." }),
  address: Type.String({ description: "The address that it was started from." }),
  userAgent: Type.String(),
  createdAt: DateTime("When it started."),
  seenAt: DateTime("When it was last used, to the minute."),
});
const NewPassword = Type.Object(
  {
    password: Type.String({ maxLength: passwordLengthMax }),
    currentPassword: Type.Optional(Type.String({ maxLength: passwordLengthMax })),
    email: Type.Optional(Type.String({ maxLength: 254 })),
  },
  { additionalProperties: false },
);

const Confirmation = Type.Object({ confirmedUntil: DateTime("When the member must confirm the password again.") });

/** What operations on a member's own sessions need: the parts that check passwords, and the session cookie. */
export type SessionServices = BrowserServices & { signIn: SignInParts };

/** A member's own password and sessions. */
export const sessionRoutes: Operation<SessionServices>[] = [
  operation({
    operationId: "setPassword",
    method: "PUT",
    path: "/password",
    tag,
    summary: "Set the password",
    description:
      "Sets the password, or changes it if the current one is given. A member without an email gives one too. All other sessions end, and this one gets a new cookie.",
    scope: "self",
    body: NewPassword,
    bodyBytesMax: smallBytesMax,
    answers: { 200: { description: "The current user, with the session's new cookie.", schema: CurrentUser } },
    handle: setPassword,
  }),
  operation({
    operationId: "confirmPassword",
    method: "POST",
    path: "/confirm",
    tag,
    summary: "Confirm the password",
    description: "Checks the member's password again, and allows changes of keys and members in this session for 10 minutes.",
    scope: "self",
    body: Type.Object({ password: Type.String({ maxLength: passwordLengthMax }) }, { additionalProperties: false }),
    bodyBytesMax: smallBytesMax,
    answers: { 200: { description: "When the confirmation ends.", schema: Confirmation } },
    handle: confirmPassword,
  }),
  operation({
    operationId: "listSessions",
    method: "GET",
    path: "/sessions",
    tag,
    summary: "List the sessions",
    description: "The member's own sessions, the last used first.",
    scope: "self",
    answers: { 200: { description: "The sessions.", schema: Type.Array(SessionResponse) } },
    handle: async ({ db, caller, now }) => {
      const { accountId, memberId, sessionId } = personOf(caller);
      const sessions = await listSessions(db, accountId, memberId, now);
      return { status: 200, body: sessions.map((session) => sessionResponse(session, sessionId)) };
    },
  }),
  operation({
    operationId: "endSession",
    method: "DELETE",
    path: "/sessions/{sessionId}",
    tag,
    summary: "End a session",
    description: "Ends one of the member's own sessions at once.",
    scope: "self",
    params: SessionPath,
    answers: { 204: { description: "The session has ended." } },
    handle: async ({ db, caller, cookies, params, services: { cookie }, now }) => {
      const { accountId, memberId, sessionId } = personOf(caller);
      const ended = await db.write((tx) => endOwnSession(tx, accountId, memberId, params.sessionId));
      if (!ended) throw new Problem("not_found", `There is no ${byId("session", params.sessionId)}.`);
      if (params.sessionId !== sessionId) return { status: 204 };
      const left = await findSessions(db, cookie.read(cookies), now);
      return { status: 204, headers: { "set-cookie": cookie.set(left.map(({ token }) => token)) } };
    },
  }),
  operation({
    operationId: "endOtherSessions",
    method: "DELETE",
    path: "/sessions",
    tag,
    summary: "End the other sessions",
    description: "Ends all of the member's sessions except this one at once.",
    scope: "self",
    answers: { 204: { description: "The other sessions have ended." } },
    handle: async ({ db, caller }) => {
      const { accountId, memberId, sessionId } = personOf(caller);
      await db.write((tx) => endOtherSessions(tx, accountId, memberId, sessionId));
      return { status: 204 };
    },
  }),
];

async function setPassword(call: DashboardCall<SessionServices, { body: Static<typeof NewPassword> }>): Promise<Answer> {
  const { db, caller, address, userAgent, body, services, now } = call;
  const { accountId, memberId, sessionId } = personOf(caller);
  const member = await findMember(db, accountId, memberId);
  const seen = await findPassword(db, accountId, memberId);
  if (!member || !seen) throw signedOut();
  const newEmail = member.email === null ? emailOf(body.email ?? "") : undefined;
  if (newEmail === undefined && body.email !== undefined) throw refusedField("email", "cannot be changed");
  await requireGoodPassword(body.password, newEmail ?? member.email ?? "");
  if (seen.password !== null) {
    const proof = { field: "currentPassword", password: body.currentPassword, address, now };
    await requirePassword(services.signIn, { accountId, memberId, salt: seen.salt, password: seen.password }, proof);
  }

  const salt = newSalt();
  const password = await services.signIn.hasher.hash(body.password, salt, { accountId, memberId });
  const token = await db.write(async (tx) => {
    if (newEmail !== undefined) await setMemberEmail(tx, accountId, memberId, newEmail);
    const replaced = await replacePassword(tx, { accountId, memberId }, seen, { salt, password });
    if (!replaced) throw refusedField("currentPassword", "has changed in the meantime");
    await endOtherSessions(tx, accountId, memberId, sessionId);
    await endPending(tx, { accountId, memberId });
    await endSession(tx, accountId, sessionId);
    return insertSession(tx, { accountId, memberId }, { address, userAgent }, now);
  });
  const [, ...others] = services.cookie.read(call.cookies);
  const headers = { "set-cookie": services.cookie.set([token, ...others]) };
  return { status: 200, body: await currentUser(db, accountId, memberId), headers };
}

async function confirmPassword(call: DashboardCall<SessionServices, { body: { password: string } }>): Promise<Answer> {
  const { db, caller, address, body, services, now } = call;
  const { accountId, memberId, sessionId } = personOf(caller);
  const seen = await findPassword(db, accountId, memberId);
  if (!seen) throw signedOut();
  const { salt, password } = seen;
  if (password === null) throw refusedField("password", "is not set yet: set one first");
  const proof = { field: "password", password: body.password, address, now };
  await requirePassword(services.signIn, { accountId, memberId, salt, password }, proof);
  await db.write((tx) => confirmSession(tx, accountId, sessionId, now));
  return { status: 200, body: { confirmedUntil: formatDateTime(now + confirmedMs) } };
}

function sessionResponse({ id, address, userAgent, createdAt, seenAt }: Session, current: number) {
  return { id, current: id === current, address, userAgent, createdAt: formatDateTime(createdAt), seenAt: formatDateTime(seenAt) };
}
