import type { X509Certificate } from "node:crypto";
import { minuteMs } from "../../platform/clock.ts";
import { parseMessage, parseRetryAfter, RenewalInfoMessage } from "./acme-messages.ts";
import { AcmeProblem, tryStep } from "./acme-problem.ts";
import { get, type AcmeSession } from "./acme-session.ts";
import { derOid, derValues, tags } from "./x509.ts";

/** The window in which the authority wants the certificate renewed, and when to ask again. Milliseconds since the epoch. */
export type RenewalInfo = { start: number; end: number; askAgainAt: number };

const askAgainMsDefault = 6 * 60 * minuteMs;
const askAgainMsMax = 24 * 60 * minuteMs;
const authorityKeyIdentifier = derOid("2.5.29.35");

/** The identifier of a certificate (RFC 9773 section 4.1); null if it names no authority key, for example if it is self-signed. */
export function renewalIdentifier(certificate: X509Certificate): string | null {
  const body = inside(inside(derValues(certificate.raw)));
  const serial = body.find((value) => value.tag === tags.integer);
  const extensions = body.find((value) => value.tag === 0xa3);
  if (serial === undefined || extensions === undefined) return null;
  for (const { content } of inside(derValues(extensions.content))) {
    const [oid, ...rest] = derValues(content);
    if (oid === undefined || !oid.content.equals(authorityKeyIdentifier.subarray(2))) continue;
    const keyIdentifier = inside(derValues(rest.at(-1)?.content ?? Buffer.alloc(0))).find((value) => value.tag === 0x80);
    if (keyIdentifier !== undefined) return `${keyIdentifier.content.toString("base64url")}.${serial.content.toString("base64url")}`;
  }
  return null;
}

/** Whether the authority supports RFC 9773. */
export function knowsRenewalInfo({ directory }: AcmeSession): boolean {
  return directory.renewalInfo !== undefined;
}

/** Asks the authority when to renew (RFC 9773 section 4.2); null if it does not support this. @throws AcmeProblem */
export async function renewalInfo(session: AcmeSession, identifier: string): Promise<RenewalInfo | null> {
  const base = session.directory.renewalInfo;
  if (base === undefined) return null;
  const answer = await get(session, `${base.replace(/\/$/, "")}/${identifier}`, "renewal information");
  const { suggestedWindow } = parseMessage(RenewalInfoMessage, "renewal information", answer);
  // RFC 3339 section 5.6 allows `t` and `z` in lower case.
  const [start = Number.NaN, end = Number.NaN] = [suggestedWindow.start, suggestedWindow.end].map((text) => Date.parse(text.toUpperCase()));
  if (!(end > start))
    throw new AcmeProblem("nonsense", "The certificate authority sent a renewal window that does not end after its start.");
  const now = session.clock();
  const asked = parseRetryAfter(answer.headers["retry-after"], now) ?? now + askAgainMsDefault;
  return { start, end, askAgainAt: Math.min(Math.max(asked, now + minuteMs), now + askAgainMsMax) };
}

/** Like `renewalInfo`, but null also if the certificate has no identifier or the request fails: neither may delay a renewal. */
export async function renewalInfoOf(session: AcmeSession, identifier: string | null): Promise<RenewalInfo | null> {
  if (identifier === null) return null;
  return tryStep(
    "renewal information",
    () => renewalInfo(session, identifier),
    () => null,
  ).catch((error: unknown) => {
    // Renewal information delays nothing, so neither may a limit or a lost connection.
    if (error instanceof AcmeProblem) return null;
    throw error;
  });
}

/** Returns the values nested in the first of `values`. */
const inside = (values: { content: Buffer }[]) => derValues(values[0]?.content ?? Buffer.alloc(0));
