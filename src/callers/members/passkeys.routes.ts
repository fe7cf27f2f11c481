import { operation, type Answer, type DashboardCall, type Operation } from "../../platform/http/operation.ts";
import { Nullable, Text } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import { endPending, hasFactor, lockFactors, makeRecoveryCodes, removeUnusedRecoveryCodes } from "./factors.store.ts";
import {
  answerOnce,
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  setPasskeyName,
  usePasskey,
  userHandleOf,
  type StoredPasskey,
} from "./passkeys.store.ts";
import {
  makeChallenge,
  openChallenge,
  passkeyResponse,
  passkeysMax,
  relyingPartyOf,
  requireRelyingParty,
  type Purpose,
  type RelyingParty,
} from "./passkeys.ts";
import { PasskeyResponse, personOf, RecoveryCodes, requireConfirmed } from "./responses.ts";
import { endOtherSessions } from "./sessions.store.ts";
import { clientOf, countSignIn, signedIn, signInAnswer, type SignInServices } from "./sign-in.routes.ts";
import { currentUser, startSession } from "./sign-in.ts";

const tag = "Passkeys";
const closed = { additionalProperties: false };
const Nothing = Type.Object({}, closed);
const bodyBytesMax = 16 * 1_024;
const Bytes = Type.String({ minLength: 1, maxLength: 8_192 });
const CredentialId = Type.String({ minLength: 1, maxLength: 1_400 });
const PasskeyName = Text("The passkey's name.", 1, 100);
const PasskeyPath = Type.Object({ passkeyId: CredentialId });
const Options = Type.Object({ options: Type.String({ description: "The browser's options, as JSON." }) });
const Registration = Type.Object(
  {
    name: PasskeyName,
    id: CredentialId,
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 }),
  },
  closed,
);
const Assertion = Type.Object(
  {
    id: CredentialId,
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Type.String({ minLength: 1, maxLength: 100 }),
  },
  closed,
);
type RegistrationInput = { name: string; id: string; clientDataJSON: string; attestationObject: string; transports: string[] };
type AssertionInput = { id: string; clientDataJSON: string; authenticatorData: string; signature: string; userHandle: string };

export type PasskeyServices = SignInServices & { publicUrl: string };

