import { formatDateTime } from "../../platform/http/dates.ts";
import type { StoredEvent } from "../log/events.store.ts";

/** A message as it is sent. Each repetition has the same `id`. `position` is null if the message is about no event. */
export type Message = { messageId: string; position: number | null; type: string; requestId: string | null; text: string };

/** The message of an event: the event as the API shows it, with `timestamp`, which Standard Webhooks wants beside `type` and `data`. */
export function messageOf({ position, type, requestId, at, text, hash }: StoredEvent): Message {
  const { id } = JSON.parse(text) as { id: string };
  const shown = `{"timestamp":"${formatDateTime(at)}","hash":"${hash}",${text.slice(1)}`;
  return { messageId: id, position, type, requestId, text: shown };
}

/** The type of the messages that test an endpoint. */
export const testType = "webhook.test";

/** The type of a delivery that stands for events which were deleted from the log before they were sent. */
export const expiredType = "webhook.expired";

/** The body of a message that tests an endpoint. */
export function testText(messageId: string, webhookId: number, now: number): string {
  return JSON.stringify({ timestamp: formatDateTime(now), id: messageId, type: testType, data: { webhookId } });
}
