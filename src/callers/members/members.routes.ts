import type { Transaction } from "../../platform/db/database.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id, Text } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { updateAccount } from "../accounts/accounts.store.ts";
import { accountName, contactDaysSchema, currencySchema, lowStockSchema, requireCurrency } from "../accounts/accounts.ts";
import { findMember, invite, listMembers, removeMember, reset, resetFactors, setRole } from "./members.store.ts";
import { invitationResponse, memberResponse } from "./members.ts";
import { CurrentUser, InvitationResponse, MemberResponse, personOf, requireConfirmed, RoleSchema, signedOut } from "./responses.ts";
import { currentUser } from "./sign-in.ts";

const tag = "Members";
const MemberPath = Type.Object({ memberId: Id("The member.") });
const closed = { additionalProperties: false };

/** `publicUrl` is the origin of the sign-in links. */
export type MemberServices = { publicUrl: string };

/** The members of the account: every member sees them, and owners change them. */
export const memberRoutes: Operation<MemberServices>[] = [
  operation({
    operationId: "listMembers",
    method: "GET",
    path: "/members",
    tag,
    summary: "List the members",
    description: "The members of the account, by id.",
    scope: "members:read",
    answers: { 200: { description: "The members.", schema: Type.Array(MemberResponse) } },
    handle: async ({ db, caller }) => {
      const members = await listMembers(db, personOf(caller).accountId);
      return { status: 200, body: members.map(memberResponse) };
    },
  }),
  operation({
    operationId: "inviteMember",
    method: "POST",
    path: "/members",
    tag,
    summary: "Invite a member",
    description: "Adds a member with a sign-in link, which is shown once. An email that a member has already is a 409 `member_exists`.",
    scope: "members:write",
    authorize: requireConfirmed,
    body: Type.Object({ email: Type.String({ maxLength: 254 }), role: Type.Optional(RoleSchema) }, closed),
    answers: { 201: { description: "The member and the link.", schema: InvitationResponse } },
    handle: async ({ db, caller, body, services, now }) => {
      const { accountId } = personOf(caller);
      const invited = await db.write((tx) => invite(tx, accountId, { email: body.email, role: body.role ?? "member" }, now));
      return { status: 201, body: invitationResponse(services.publicUrl, invited) };
    },
  }),
  operation({
    operationId: "resetMember",
    method: "POST",
    path: "/members/{memberId}/reset",
    tag,
    summary: "Reset a member",
    description:
      "Removes the member's password, second factors and sessions, and creates a sign-in link, which is shown once. The reset is recorded.",
    scope: "members:write",
    authorize: requireConfirmed,
    params: MemberPath,
    answers: { 201: { description: "The member and the link.", schema: InvitationResponse } },
    handle: async ({ db, caller, params, services, now }) => {
      const person = personOf(caller);
      const invited = await db.write(async (tx) => reset(tx, person.accountId, params.memberId, await nameOf(tx, person), now));
      if (!invited) throw noMember(params.memberId);
      return { status: 201, body: invitationResponse(services.publicUrl, invited) };
    },
  }),
  operation({
    operationId: "resetMemberFactors",
    method: "DELETE",
    path: "/members/{memberId}/factors",
    tag,
    summary: "Remove a member's second factors",
    description: "Removes the member's second factors, recovery codes and sessions. The password stays. The removal is recorded.",
    scope: "members:write",
    authorize: requireConfirmed,
    params: MemberPath,
    answers: { 200: { description: "The member.", schema: MemberResponse } },
    handle: async ({ db, caller, params, now }) => {
      const person = personOf(caller);
      const member = await db.write(async (tx) => resetFactors(tx, person.accountId, params.memberId, await nameOf(tx, person), now));
      if (!member) throw noMember(params.memberId);
      return { status: 200, body: memberResponse(member) };
    },
  }),
  operation({
    operationId: "updateMember",
    method: "PATCH",
    path: "/members/{memberId}",
    tag,
    summary: "Change a member's role",
    description: "Changes the role, at once. An account always has an owner.",
    scope: "members:write",
    authorize: requireConfirmed,
    params: MemberPath,
    body: Type.Object({ role: RoleSchema }, closed),
    answers: { 200: { description: "The member.", schema: MemberResponse } },
    handle: async ({ db, caller, params, body }) => {
      const { accountId } = personOf(caller);
      const member = await db.write((tx) => setRole(tx, accountId, params.memberId, body.role));
      if (!member) throw noMember(params.memberId);
      return { status: 200, body: memberResponse(member) };
    },
  }),
  operation({
    operationId: "removeMember",
    method: "DELETE",
    path: "/members/{memberId}",
    tag,
    summary: "Remove a member",
    description: "Removes a member, whose sessions and links end at once. An account always has an owner.",
    scope: "members:write",
    authorize: requireConfirmed,
    params: MemberPath,
    answers: { 204: { description: "The member was removed." } },
    handle: async ({ db, caller, params }) => {
      const { accountId } = personOf(caller);
      const gone = await db.write((tx) => removeMember(tx, accountId, params.memberId));
      if (!gone) throw noMember(params.memberId);
      return { status: 204 };
    },
  }),
];

/** Returns the name under which a reset records its owner. @throws Problem `unauthorized` if the owner was removed during the request */
async function nameOf(tx: Transaction, { accountId, memberId }: { accountId: number; memberId: number }): Promise<string> {
  const owner = await findMember(tx, accountId, memberId);
  if (!owner) throw signedOut();
  return owner.email ?? byId("member", memberId);
}

function noMember(id: number): Problem {
  return new Problem("not_found", `There is no ${byId("member", id)}.`);
}

/** What owners change of their own account. */
export const accountRoutes: Operation<object>[] = [
  operation({
    operationId: "updateAccount",
    method: "PATCH",
    path: "/account",
    tag: "Account",
    summary: "Change the account",
    description:
      "Changes the name of the shop, the free units at or below which the stock of an animal is low, how long contacts of orders are kept, or the currency of new prices.",
    scope: "members:write",
    body: Type.Object(
      {
        name: Type.Optional(Text("The new name.", 1, 200)),
        lowStock: Type.Optional(lowStockSchema),
        contactDays: Type.Optional(contactDaysSchema),
        currency: Type.Optional(currencySchema),
      },
      { additionalProperties: false },
    ),
    answers: { 200: { description: "The current user, with the account as it is now.", schema: CurrentUser } },
    handle: async ({ db, caller, body }) => {
      const { accountId, memberId } = personOf(caller);
      requireCurrency(body.currency);
      const asked = { ...body, ...(body.name !== undefined && { name: accountName(body.name) }) };
      await db.write((tx) => updateAccount(tx, accountId, asked));
      return { status: 200, body: await currentUser(db, accountId, memberId) };
    },
  }),
];
