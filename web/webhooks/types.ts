import { eventTypes } from "../../src/platform/event-types.ts";

/** The choices of events for an endpoint (specification 8.2), by group: types such as `order.created`, and `all` of them as `order.*`. */
export const typeChoices = Object.entries(Object.groupBy(eventTypes, (type) => type.split(".")[0]!)).map(([group, types = []]) => ({
  group,
  all: `${group}.*`,
  types,
}));

/** Returns the endpoint's `types` for the choices of a form. No choice means everything. */
export function entriesOf(chosen: readonly string[]): string[] {
  return chosen.length === 0 ? ["*"] : [...chosen];
}

/** Returns the choices of a form for an endpoint's `types`. */
export function chosenOf(entries: readonly string[]): string[] {
  return entries.includes("*") ? [] : [...entries];
}
