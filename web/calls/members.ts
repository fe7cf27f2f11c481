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
  createdAt: string;
  signedInAt: string | null;
  /** The last reset; `by` is an owner's email, or `operator`. */
  reset: { at: string; by: string } | null;
};
export type CurrentUser = { member: Member; account: { id: number; name: string; plan: "free" | "pro" | "business" | "enterprise" } };
export type Invited = { member: Member; link: string; expiresAt: string };
export type Session = { id: number; current: boolean; address: string; userAgent: string; createdAt: string; seenAt: string };
export type Key = {
  id: number;
  name: string;
  prefix: string;
  publishable: boolean;
  scopes: string[];
  /** The only websites that may use it; empty allows all. */
  origins: string[];
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  strikes: number;
  strikesRemaining: number;
  bannedUntil: string | null;
};
export type MadeKey = { id: number; key: string; scopes: string[] };
export type RotatedKey = MadeKey & { previous: { id: number; expiresAt: string } };

/** The dashboard's calls about members, sessions and keys (docs/dashboard-api.md), with their bodies and responses. */
type Calls = {
  "POST /sign-in": { body: { email: string; password: string; accountId?: number }; answer: CurrentUser };
  "POST /sign-in/link": { body: { token: string }; answer: CurrentUser };
  "POST /sign-out": { body: undefined; answer: undefined };
  "GET /session": { body: undefined; answer: CurrentUser };
  "PUT /password": { body: { password: string; currentPassword?: string; email?: string }; answer: CurrentUser };
  "POST /confirm": { body: { password: string }; answer: { confirmedUntil: string } };
  "GET /sessions": { body: undefined; answer: Session[] };
  "DELETE /sessions": { body: undefined; answer: undefined };
  "DELETE /sessions/{id}": { body: undefined; answer: undefined };
  "GET /members": { body: undefined; answer: Member[] };
  "POST /members": { body: { email: string; role?: Role }; answer: Invited };
  "POST /members/{id}/reset": { body: undefined; answer: Invited };
  "PATCH /members/{id}": { body: { role: Role }; answer: Member };
  "DELETE /members/{id}": { body: undefined; answer: undefined };
  "GET /keys": { body: undefined; answer: Key[] };
  "POST /keys": {
    body: { scopes?: string[]; expires?: string; publishable?: boolean; name?: string; origins?: string[] };
    answer: MadeKey;
  };
  "POST /keys/{id}/rotate": { body: { overlapHours?: number }; answer: RotatedKey };
  "DELETE /keys/{id}": { body: undefined; answer: undefined };
};

type More<Call extends keyof Calls> = { signal?: AbortSignal } & (Call extends `${string}{id}${string}` ? { id: number } : object) &
  (Calls[Call]["body"] extends undefined ? object : { body: Calls[Call]["body"] });

/** Makes a call of the signed-in person. If the call needs the password again, asks for it and repeats the call. @throws Refusal */
export async function ask<Call extends keyof Calls>(
  call: Call,
  ...[more]: object extends More<Call> ? [More<Call>?] : [More<Call>]
): Promise<Calls[Call]["answer"]> {
  const { id, body, signal } = (more ?? {}) as { id?: number; body?: unknown; signal?: AbortSignal };
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
