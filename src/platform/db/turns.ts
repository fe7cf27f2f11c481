import type { FairShare } from "../jobs/fair-share.ts";
import type { CallerKey } from "./database.ts";
import { overloaded, Problem } from "../problem.ts";

/** The refusal of work that the store cannot do now. The cause is only logged. */
export function unavailable(cause?: unknown): Problem {
  return new Problem("unavailable", "The store cannot take this now. Try again.", { headers: { "retry-after": "1" }, cause });
}

/** The refusal of work that arrives while the store is closing. */
export function stopping(): Problem {
  return new Problem("unavailable", "The service is stopping.");
}

/** The refusal of a write whose client has gone before it began: nobody reads it. */
export function clientGone(): Problem {
  return overloaded("The client closed its connection before the change had its turn.");
}

/** Whether work of another caller waits. Work of no caller does not count. */
export function othersWait({ waiting, queues }: FairShare<CallerKey>, caller: CallerKey): boolean {
  const own = (queues.get(caller)?.length ?? 0) + (queues.get(undefined)?.length ?? 0);
  return waiting > own;
}

/** The refusal of a body that has taken too long while another caller waits. */
export function tookTooLong(): Error {
  return overloaded("This change took too long while others waited, so nothing was changed. Try again, in smaller parts if it has many.");
}
