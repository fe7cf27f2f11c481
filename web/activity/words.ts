import { activityTexts as words } from "../texts/en-activity.ts";
import { formatMoment, formatNumber } from "../texts/texts.ts";
import type { Names } from "./names.ts";
import type { Entry } from "./queries.ts";

/** A field of an event's resource: its value after the event, and before it if the event changed it. */
export type Field = { name: string; before: string | undefined; after: string };

/** The name of an event's actor. */
export function whoOf({ actor: { type, name } }: Entry): string {
  return name ?? words.actors[type];
}

/** An event in one sentence. */
export function whatOf(entry: Entry, names: Names): string {
  const events: Record<Entry["type"], (name: string) => string> = words.events;
  return events[entry.type](thingOf(entry, names));
}

function thingOf({ resource: { type, id }, data }: Entry, names: Names): string {
  const own = names.get(`${type}/${id}`) ?? data["name"] ?? data["url"] ?? data["fileName"];
  if (typeof own === "string" && own !== "") return own;
  return words.things[type]?.(String(id)) ?? String(id);
}

/** Returns the fields that changed, or all fields except the id if the resource was created or deleted. */
export function fieldsOf({ data, previous }: Entry): Field[] {
  const changed = Object.keys(previous);
  if (changed.length > 0) {
    return changed.map((name) => ({ name: fieldName(name), before: shown(previous[name]), after: shown(data[name]) }));
  }
  return Object.keys(data)
    .filter((name) => name !== "id")
    .map((name) => ({ name: fieldName(name), before: undefined, after: shown(data[name]) }));
}

/** `redirectTarget` is shown as "Redirect target". */
function fieldName(name: string): string {
  const plain = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " ");
  return words.fields[name] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** An item of a list in words; the items of some lists are codes. */
function listed(item: unknown): string {
  if (item === "*") return words.kinds.everything;
  return (typeof item === "string" ? words.troubles[item] : undefined) ?? shown(item);
}

const momentPattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z$/;

/** A value in words, with the values inside it. */
function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return words.none;
  if (typeof value === "boolean") return value ? words.yes : words.no;
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "string") return momentPattern.test(value) ? formatMoment(new Date(value)) : value;
  if (Array.isArray(value)) return value.length === 0 ? words.none : value.map(listed).join(", ");
  const parts = Object.entries(value).map(([name, part]) => `${fieldName(name)}: ${shown(part)}`);
  return parts.length === 0 ? words.none : parts.join("; ");
}