/** Passkeys (Web Authentication level 3): a passkey that verified its user counts as both factors. */
export const passkeyRoutes: Operation<PasskeyServices>[] = [
  operation({
    operationId: "preparePasskey",
    method: "POST",
    path: "/passkeys/options",
    tag,
    summary: "Prepare a passkey",
    description: "Creates the options with which the browser makes a passkey for this session.",
    scope: "self",
    authorize: requireConfirmed,
    answers: { 200: { description: "The options, with a cookie for the answer.", schema: Options } },
    handle: prepare,
  }),
  operation({
    operationId: "addPasskey",
    method: "POST",
    path: "/passkeys",
    tag,
    summary: "Add a passkey",
    description: "Adds the passkey that the browser made. All other sessions end. The first factor comes with recovery codes.",
    scope: "self",
    authorize: requireConfirmed,
    body: Registration,
    bodyBytesMax,
    answers: {
      201: {
        description: "The passkey, with new recovery codes if there was no second factor.",
        schema: Type.Object({ passkey: PasskeyResponse, recoveryCodes: Nullable(RecoveryCodes) }),
      },
    },
    handle: add,
  }),
  operation({
    operationId: "removePasskey",
    method: "DELETE",
    path: "/passkeys/{passkeyId}",
    tag,
    summary: "Remove a passkey",
    description: "Removes one of the member's own passkeys, and the recovery codes if no second factor is left.",
    scope: "self",
    authorize: requireConfirmed,
    params: PasskeyPath,
    answers: { 204: { description: "The passkey was removed." } },
    handle: async ({ db, caller, params }) => {
      const { accountId, memberId } = personOf(caller);
      const gone = await db.write(async (tx) => {
        await lockFactors(tx, { accountId, memberId });
        const isGone = await deletePasskey(tx, { accountId, memberId }, params.passkeyId);
        await removeUnusedRecoveryCodes(tx, { accountId, memberId });
        return isGone;
      });
      if (!gone) throw noSuchPasskey();
      return { status: 204 };
    },
  }),
  operation({
    operationId: "renamePasskey",
    method: "PATCH",
    path: "/passkeys/{passkeyId}",
    tag,
    summary: "Rename a passkey",
    description: "Changes the name of one of the member's own passkeys.",
    scope: "self",
    params: PasskeyPath,
    body: Type.Object({ name: PasskeyName }, closed),
    answers: { 200: { description: "The passkey, with its new name.", schema: PasskeyResponse } },
    handle: async ({ db, caller, params: { passkeyId }, body, services }) => {
      const { accountId, memberId } = personOf(caller);
      const passkey = await db.write((tx) => setPasskeyName(tx, { accountId, memberId }, passkeyId, body.name.trim()));
      if (!passkey) throw noSuchPasskey();
      return { status: 200, body: passkeyResponse(passkey, relyingPartyOf(services.publicUrl)) };
    },
  }),
  operation<PasskeyServices, undefined, undefined, typeof Nothing>({
    operationId: "preparePasskeySignIn",
    method: "POST",
    path: "/sign-in/passkey/options",
    tag,
    summary: "Prepare signing in with a passkey",
    description: "Creates the options with which the browser asks for a passkey. They identify no member.",
    scope: null,
    body: Nothing,
    throttle: countSignIn,
    answers: { 200: { description: "The options, with a cookie for the answer.", schema: Options } },
    handle: async ({ services, now }) => {
      const { id: rpID } = requireRelyingParty(services.publicUrl);
      const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
      const { bytes, cookie } = makeChallenge(services.signIn.secrets, { kind: "sign-in" }, now);
      return answerOptions(services, cookie, await generateAuthenticationOptions({ rpID, challenge: bytes, userVerification: "required" }));
    },
  }),
  operation({
    operationId: "signInWithPasskey",
    method: "POST",
    path: "/sign-in/passkey",
    tag,
    summary: "Sign in with a passkey",
    description: "Starts a session with the answer of a passkey that verified its user.",
    scope: null,
    body: Assertion,
    bodyBytesMax,
    throttle: countSignIn,
    answers: signedIn,
    handle: signInWithPasskey,
  }),
];

function answerOptions({ passkeyCookie }: PasskeyServices, cookie: string, options: unknown): Answer {
  return { status: 200, body: { options: JSON.stringify(options) }, headers: { "set-cookie": passkeyCookie.set(cookie) } };
}

