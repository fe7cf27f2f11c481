import type { Queryable } from "../../platform/db/database.ts";
import type { Caller, Person } from "../../platform/http/caller.ts";
import { DateTime, Id, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { Problem } from "../../platform/problem.ts";
import { contactDaysSchema, currencySchema, lowStockSchema, plans, type Account, type Plan } from "../accounts/accounts.ts";
import { roles, memberResponse, type Member, type Role } from "./members.ts";
import { isConfirmed } from "./sessions.ts";

export const RoleSchema = Type.Unsafe<Role>({ type: "string", enum: [...roles], description: "What the member may do." });

export const MemberResponse = Type.Object({
  id: Id("Unique identifier of the member."),
  email: Nullable(Type.String({ description: "Null for an owner created at the first start, until they set one." })),
  role: RoleSchema,
  hasPassword: Type.Boolean({ description: "Whether a password is set." }),
  hasSecondFactor: Type.Boolean({ description: "Whether signing in with the password takes a second step." }),
  createdAt: DateTime("When the member was first invited."),
  signedInAt: Nullable(DateTime("When the member last signed in.")),
  reset: Nullable(
    Type.Object({
      at: DateTime("When the password, the second factors and the sessions were removed."),
      by: Type.String({ description: "The email of the owner who did it, or `operator`." }),
    }),
  ),
  factorsReset: Nullable(
    Type.Object({
      at: DateTime("When the second factors and the sessions were removed, but not the password."),
      by: Type.String({ description: "The email of the owner who did it." }),
    }),
  ),
});

export const PasskeyResponse = Type.Object({
  id: Type.String({ description: "The passkey." }),
  name: Type.String(),
  host: Type.String({ description: "The host that the passkey was made for." }),
  works: Type.Boolean({ description: "Whether `host` is still the host of this service." }),
  createdAt: DateTime("When it was added."),
  usedAt: Nullable(DateTime("When it was last used.")),
});
export const RecoveryCodes = Type.Array(Type.String(), { description: "The recovery codes, shown here only." });

export const InvitationResponse = Type.Object({
  member: MemberResponse,
  link: Type.String({ description: "The sign-in link, shown here only." }),
  expiresAt: DateTime("When the link ends."),
});

export const CurrentUser = Type.Object({
  member: MemberResponse,
  account: Type.Object({
    id: Id("The account."),
    name: Type.String(),
    plan: Type.Unsafe<Plan>({ type: "string", enum: [...plans] }),
    lowStock: lowStockSchema,
    contactDays: contactDaysSchema,
    currency: currencySchema,
  }),
});

/** The signed-in person and the account, as responses show them. */
export function currentUserResponse(member: Member, { id, name, plan, lowStock, contactDays, currency }: Account) {
  return { member: memberResponse(member), account: { id, name, plan, lowStock, contactDays, currency } };
}

/** Returns the signed-in person. @throws Problem `unauthorized` */
export function personOf(caller: Caller | null): Person & { accountId: number } {
  if (!caller?.person) throw new Problem("unauthorized", "Sign in first.");
  return { accountId: caller.accountId, ...caller.person };
}

/**
 * Checks, for an operation that gives access, that the member signed in or confirmed the password in this session within the last
 * 10 minutes.
 *
 * @throws Problem `confirmation_required`
 */
export async function requireConfirmed(_db: Queryable, caller: Caller, now: number): Promise<void> {
  if (isConfirmed(personOf(caller).confirmedAt, now)) return;
  throw new Problem("confirmation_required", "Confirm your password first.");
}

/** The refusal of a member who was removed during the request. */
export function signedOut(): Problem {
  return new Problem("unauthorized", "The session has ended.");
}
