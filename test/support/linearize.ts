import { isDeepStrictEqual } from "node:util";
import { newIdIn } from "./stock-clients.ts";
import { shown, step, type Action, type Outcome, type Shop } from "./stock-model.ts";

/** A request with its answer; `sent` and `answered` are moments of one counter that all clients share. */
export type Event = { action: Action; outcome: Outcome; sent: number; answered: number };

/**
 * Whether the answers are those of some order of the requests, one after the other, that keeps every request after
 * those that were answered before it was sent, and ends in what the lists show (Herlihy and Wing, 1990).
 */
export function linearizable(start: Shop, events: Event[], end: ReturnType<typeof shown>): boolean {
  const failed = new Set<string>();

  function search(shop: Shop, left: readonly Event[]): boolean {
    if (left.length === 0) return isDeepStrictEqual(shown(shop), end);
    const place = JSON.stringify([shop, left.map(({ sent }) => sent)]);
    if (failed.has(place)) return false;
    const firstAnswered = Math.min(...left.map(({ answered }) => answered));
    for (const event of left) {
      if (event.sent > firstAnswered) continue;
      const next = step(shop, event.action, newIdIn(event.outcome));
      if (!isDeepStrictEqual(next.outcome, event.outcome)) continue;
      if (
        search(
          next.shop,
          left.filter((other) => other !== event),
        )
      )
        return true;
    }
    failed.add(place);
    return false;
  }
  return search(start, events);
}
