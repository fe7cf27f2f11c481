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
