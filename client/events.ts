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
  /** The fields that changed, with their earlier values. */
  previous: Record<string, unknown>;
  hash: string;
};

type Type = Schemas["EventType"];
type Domain = Schemas["Domain"];
/** The data of events by the kind of their resource. Where one field is optional, some events of the kind do not have it. */
type DataByKind = {
  pet: Schemas["Pet"];
  category: Schemas["Category"];
  order: Schemas["Order"] & { id: number };
  reservation: Omit<Schemas["Reservation"], "contact">;
  inventory: Schemas["InventoryItem"];
  import: Schemas["Import"];
  project: Omit<Schemas["Project"], "url" | "domains"> & { domains?: Schemas["Project"]["domains"] };
  deployment: Omit<Schemas["Deployment"], "url">;
  domain: Pick<Domain, "hostname" | "projectId" | "kind" | "status"> &
    Partial<Pick<Domain, "primary" | "redirect" | "problems" | "createdAt" | "verifiedAt">> & { troubles?: string[] };
  certificate: Pick<Domain, "hostname" | "projectId"> & Schemas["DomainCertificate"];
  key: { id: number; bannedUntil?: string };
  webhook: Omit<Schemas["Webhook"], "secret">;
  member: { id: number; role?: string };
  account: {
    id: number;
    plan?: string;
    perMinute?: number;
    perDay?: number;
    lowStock?: number;
    contactDays?: number;
    currency?: string | null;
  };
  limit: { id: number; window: "minute" | "day"; limit: number };
};
type DataOf<T extends Type> = T extends "pet.profile_updated"
  ? Schemas["Profile"]
  : T extends `${infer Kind extends keyof DataByKind}.${string}`
    ? DataByKind[Kind]
    : never;

/**
 * An event: a union whose `type` decides what `data` is, which is the resource after the change or, if the change deleted it, before. A later
 * version of the service may send other types.
 */
export type ShopEvent = { [T in Type]: Common & { type: T; data: DataOf<T> } }[Type];

export type EventsOptions = {
  /** Only events after this position: pass that of the last event that you have handled. Default: all events that are kept. */
  after?: number;
  /** Only these types, such as `order.created` or `order.*`. Default: all. */
  types?: string | readonly string[];
  /** Whether to wait for further events. Default: true. */
  follow?: boolean;
  /** Ends the iteration. */
  signal?: AbortSignal;
};

const pageSizeMax = 100;
const waitSeconds = 25;
/** The pause after an empty answer that came at once. */
const pauseMs = 1_000;
/** How old an empty answer may be to prove that no event was missed: far less than the day for which every event is kept. */
const recentMs = 3_600_000;

/**
 * Yields the account's events in order, without a gap. Store the `position` of each event that you have handled, and pass the last one as `after`
 * next time. A lost connection is retried as in any call of the client.
 *
 * If no event of `types` comes for so long that the log no longer keeps the events after the last one, the iteration continues with the oldest event
 * that is kept, provided that a recent empty answer has shown that none was missed.
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
    // The service's time, because the local clock may stand still while the machine sleeps.
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
      if (position !== undefined && event.position <= position) throw new PetStoreError("internal", "The events are out of order.");
      yield event;
      position = event.position;
    }
    if (answer.data.length === 0 && !follow) return;
    if (answer.data.length === 0 && realTiming.now() - started < pauseMs) await realTiming.wait(pauseMs);
  }
}
