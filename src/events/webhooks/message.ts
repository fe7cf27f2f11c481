import { formatDateTime } from "../../platform/http/dates.ts";
import type { StoredEvent } from "../log/events.store.ts";

/** A message to an endpoint. A retry has the same `messageId`. `position` is null for a test. */
export type Message = { messageId: string; position: number | null; type: string; requestId: string | null; text: string };

/** Returns the message of an event: the event as the API shows it, and the `timestamp` that Standard Webhooks requires. */
export function messageOf({ position, type, requestId, at, text, hash }: StoredEvent): Message {
  const { id } = JSON.parse(text) as { id: string };
  const shown = `{"timestamp":"${formatDateTime(at)}","hash":"${hash}",${text.slice(1)}`;
  return { messageId: id, position, type, requestId, text: shown };
}

/** The type of test messages. */
export const testType = "webhook.test";

/** The type of a failed delivery that stands for events that were deleted from the log before they were sent. */
export const expiredType = "webhook.expired";

/** Returns the body of a test message. */
export function testText(messageId: string, webhookId: number, now: number): string {
  return JSON.stringify({ timestamp: formatDateTime(now), id: messageId, type: testType, data: { webhookId } });
}
