import type { ShopEvent } from "./events.ts";
import { realTiming } from "./timing.ts";

/** The message of a webhook: an event of the account; `timestamp` is when it happened. A test message has only some of the fields. */
export type WebhookMessage = ShopEvent & { timestamp: string };

/** The headers of a request, by name: as `fetch` gives them, or as Node does, in lower case. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

export type VerifyOptions = {
  /** How far the timestamp may be from the clock, in either direction. Default: 300. */
  toleranceSeconds?: number;
  /** Returns the milliseconds since the Unix epoch. */
  now?: () => number;
};

/** Thrown if the secret did not sign a message, or if the message is too old. Answer with 400, and do not use the message. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

/** The most signatures of a message that are checked. */
const signaturesMax = 16;

/**
 * Verifies a message by the Standard Webhooks specification and returns it.
 *
 * @param secrets one secret (`whsec_…`), or several during a rotation
 * @param body the bytes of the request as they arrived, or their text. Do not parse and re-serialize the JSON: that changes the signed bytes
 * @throws WebhookError if no secret has signed the message, if a header is missing, or if the timestamp is too far from now
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = 300, now = realTiming.now }: VerifyOptions = {},
): Promise<WebhookMessage> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature").split(" ", signaturesMax);
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError("webhook-timestamp is not a number of seconds");
  const awaySeconds = Math.abs(now() / 1_000 - Number(timestamp));
  if (awaySeconds > toleranceSeconds) throw new WebhookError("The message is too old, or one of the clocks is wrong");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const key = await keyOf(secret);
    const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
    for (const signature of signatures) {
      const bytes = signature.startsWith("v1,") ? bytesOf(signature.slice(3)) : undefined;
      // Takes the same time wherever the signatures differ, so that timing reveals nothing.
      if (bytes && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return messageOf(text);
    }
  }
  throw new WebhookError("No secret has signed this message");
}

/** Returns the headers that sign a message. `timestamp` is in seconds since the Unix epoch. @throws WebhookError if the secret is malformed */
export async function signWebhook(secret: string, id: string, timestamp: number, body: string): Promise<Record<string, string>> {
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", await keyOf(secret), signed));
  const text = btoa(String.fromCharCode(...signature));
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${text}` };
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== "string" || value === "") throw new WebhookError(`The header ${name} is missing`);
  return value;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith("whsec_") ? bytesOf(secret.slice(6)) : undefined;
  if (!bytes || bytes.length === 0) throw new WebhookError("The secret must be whsec_ and Base64");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function messageOf(text: string): WebhookMessage {
  try {
    return JSON.parse(text) as WebhookMessage;
  } catch {
    throw new WebhookError("The message is not JSON");
  }
}
