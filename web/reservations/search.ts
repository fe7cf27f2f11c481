import { choiceIn } from "../parts/search-values.ts";

export const states = ["open", "accepted", "refused", "lapsed", "cancelled"] as const;
export type State = (typeof states)[number];

/** The search parameters of the page of reservations. */
export function reservationSearch(search: Record<string, unknown>): { state?: State | undefined } {
  return { state: choiceIn(states, search["state"]) };
}
