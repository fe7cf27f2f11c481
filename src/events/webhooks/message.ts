import { createHmac, randomBytes } from "node:crypto";
import { formatDateTime } from "../../platform/http/dates.ts";
import type { StoredEvent } from "../log/events.store.ts";
import type { StoredDelivery } from "./deliveries.store.ts";

/**
 * A message to an endpoint. A retry has the same `messageId`. `position` is null for a test. `delivery` is its row, if it was tried or asked for
 * before.
 */
export type Message = {
  messageId: string;
  position: number | null;
  type: string;
  requestId: string | null;
  text: string;
  delivery: StoredDelivery | undefined;
};

/** Returns the message of an event: the event as the API shows it, and the `timestamp` that Standard Webhooks requires. */
export function messageOf({ position, type, requestId, at, text, hash }: StoredEvent): Message {
  const { id } = JSON.parse(text) as { id: string };
  const shown = `{"timestamp":"${formatDateTime(at)}","hash":"${hash}",${text.slice(1)}`;
  return { messageId: id, position, type, requestId, text: shown, delivery: undefined };
}

/** The type of test messages. */
export const testType = "webhook.test";

/** The type of a failed delivery that stands for events that were deleted from the log before they were sent. */
export const expiredType = "webhook.expired";

/** Returns the body of a test message. */
export function testText(messageId: string, webhookId: number, now: number): string {
  return JSON.stringify({ timestamp: formatDateTime(now), id: messageId, type: testType, data: { webhookId } });
}

const secretPrefix = "whsec_";
const secretBytes = 32;

/** Creates an endpoint's secret: `whsec_` and the base64 of 32 random bytes. Standard Webhooks allows 24 to 64. */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString("base64");
}

/**
 * Returns a message's headers by the Standard Webhooks specification, with a signature for each secret.
 *
 * @param now the time of the attempt (ms)
 */
export function signedHeaders(
  { messageId, text }: Pick<Message, "messageId" | "text">,
  now: number,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = Math.floor(now / 1_000);
  const signatures = secrets.map((secret) => `v1,${signatureOf(secret, `${messageId}.${timestamp}.${text}`)}`);
  return { "webhook-id": messageId, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}

function signatureOf(secret: string, text: string): string {
  return createHmac("sha256", Buffer.from(secret.slice(secretPrefix.length), "base64"))
    .update(text)
    .digest("base64");
}
