import type { Origin } from "../events.ts";
import type { FairShare } from "../jobs/fair-share.ts";
import { overloaded } from "../problem.ts";
import type { CallerKey } from "./database.ts";

/** Whose turns a handle's work takes, the origin of its events, and whether nobody waits for its writes any more. */
export type Own = { caller: CallerKey | undefined; origin: Origin; isGone: () => boolean };

/** Whether work of another caller waits. Work of no caller does not count. */
export function othersWait({ waiting, queues }: FairShare<CallerKey>, caller: CallerKey): boolean {
  const own = (queues.get(caller)?.length ?? 0) + (queues.get(undefined)?.length ?? 0);
  return waiting > own;
}

/** The refusal of a body that has taken too long while another caller waits. */
export function tookTooLong(): Error {
  return overloaded("This change took too long while others waited, so nothing was changed. Try again, in smaller parts if it has many.");
}
