import type { Database } from "../../platform/db/database.ts";
import { smallBytesMax } from "../../platform/http/bodies.ts";
import { operation, type DashboardCall, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { Problem } from "../../platform/problem.ts";
import {
  endPending,
  enableApp,
  findFactors,
  hasFactor,
  lockFactors,
  makeRecoveryCodes,
  prepareApp,
  removeApp,
  useAppCode,
  type MemberRef,
} from "./factors.store.ts";
import { factorsResponse, totpUri, typedSecret } from "./factors.ts";
import { listPasskeys } from "./passkeys.store.ts";
import { relyingPartyOf, passkeyResponse } from "./passkeys.ts";
import { PasskeyResponse, personOf, RecoveryCodes, requireConfirmed } from "./responses.ts";
import type { SessionServices } from "./sessions.routes.ts";
import { endOtherSessions } from "./sessions.store.ts";
import { currentUser, refusedCode, refusedField } from "./sign-in.ts";

const tag = "Second factors";
const FactorsResponse = Type.Object({
  app: Nullable(Type.Object({ enabledAt: DateTime("When the app was set up.") })),
  passkeys: Type.Array(PasskeyResponse),
  passkeysAvailable: Type.Boolean({ description: "Whether this service can have passkeys. It cannot at an IP address or without HTTPS." }),
  recoveryCodesLeft: Type.Integer({ description: "Recovery codes that have not been used." }),
});

export type FactorServices = SessionServices & { publicUrl: string };

/** The member's own second factors. */
export const factorRoutes: Operation<FactorServices>[] = [
  operation({
    operationId: "getFactors",
    method: "GET",
    path: "/factors",
    tag,
    summary: "Get the second factors",
    description: "The member's own second factors, without their secrets.",
    scope: "self",
    answers: { 200: { description: "The second factors.", schema: FactorsResponse } },
    handle: async ({ db, caller, services }) => ({
      status: 200,
      body: await readFactorsResponse(db, personOf(caller), services.publicUrl),
    }),
  }),
  operation({
    operationId: "prepareApp",
    method: "POST",
    path: "/factors/app",
    tag,
    summary: "Prepare an authenticator app",
    description: "Creates the secret of an authenticator app. It is shown once, and takes effect when the app is enabled.",
    scope: "self",
    authorize: requireConfirmed,
    answers: {
      201: {
        description: "The secret for typing, and the URI for a QR code.",
        schema: Type.Object({ secret: Type.String(), uri: Type.String() }),
      },
    },
    handle: prepare,
  }),
  operation({
    operationId: "enableApp",
    method: "POST",
    path: "/factors/app/enable",
    tag,
    summary: "Enable the authenticator app",
    description:
      "Makes the prepared app a second factor if its code is right. All other sessions end. The first factor comes with recovery codes.",
    scope: "self",
    authorize: requireConfirmed,
    body: Type.Object({ code: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false }),
    bodyBytesMax: smallBytesMax,
    answers: {
      200: {
        description: "The second factors, with new recovery codes if there were none.",
        schema: Type.Object({ ...FactorsResponse.properties, recoveryCodes: Nullable(RecoveryCodes) }),
      },
    },
    handle: enable,
  }),
  operation({
    operationId: "removeApp",
    method: "DELETE",
    path: "/factors/app",
    tag,
    summary: "Remove the authenticator app",
    description: "Removes the app, and the recovery codes if no second factor is left.",
    scope: "self",
    authorize: requireConfirmed,
    answers: { 204: { description: "The app was removed." } },
    handle: async ({ db, caller }) => {
      const { accountId, memberId } = personOf(caller);
      const gone = await db.write(async (tx) => {
        await lockFactors(tx, { accountId, memberId });
        return removeApp(tx, { accountId, memberId });
      });
      if (!gone) throw new Problem("not_found", "There is no authenticator app.");
      return { status: 204 };
    },
  }),
  operation({
    operationId: "makeRecoveryCodes",
    method: "POST",
    path: "/factors/recovery-codes",
    tag,
    summary: "Make new recovery codes",
    description: "Replaces the recovery codes. The earlier ones end.",
    scope: "self",
    authorize: requireConfirmed,
    answers: { 201: { description: "The codes.", schema: Type.Object({ recoveryCodes: RecoveryCodes }) } },
    handle: async ({ db, caller }) => {
      const { accountId, memberId } = personOf(caller);
      const recoveryCodes = await db.write(async (tx) => {
        await lockFactors(tx, { accountId, memberId });
        if (await hasFactor(tx, { accountId, memberId })) return makeRecoveryCodes(tx, { accountId, memberId });
        throw new Problem("invalid_request", "Set up a second factor first: recovery codes replace one.");
      });
      return { status: 201, body: { recoveryCodes } };
    },
  }),
];

async function prepare({ db, caller, services: { signIn } }: DashboardCall<SessionServices>) {
  const { accountId, memberId } = personOf(caller);
  const { member, account } = await currentUser(db, accountId, memberId);
  if (member.email === null || !member.hasPassword) throw new Problem("invalid_request", "Set an email and a password first.");
  const secret = await db.write(async (tx) => {
    await lockFactors(tx, { accountId, memberId });
    if ((await findFactors(tx, { accountId, memberId })).app) {
      throw new Problem("invalid_request", "An authenticator app is set up already: remove it first.");
    }
    return prepareApp(tx, { accountId, memberId }, signIn.secrets);
  });
  return { status: 201, body: { secret: typedSecret(secret), uri: totpUri(secret, { account: account.name, email: member.email }) } };
}

async function enable({
  db,
  caller,
  address,
  body,
  services: { signIn, publicUrl },
  now,
}: DashboardCall<FactorServices, { body: { code: string } }>) {
  const { accountId, memberId, sessionId } = personOf(caller);
  const { throttle, secrets } = signIn;
  const attempt = { kind: "code", accountId, memberId } as const;
  throttle.requireAddress(address, now);
  throttle.requireSubjects([attempt], address, now);
  const who = { accountId, memberId };
  const done = await db.write(async (tx) => {
    await lockFactors(tx, who);
    const verdict = await useAppCode(tx, { ...who, state: "prepared" }, body.code.replaceAll(/\s/g, ""), secrets, now);
    if (verdict !== "right") return verdict;
    const isFirst = !(await hasFactor(tx, who));
    await enableApp(tx, who, now);
    await endOtherSessions(tx, accountId, memberId, sessionId);
    await endPending(tx, who);
    return { recoveryCodes: isFirst ? await makeRecoveryCodes(tx, who) : null };
  });
  if (done === "none") throw refusedField("code", "belongs to no app: prepare one first");
  if (typeof done === "string" || "blockedUntil" in done) throw refusedCode(done, now);
  throttle.forget(attempt, address);
  return { status: 200, body: { ...(await readFactorsResponse(db, who, publicUrl)), ...done } };
}

async function readFactorsResponse(db: Database, who: MemberRef, publicUrl: string) {
  const party = relyingPartyOf(publicUrl);
  const passkeys = await listPasskeys(db, who);
  return {
    ...factorsResponse(await findFactors(db, who)),
    passkeys: passkeys.map((passkey) => passkeyResponse(passkey, party)),
    passkeysAvailable: party !== undefined,
  };
}
