import type { Database } from "../../platform/db/database.ts";
import type { EventType } from "../../platform/event-types.ts";
import type { AnswerStream } from "../../platform/http/operation.ts";
import { readEvents, eventJson, type StoredEvent } from "./events.store.ts";
import type { Listener } from "./listeners.ts";

const heartbeatMs = 15_000;
/** How often (ms) the stream checks that its caller may still read. */
const checkMs = 1_000;
/** How long (ms) a client may leave sent events unread before it is disconnected. */
export const stalledMs = 30_000;
/** The most events of one read. */
const batchMax = 50;
/** The most characters that the service holds for a slow client, unless a single event has more. */
const heldMax = 262_144;

export type StreamContext = {
  db: Database;
  accountId: number;
  after: number;
  types: EventType[] | undefined;
  /** Ends the stream after this time (ms) without an event. */
  endsAfterMs: number;
  listener: Listener;
  /** Whether the service is stopping. */
  isClosed: () => boolean;
  /** Whether the caller may still read events. */
  isAllowed: () => Promise<boolean>;
};

/**
 * Sends the events of a log as server-sent events (HTML, 9.2), each with its position as the id. Ends when the client closes the
 * connection, may no longer read events, or the service stops. A slow client delays only itself: events that it has not read stay in
 * the database.
 */
export async function streamEvents(stream: AnswerStream, streaming: StreamContext): Promise<void> {
  const { listener } = streaming;
  let isGone = false;
  const drained = openDrain(stream, () => isGone);
  stream.onClose(() => {
    isGone = true;
    listener.close();
    drained.wake();
  });
  try {
    stream.write(": open\n\n");
    await send(stream, streaming, () => isGone, drained);
    stream.end();
  } catch {
    stream.destroy(); // the client reconnects, and then gets the refusal as an answer
  } finally {
    listener.close();
  }
}

async function send(stream: AnswerStream, streaming: StreamContext, isGone: () => boolean, drained: Drain): Promise<void> {
  const { db, accountId, types, listener, isClosed, isAllowed, endsAfterMs } = streaming;
  let { after } = streaming;
  let [sentAt, eventAt] = [performance.now(), performance.now()];
  let limit = batchMax;
  while (!isGone() && !isClosed()) {
    const events = await db.scan(() => readEvents(db, accountId, { after, types, limit }));
    // Checked after the read, so that a caller who has just lost the right gets none of these events.
    if (isGone() || !(await isAllowed())) return;
    const now = performance.now();
    if (events.length > 0) {
      const { text, count } = firstOf(events);
      after = events[count - 1]!.position;
      limit = Math.min(batchMax, 2 * count); // larger events are read in smaller pages
      [sentAt, eventAt] = [now, now];
      if (!stream.write(text) && !(await drained.wait(stalledMs))) return stream.destroy();
      continue;
    }
    if (now - eventAt >= endsAfterMs) return;
    if (now - sentAt >= heartbeatMs) {
      sentAt = now;
      if (!stream.write(": heartbeat\n\n") && !(await drained.wait(stalledMs))) return stream.destroy();
    }
    await listener.next(Math.min(checkMs, endsAfterMs - (now - eventAt)));
  }
}

/** The text of the first events, up to `heldMax` characters, and how many they are. */
function firstOf(events: readonly StoredEvent[]): { text: string; count: number } {
  let text = "";
  let count = 0;
  for (const event of events) {
    const next = `id: ${event.position}\ndata: ${eventJson(event)}\n\n`;
    if (count > 0 && text.length + next.length > heldMax) break;
    text += next;
    count += 1;
  }
  return { text, count };
}

type Drain = ReturnType<typeof openDrain>;

/** Returns an object whose `wait` resolves to whether the client has read all that was written, within a time (ms). */
export function openDrain(stream: AnswerStream, isGone: () => boolean) {
  let waiting: ((isDrained: boolean) => void) | undefined;
  stream.onDrain(() => waiting?.(true));
  return {
    wake: () => waiting?.(false),
    async wait(ms: number): Promise<boolean> {
      if (isGone()) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting = resolve;
      const timer = setTimeout(() => resolve(false), ms).unref();
      const isDrained = await promise;
      clearTimeout(timer);
      waiting = undefined;
      return isDrained;
    },
  };
}
