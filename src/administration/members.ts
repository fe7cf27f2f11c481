import { findMemberByEmail, invite, listMembers, removeMember, reset } from "../callers/members/members.store.ts";
import { emailOf, roles, invitationResponse, memberResponse, type Member } from "../callers/members/members.ts";
import type { Queryable } from "../platform/db/database.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import { Problem } from "../platform/problem.ts";
import { demandAccount, id } from "./accounts.ts";

/** `publicUrl` is the origin of the sign-in links. */
export type MemberServices = { publicUrl: string };

const email = Type.String({ maxLength: 254 });

/** An operator's operations on the members of an account. */
export const memberOperations = {
  /**
   * Adds a member with a sign-in link, which cannot be shown again. Default role: owner for the first member.
   * Without an email the owner gives one after signing in.
   */
  "members.invite": operatorOperation(
    { account: id, email: Type.Optional(email), role: Type.Optional(Type.Enum([...roles])) },
    async ({ db, body, now, services: { publicUrl } }) => {
      const { account, role } = body;
      const invited = await db.write(async (tx) => {
        await demandAccount(tx, account);
        return invite(tx, account, { email: body.email ?? null, role }, now);
      });
      return invitationResponse(publicUrl, invited);
    },
  ),

  /** Removes a member's password, second factors and sessions, and makes a new sign-in link, which cannot be shown again. */
  "members.reset": operatorOperation(
    { account: id, email },
    async ({ db, body: { account, email: text }, now, services: { publicUrl } }) => {
      const done = await db.write(async (tx) => {
        const { id: memberId, hasSecondFactor } = await demandMember(tx, account, text);
        const invited = await reset(tx, account, memberId, "operator", now);
        return invited && { invited, hadSecondFactor: hasSecondFactor };
      });
      if (!done) throw noMember(text);
      return { ...invitationResponse(publicUrl, done.invited), hadSecondFactor: done.hadSecondFactor };
    },
  ),

  "members.list": operatorOperation({ account: id }, async ({ db, body: { account } }) => {
    await demandAccount(db, account);
    return { members: (await listMembers(db, account)).map(memberResponse) };
  }),

  /** Removes a member. The member's sessions and links have ended when it returns. */
  "members.remove": operatorOperation({ account: id, email }, async ({ db, body: { account, email: text } }) => {
    const gone = await db.write(async (tx) => {
      const { id: memberId } = await demandMember(tx, account, text);
      return removeMember(tx, account, memberId);
    });
    if (!gone) throw noMember(text);
    return { member: memberResponse(gone) };
  }),
} satisfies OperatorOperations<MemberServices>;

async function demandMember(db: Queryable, accountId: number, text: string): Promise<Member> {
  await demandAccount(db, accountId);
  const member = await findMemberByEmail(db, accountId, emailOf(text));
  if (!member) throw noMember(text);
  return member;
}

function noMember(text: string): Problem {
  return new Problem("not_found", `The account has no member ${text.trim()}.`);
}
