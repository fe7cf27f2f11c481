import type { Row } from "../../client/pages.ts";
import { confirmPassword } from "./confirmation.ts";
import { Refusal } from "./refusal.ts";
import { callsBelow, jsonOf, send } from "./send.ts";

export type Role = "owner" | "member";
/** Times here and below are RFC 3339 in UTC. */
export type Member = {
  id: number;
  /** Null for the first owner until an email is set. */
  email: string | null;
  role: Role;
  hasPassword: boolean;
  /** Whether signing in with the password takes a second step. */
  hasSecondFactor: boolean;
  createdAt: string;
  signedInAt: string | null;
  /** The last reset; `by` is an owner's email, or `operator`. */
  reset: { at: string; by: string } | null;
  /** The last time that an owner removed only the second factors. */
  factorsReset: { at: string; by: string } | null;
};
/** `lowStock`: the free units at or below which a pet's stock is low. `contactDays`: how long contacts of complete orders are kept. `currency`: what new prices begin with. */
type Account = {
  id: number;
  name: string;
  plan: "free" | "pro" | "business" | "enterprise";
  lowStock: number;
  contactDays: number;
  currency: string | null;
};
export type CurrentUser = { member: Member; account: Account };
/** An account that this browser is signed in to. */
export type BrowserSession = { current: boolean; memberId: number; email: string | null; account: { id: number; name: string } };
/** The answer to the correct password of a member with second factors; the next step takes one of `secondFactors`. */
export type SecondStep = { secondFactors: string[]; expiresAt: string };
export type Passkey = { id: string; name: string; host: string; works: boolean; createdAt: string; usedAt: string | null };
export type Factors = { app: { enabledAt: string } | null; passkeys: Passkey[]; passkeysAvailable: boolean; recoveryCodesLeft: number };
/** The secret of an authenticator app, as text to type and as the URI of a QR code. */
export type AppSecret = { secret: string; uri: string };
/** A passkey that the browser created, and the browser's answer to a sign-in with one; binary values are in base64url. */
type NewPasskey = { name: string; id: string; clientDataJSON: string; attestationObject: string; transports: string[] };
type PasskeyAnswer = { id: string; clientDataJSON: string; authenticatorData: string; signature: string; userHandle: string };
export type Invited = { member: Member; link: string; expiresAt: string };
export type Session = { id: number; current: boolean; address: string; userAgent: string; createdAt: string; seenAt: string };
export type Key = Row<"/keys">;
export type MadeKey = { id: number; key: string; scopes: string[] };
export type RotatedKey = MadeKey & { previous: { id: number; expiresAt: string } };

/** The dashboard's calls about members, sessions and keys (docs/dashboard-api.md), with their bodies and responses. */
type Calls = {
  "POST /sign-in": { body: { email: string; password: string; accountId?: number }; answer: CurrentUser | SecondStep };
  "POST /sign-in/link": { body: { token: string }; answer: CurrentUser | SecondStep };
  "POST /sign-in/code": { body: { code: string }; answer: CurrentUser };
  "POST /sign-out": { body: undefined; answer: CurrentUser | undefined };
  "GET /browser-sessions": { body: undefined; answer: BrowserSession[] };
  "POST /browser-sessions/{id}/switch": { body: undefined; answer: CurrentUser };
  "DELETE /browser-sessions": { body: undefined; answer: undefined };
  "GET /session": { body: undefined; answer: CurrentUser };
  "PUT /password": { body: { password: string; currentPassword?: string; email?: string }; answer: CurrentUser };
  "POST /confirm": { body: { password: string }; answer: { confirmedUntil: string } };
  "GET /sessions": { body: undefined; answer: Session[] };
  "DELETE /sessions": { body: undefined; answer: undefined };
  "DELETE /sessions/{id}": { body: undefined; answer: undefined };
  "GET /factors": { body: undefined; answer: Factors };
  "POST /factors/app": { body: undefined; answer: AppSecret };
  "POST /factors/app/enable": { body: { code: string }; answer: Factors & { recoveryCodes: string[] | null } };
  "DELETE /factors/app": { body: undefined; answer: undefined };
  "POST /passkeys/options": { body: undefined; answer: { options: string } };
  "POST /passkeys": { body: NewPasskey; answer: { passkey: Passkey; recoveryCodes: string[] | null } };
  "DELETE /passkeys/{id}": { body: undefined; answer: undefined };
  "PATCH /passkeys/{id}": { body: { name: string }; answer: Passkey };
  "POST /sign-in/passkey/options": { body: object; answer: { options: string } };
  "POST /sign-in/passkey": { body: PasskeyAnswer; answer: CurrentUser };
  "POST /factors/recovery-codes": { body: undefined; answer: { recoveryCodes: string[] } };
  "GET /members": { body: undefined; answer: Member[] };
  "POST /members": { body: { email: string; role?: Role }; answer: Invited };
  "POST /members/{id}/reset": { body: undefined; answer: Invited };
  "DELETE /members/{id}/factors": { body: undefined; answer: Member };
  "PATCH /members/{id}": { body: { role: Role }; answer: Member };
  "DELETE /members/{id}": { body: undefined; answer: undefined };
  "PATCH /account": {
    body: { name: string } | { lowStock: number } | { contactDays: number } | { currency: string | null };
    answer: CurrentUser;
  };
  "POST /keys": {
    body: { scopes?: string[]; expires?: string; publishable?: boolean; name?: string; origins?: string[] };
    answer: MadeKey;
  };
  "POST /keys/{id}/rotate": { body: { overlapHours?: number }; answer: RotatedKey };
  "DELETE /keys/{id}": { body: undefined; answer: undefined };
  "POST /keys/{id}/unban": { body: undefined; answer: { unbanned: boolean } };
};

type More<Call extends keyof Calls> = { signal?: AbortSignal } & (Call extends `${string}{id}${string}`
  ? { id: number | string }
  : object) &
  (Calls[Call]["body"] extends undefined ? object : { body: Calls[Call]["body"] });

/** Makes a call for the signed-in member. If the call needs the password again, asks for it and repeats the call. @throws Refusal */
export async function ask<Call extends keyof Calls>(
  call: Call,
  ...[more]: object extends More<Call> ? [More<Call>?] : [More<Call>]
): Promise<Calls[Call]["answer"]> {
  const { id, body, signal } = (more ?? {}) as { id?: number | string; body?: unknown; signal?: AbortSignal };
  const [method = "", path = ""] = call.split(" ");
  const init: RequestInit = { method, headers: { accept: "application/json" } };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.headers = { accept: "application/json", "content-type": "application/json" };
    init.body = jsonOf(body);
  }
  const request = (): Request => new Request(callsBelow + path.replace("{id}", String(id)), init);
  const response = await send(request()).catch(async (error: unknown) => {
    const needsPassword = error instanceof Refusal && error.code === "confirmation_required";
    if (!needsPassword || !(await confirmPassword())) throw error;
    return send(request());
  });
  const answer: unknown = response.status === 204 ? undefined : await response.json();
  return answer as Calls[Call]["answer"];
}
