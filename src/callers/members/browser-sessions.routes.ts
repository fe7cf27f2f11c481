import { operation, type Answer, type DashboardCall, type Operation } from "../../platform/http/operation.ts";
import { Id, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { CurrentUser } from "./responses.ts";
import { endSession, findSessions, namesOf, type BrowserSession } from "./sessions.store.ts";
import type { sessionCookie } from "./sessions.ts";
import { currentUser } from "./sign-in.ts";

const tag = "Accounts in this browser";
const SignedInAccount = Type.Object({
  current: Type.Boolean({ description: "Whether this is the current account of the browser." }),
  memberId: Id("The member who is signed in."),
  email: Nullable(Type.String()),
  account: Type.Object({ id: Id("The account."), name: Type.String() }),
});

export type BrowserServices = { cookie: ReturnType<typeof sessionCookie> };

/** The sessions of one browser (decision 0088). They need no current session, so that a member can switch away from one that has ended. */
export const browserSessionRoutes: Operation<BrowserServices>[] = [
  operation({
    operationId: "listBrowserSessions",
    method: "GET",
    path: "/browser-sessions",
    tag,
    summary: "List the accounts of this browser",
    description: "The sessions of this browser that have not ended, the current one first.",
    scope: null,
    answers: { 200: { description: "The sessions, at most five.", schema: Type.Array(SignedInAccount) } },
    handle: async (call) => {
      const { current, sessions } = await sessionsOf(call);
      const names = await namesOf(call.db, sessions);
      const body = sessions.flatMap(({ token, accountId, memberId }) => {
        const { email, account } = names.get(memberId) ?? {};
        return account === undefined ? [] : [{ current: token === current, memberId, email, account: { id: accountId, name: account } }];
      });
      return { status: 200, body };
    },
  }),
  operation({
    operationId: "switchBrowserSession",
    method: "POST",
    path: "/browser-sessions/{memberId}/switch",
    tag,
    summary: "Switch to another account",
    description: "Makes another session of this browser the current one, for all its tabs.",
    scope: null,
    params: Type.Object({ memberId: Id("The member to switch to.") }),
    answers: { 200: { description: "The new current user.", schema: CurrentUser } },
    handle: async (call) => {
      const { sessions } = await sessionsOf(call);
      const chosen = sessions.find(({ memberId }) => memberId === call.params.memberId);
      if (!chosen) throw new Problem("not_found", `This browser is not signed in as ${byId("member", call.params.memberId)} any more.`);
      return answerWith(call, [chosen, ...sessions.filter((session) => session !== chosen)]);
    },
  }),
  operation({
    operationId: "endBrowserSessions",
    method: "DELETE",
    path: "/browser-sessions",
    tag,
    summary: "Sign out of all accounts",
    description: "Ends all sessions of this browser at once. Those in other browsers stay.",
    scope: null,
    answers: { 204: { description: "The sessions have ended." } },
    handle: async (call) => {
      const { sessions } = await sessionsOf(call);
      await end(call, sessions);
      return answerWith(call, []);
    },
  }),
  operation({
    operationId: "signOut",
    method: "POST",
    path: "/sign-out",
    tag,
    summary: "Sign out",
    description: "Ends the current session, if there is one, and switches to the one that this browser used before.",
    scope: null,
    answers: {
      200: { description: "The session has ended. The new current user.", schema: CurrentUser },
      204: { description: "The session has ended, and this browser has no other." },
    },
    handle: async (call) => {
      const { current, sessions } = await sessionsOf(call);
      const left = sessions.filter(({ token }) => token !== current);
      await end(
        call,
        sessions.filter(({ token }) => token === current),
      );
      return answerWith(call, left);
    },
  }),
];

async function sessionsOf({ db, cookies, services: { cookie }, now }: DashboardCall<BrowserServices>) {
  const tokens = cookie.read(cookies);
  return { current: tokens[0], sessions: await findSessions(db, tokens, now) };
}

async function end({ db }: DashboardCall<BrowserServices>, sessions: BrowserSession[]): Promise<void> {
  if (sessions.length === 0) return;
  await db.write(async (tx) => {
    for (const { accountId, sessionId } of sessions) await endSession(tx, accountId, sessionId);
  });
}

/** Answers with the user of the first of these sessions, and with a cookie that holds them all. */
async function answerWith({ db, services: { cookie } }: DashboardCall<BrowserServices>, sessions: BrowserSession[]): Promise<Answer> {
  const headers = { "set-cookie": cookie.set(sessions.map(({ token }) => token)) };
  const [first] = sessions;
  if (!first) return { status: 204, headers };
  return { status: 200, body: await currentUser(db, first.accountId, first.memberId), headers };
}
