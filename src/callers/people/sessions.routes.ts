import { Type } from "typebox";
import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Id } from "../../platform/http/schemas.ts";
import { byId } from "../../platform/ids.ts";
import { Problem } from "../../platform/problem.ts";
import { personOf, signedOut, Standing } from "./answers.ts";
import { passwordLengthMax, requireGoodPassword, samePassword } from "./passwords.ts";
import { emailOf } from "./people.ts";
import { findMember, findPassword, nameMember, saltFor, setPassword } from "./people.store.ts";
import { sessionCookie, type Session } from "./sessions.ts";
import { beginSession, endOtherSessions, endOwnSession, listSessions } from "./sessions.store.ts";
import { standingOf, type SignInParts } from "./sign-in.ts";
import { requireAttempt } from "./throttle.ts";

const tag = "Sessions";
const SessionPath = Type.Object({ sessionId: Id("The session.") });
const SessionShown = Type.Object({
  id: Id("Unique identifier of the session."),
  current: Type.Boolean({ description: "Whether the request was made with it." }),
  address: Type.String({ description: "Where it was begun from." }),
  userAgent: Type.String(),
  createdAt: DateTime("When it began."),
  seenAt: DateTime("When it was used last, to the minute."),
});
const NewPassword = Type.Object(
  {
    password: Type.String({ maxLength: passwordLengthMax }),
    currentPassword: Type.Optional(Type.String({ maxLength: passwordLengthMax })),
    email: Type.Optional(Type.String({ maxLength: 254 })),
  },
  { additionalProperties: false },
);

/** A person's own password and sessions. */
export function sessionRoutes({ db, hasher, throttle, publicUrl }: SignInParts & { publicUrl: string }): Operation[] {
  const cookie = sessionCookie(publicUrl);
  return [
    operation({
      operationId: "setPassword",
      method: "PUT",
      path: "/password",
      tag,
      summary: "Set the password",
      description:
        "Sets the password, or changes it, for which the current one is needed. Whoever has no email gives one too. All other sessions end, and this one is renewed.",
      scope: "self",
      body: NewPassword,
      answers: { 200: { description: "Who is signed in; the new cookie of the session.", schema: Standing } },
      act: async ({ caller, address, userAgent, body, now }) => {
        const { accountId, memberId, sessionId } = personOf(caller);
        const member = await findMember(db, accountId, memberId);
        const seen = await findPassword(db, accountId, memberId);
        if (!member || !seen) throw signedOut();
        const newEmail = member.email === null ? emailOf(body.email ?? "") : undefined;
        if (newEmail === undefined && body.email !== undefined) throw refused("email", "cannot be changed");
        requireGoodPassword(body.password, newEmail ?? member.email ?? "");
        await requireCurrent(seen, body.currentPassword, address, `member ${memberId}`, now);

        const salt = newEmail === undefined ? seen.salt : await saltFor(db, newEmail);
        const password = await hasher.hash(body.password, salt);
        const token = await db.write(async (tx) => {
          if (newEmail !== undefined) await nameMember(tx, accountId, memberId, newEmail, salt);
          if (!(await setPassword(tx, accountId, { ...seen, salt }, password))) throw refused("currentPassword", "was changed meanwhile");
          await endOtherSessions(tx, accountId, memberId, sessionId);
          return beginSession(tx, { accountId, memberId }, { address, userAgent }, { accountId, sessionId }, now);
        });
        return { status: 200, body: await standingOf(db, accountId, memberId), headers: { "set-cookie": cookie.set(token) } };
      },
    }),
    operation({
      operationId: "listSessions",
      method: "GET",
      path: "/sessions",
      tag,
      summary: "List the sessions",
      description: "The person's own sessions, those used last first.",
      scope: "self",
      answers: { 200: { description: "The sessions.", schema: Type.Array(SessionShown) } },
      act: async ({ caller, now }) => {
        const { accountId, memberId, sessionId } = personOf(caller);
        const sessions = await listSessions(db, accountId, memberId, now);
        return { status: 200, body: sessions.map((session) => shownSession(session, sessionId)) };
      },
    }),
    operation({
      operationId: "endSession",
      method: "DELETE",
      path: "/sessions/{sessionId}",
      tag,
      summary: "End a session",
      description: "Ends one of the person's own sessions, at once.",
      scope: "self",
      params: SessionPath,
      answers: { 204: { description: "The session has ended." } },
      act: async ({ caller, params }) => {
        const { accountId, memberId, sessionId } = personOf(caller);
        const ended = await db.write((tx) => endOwnSession(tx, accountId, memberId, params.sessionId));
        if (!ended) throw new Problem("not_found", `There is no ${byId("session", params.sessionId)}.`);
        return { status: 204, ...(params.sessionId === sessionId && { headers: { "set-cookie": cookie.clear() } }) };
      },
    }),
    operation({
      operationId: "endOtherSessions",
      method: "DELETE",
      path: "/sessions",
      tag,
      summary: "End the other sessions",
      description: "Ends all of the person's sessions but this one, at once.",
      scope: "self",
      answers: { 204: { description: "They have ended." } },
      act: async ({ caller }) => {
        const { accountId, memberId, sessionId } = personOf(caller);
        await db.write((tx) => endOtherSessions(tx, accountId, memberId, sessionId));
        return { status: 204 };
      },
    }),
  ];

  /** A stolen session must not become the account's owner: guesses are counted as at the door. */
  async function requireCurrent(
    seen: { salt: string; password: string | null },
    given: string | undefined,
    address: string,
    who: string,
    now: number,
  ): Promise<void> {
    if (seen.password === null) return;
    if (given === undefined) throw refused("currentPassword", "is required");
    requireAttempt(throttle, address, who, now);
    if (!samePassword(await hasher.hash(given, seen.salt), seen.password)) throw refused("currentPassword", "is wrong");
    throttle.succeeded(who);
  }
}

function refused(field: string, message: string): Problem {
  return new Problem("invalid_request", `${field} ${message}.`, { details: [{ path: `body.${field}`, message }] });
}

function shownSession({ id, address, userAgent, createdAt, seenAt }: Session, current: number) {
  return { id, current: id === current, address, userAgent, createdAt: formatDateTime(createdAt), seenAt: formatDateTime(seenAt) };
}
