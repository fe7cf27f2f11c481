import { eventTypes } from "../../src/platform/event-types.ts";

/** What an endpoint may get (specification 8.2): the types of events by group, each as `order.created`, and `all` of a group as `order.*`. */
export const typeChoices = Object.entries(Object.groupBy(eventTypes, (type) => type.split(".")[0]!)).map(([group, types = []]) => ({
  group,
  all: `${group}.*`,
  types,
}));

/** The entries of an endpoint that a form has chosen; none means everything. */
export function entriesOf(chosen: readonly string[]): string[] {
  return chosen.length === 0 ? ["*"] : [...chosen];
}

/** The entries that a form shows as chosen. */
export function chosenOf(entries: readonly string[]): string[] {
  return entries.includes("*") ? [] : [...entries];
}
