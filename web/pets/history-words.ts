import { formatPrice, type Price } from "../../src/platform/currencies.ts";
import type { Actor } from "../parts/history-list.tsx";
import { animalHistoryTexts as words } from "../texts/en-animal-history.ts";
import { historyTexts } from "../texts/en-history.ts";
import { formatMoment, formatNumber, texts } from "../texts/texts.ts";

type Value = string | number | Price | null;
type Change = { field: string; before: Value; after: Value };

/** One event of an animal, its stock or an order of it (docs/dashboard-api.md). */
export type HistoryEvent = {
  position: number;
  type: string;
  at: string;
  actor: Actor & { id: number | null };
  requestId: string | null;
  orderId?: number;
  quantity?: number;
  changes: Change[];
};

/** What one request did to an animal: its events, the newest first. */
export type Entry = { position: number; at: string; actor: HistoryEvent["actor"]; orderId: number | undefined; events: HistoryEvent[] };

/** Joins neighbouring events of one request, which have its time: an order also changes the stock and the status. */
export function entriesOf(events: readonly HistoryEvent[]): Entry[] {
  const entries: Entry[] = [];
  for (const event of events) {
    const last = entries.at(-1);
    if (last && isSameRequest(last, event)) {
      last.events.push(event);
      last.orderId ??= event.orderId;
    } else {
      const { position, at, actor, orderId } = event;
      entries.push({ position, at, actor, orderId, events: [event] });
    }
  }
  return entries;
}

function isSameRequest({ at, actor, orderId, events }: Entry, event: HistoryEvent): boolean {
  const isOneOrder = orderId === undefined || event.orderId === undefined || orderId === event.orderId;
  const isOneActor = actor.type === event.actor.type && actor.id === event.actor.id;
  return isOneOrder && isOneActor && at === event.at && events[0]!.requestId === event.requestId;
}

/** What an entry is about: an order, or else what became of the animal. */
export function titleOf({ events }: Entry): string {
  const types = new Set(events.map(({ type }) => type));
  const ofOrder = events.find(({ type }) => type in words.orders);
  if (ofOrder) return orderTitle(ofOrder);
  if (types.has("pet.created")) return words.created;
  if (types.has("pet.deleted")) return words.deleted;
  return types.has("inventory.deleted") ? words.uncounted : words.updated;
}

function orderTitle({ type, quantity }: HistoryEvent): string {
  return words.orders[type as keyof typeof words.orders](words.units(formatNumber(quantity ?? 1)));
}

/** The fields that the events of an entry changed, each in a few words, in the order in which they changed. */
export function changesOf({ events }: Entry, categoryNames: ReadonlyMap<number, string>): string[] {
  const shownIn = events.toReversed().flatMap((event) => event.changes.flatMap((change) => changeOf(event.type, change, categoryNames)));
  return [...new Set(shownIn)];
}

function changeOf(type: string, { field, before, after }: Change, categoryNames: ReadonlyMap<number, string>): string[] {
  if (field in words.texts) return [words.textChanged(words.texts[field as keyof typeof words.texts])];
  const isKnown = field in words.fields;
  // the status of an inventory entry is the animal's, and an order's other fields are on its own page
  if (!isKnown || (field === "status" && type.startsWith("inventory."))) return [];
  if (field === "photos" && before === after) return [words.photosChanged];
  const shown = (value: Value): string => valueOf(field, value, categoryNames);
  return [historyTexts.changed(nameOf(type, field), shown(before), shown(after))];
}

function nameOf(type: string, field: string): string {
  if (field === "quantity" && type.startsWith("order.")) return texts.store.orders.quantity;
  return words.fields[field as keyof typeof words.fields];
}

function valueOf(field: string, value: Value, categoryNames: ReadonlyMap<number, string>): string {
  if (value === null) return historyTexts.none;
  if (typeof value === "object") return formatPrice(value);
  if (field === "categoryId") return categoryNames.get(Number(value)) ?? texts.store.categories.category(Number(value));
  if (field === "petId") return texts.store.animals.animal(Number(value));
  if (field === "shipDate") return formatMoment(new Date(value));
  if (field === "status") return texts.store.status[value as keyof typeof texts.store.status] ?? value;
  return typeof value === "number" ? formatNumber(value) : `“${value}”`;
}
