import type { Schemas } from "./api.gen.ts";
import type { PetStore } from "./client.ts";
import { PetStoreError } from "./errors.ts";
import { refusal, type Refused } from "./refusals.ts";
import { realTiming } from "./timing.ts";

type Common = {
  /** Its place in the account's log: 1, 2, 3 and so on without a gap. */
  position: number;
  id: string;
  /** When it happened. */
  at: string;
  /** Who did it. */
  actor: { type: "key" | "member" | "operator" | "system"; id: number | null };
  requestId: string | null;
  resource: { type: string; id: number | string };
  /** The fields that changed, as they were. */
  previous: Record<string, unknown>;
  hash: string;
};

/** An event, by its type: `data` is the resource as it is after the change, or as it was if it is gone. */
export type ShopEvent = Common &
  (
    | { type: "pet.created" | "pet.updated" | "pet.deleted"; data: Schemas["Pet"] }
    | { type: "category.created" | "category.updated" | "category.deleted"; data: Schemas["Category"] }
    | { type: "order.created" | "order.updated" | "order.completed" | "order.cancelled"; data: Schemas["Order"] }
    | { type: "inventory.updated" | "inventory.deleted" | "inventory.low" | "inventory.out"; data: Schemas["InventoryItem"] }
    | {
        type: `${"project" | "deployment" | "domain" | "certificate" | "key" | "webhook" | "member" | "account" | "limit"}.${string}`;
        data: object;
      }
  );

export type EventsOptions = {
  /** Only events after this position: that of the last one that you have handled. Default: all that are kept. */
  after?: number;
  /** Only these types, such as `order.created` or `order.*`. Default: all. */
  types?: readonly string[];
  /** Waits for further events. Default: true. */
  follow?: boolean;
  /** Ends the iteration. */
  signal?: AbortSignal;
};

const pageSizeMax = 100;
const waitSeconds = 25;
/** How long the next request waits after an empty answer that came at once. */
const pauseMs = 1_000;
/** Far less than the day for which every event is kept. */
const recentMs = 3_600_000;

/**
 * The events of the account in their order, without a gap. Keep the `position` of each event that you have handled, and begin after it
 * next time. Between requests, a lost connection is tried again as the client does. Where no event of the types comes for so long that the log no
 * longer has those after the last one, the iteration goes on with the oldest that is kept, since it has just seen that none is missing.
 *
 * @throws PetStoreError `events_expired` if events after `after` are no longer kept
 */
export async function* events(client: PetStore, { after, types, follow = true, signal }: EventsOptions = {}): AsyncGenerator<ShopEvent> {
  const get = client.GET as (path: string, init: object) => Promise<Refused & { data?: ShopEvent[] }>;
  let position = after;
  let completeAt = NaN;
  for (;;) {
    if (signal?.aborted) return;
    const started = realTiming.now();
    const query = { after: position, types, limit: pageSizeMax, wait: follow ? waitSeconds : 0 };
    const answer = await get("/events", { params: { query }, ...(signal && { signal }) }).catch((error: unknown) => {
      if (signal?.aborted) return undefined;
      throw error;
    });
    if (!answer) return;
    // the time of the service, since the own clock may stand still while a machine sleeps
    const answeredAt = Date.parse(answer.response.headers.get("date") ?? "");
    const oldest = Number(answer.response.headers.get("events-oldest"));
    if (answeredAt - completeAt < recentMs && oldest > 0) {
      position = oldest - 1;
      completeAt = NaN; // a second 410 is an error
      continue;
    }
    if (!Array.isArray(answer.data)) throw refusal(answer);
    if (answer.data.length === 0) completeAt = answeredAt;
    for (const event of answer.data) {
      if (position !== undefined && event.position <= position) throw new PetStoreError("internal", "The events are not in their order.");
      yield event;
      position = event.position;
    }
    if (answer.data.length === 0 && !follow) return;
    if (answer.data.length === 0 && realTiming.now() - started < pauseMs) await realTiming.wait(pauseMs);
  }
}