async function prepare({ db, caller, services, now }: DashboardCall<PasskeyServices>): Promise<Answer> {
  const { accountId, memberId, sessionId } = personOf(caller);
  const party = requireRelyingParty(services.publicUrl);
  const { member, account } = await currentUser(db, accountId, memberId);
  if (member.email === null || !member.hasPassword) throw new Problem("invalid_request", "Set an email and a password first.");
  const known = await listPasskeys(db, { accountId, memberId });
  requireRoom(known.length);
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  const purpose: Purpose = { kind: "register", accountId, memberId, sessionId };
  const userHandle = await userHandleOf(db, { accountId, memberId });
  const { bytes, cookie } = makeChallenge(services.signIn.secrets, purpose, now, userHandle);
  const options = await generateRegistrationOptions({
    rpName: account.name,
    rpID: party.id,
    userID: new Uint8Array(Buffer.from(userHandle, "base64url")),
    userName: member.email,
    challenge: bytes,
    attestationType: "none",
    excludeCredentials: known.filter(({ rpId }) => rpId === party.id).map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  return answerOptions(services, cookie, options);
}

async function add(call: DashboardCall<PasskeyServices, { body: RegistrationInput }>): Promise<Answer> {
  const { db, caller, body, cookies, services, now } = call;
  const { accountId, memberId, sessionId } = personOf(caller);
  const party = requireRelyingParty(services.publicUrl);
  const { secrets } = services.signIn;
  const opened = openChallenge(secrets, services.passkeyCookie.read(cookies), { kind: "register", accountId, memberId, sessionId }, now);
  if (!opened) throw tooLate();
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { id, clientDataJSON, attestationObject } = body;
  const verified = await verifyRegistrationResponse({
    response: { id, rawId: id, type: "public-key", clientExtensionResults: {}, response: { clientDataJSON, attestationObject } },
    expectedChallenge: opened.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  }).catch(() => undefined);
  if (!verified?.verified)
    throw invalidAt("body.attestationObject", "is not a passkey for this site", "The passkey was not made for this site.");
  const { credential } = verified.registrationInfo;
  const who = { accountId, memberId };
  const recoveryCodes = await db.write(async (tx) => {
    await lockFactors(tx, who);
    if (!(await answerOnce(tx, opened))) throw tooLate();
    requireRoom((await listPasskeys(tx, who)).length);
    const isFirst = !(await hasFactor(tx, who));
    const stored = {
      ...who,
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      userHandle: opened.userHandle,
      rpId: party.id,
    };
    const isNew = await insertPasskey(tx, { ...stored, transports: body.transports, name: body.name.trim() }, now);
    if (!isNew) throw invalidAt("body.id", "is known already", "This passkey is known already.");
    await endOtherSessions(tx, accountId, memberId, sessionId);
    await endPending(tx, who);
    return isFirst ? makeRecoveryCodes(tx, who) : null;
  });
  const passkey = (await listPasskeys(db, who)).find((each) => each.id === credential.id);
  return { status: 201, body: { passkey: passkey && passkeyResponse(passkey, party), recoveryCodes } };
}

async function signInWithPasskey(call: DashboardCall<PasskeyServices, { body: AssertionInput }>): Promise<Answer> {
  const { db, body, cookies, services, now } = call;
  const party = requireRelyingParty(services.publicUrl);
  const opened = openChallenge(services.signIn.secrets, services.passkeyCookie.read(cookies), { kind: "sign-in" }, now);
  if (!opened) throw tooLate();
  const passkey = await findPasskey(db, body.id);
  const counter = passkey && (await counterAfter(passkey, body, opened.challenge, party));
  if (!passkey || counter === undefined) throw unknown();
  const begun = await db.write(async (tx) => {
    if (!(await answerOnce(tx, opened))) throw tooLate();
    if (!(await usePasskey(tx, passkey, counter, now))) throw unknown();
    await endPending(tx, passkey);
    return startSession(tx, passkey, clientOf(call));
  });
  return signInAnswer(services, begun, now);
}

/** Verifies the answer of a passkey. @returns its counter; undefined if anything is wrong */
async function counterAfter(
  passkey: StoredPasskey,
  { id, clientDataJSON, authenticatorData, signature, userHandle }: AssertionInput,
  expectedChallenge: string,
  party: RelyingParty,
): Promise<number | undefined> {
  if (passkey.rpId !== party.id) return undefined;
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const response = { clientDataJSON, authenticatorData, signature, userHandle };
  const verified = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: "public-key", clientExtensionResults: {}, response },
    expectedChallenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: { id: passkey.id, publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")), counter: passkey.counter },
  }).catch(() => undefined);
  return verified?.verified && userHandle === passkey.userHandle ? verified.authenticationInfo.newCounter : undefined;
}

function requireRoom(count: number): void {
  if (count >= passkeysMax) throw new Problem("invalid_request", `A member has at most ${passkeysMax} passkeys: remove one first.`);
}

function noSuchPasskey(): Problem {
  return new Problem("not_found", "There is no such passkey.");
}

function tooLate(): Problem {
  return new Problem("unauthorized", "The request for a passkey took too long, or was answered already. Start again.");
}

/** The same refusal for an unknown passkey and for one that fails a check. */
function unknown(): Problem {
  return new Problem("unauthorized", "This passkey does not sign in here.");
}
