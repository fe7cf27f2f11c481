import { Problem } from "../problem.ts";

/** The refusal of work that the store cannot do now. The cause goes to the log only. */
export function unavailable(cause?: unknown): Problem {
  return new Problem("unavailable", "The store cannot take this now. Try again.", { headers: { "retry-after": "1" }, cause });
}

/** The refusal of what comes once the store is being closed. */
export function stopping(): Problem {
  return new Problem("unavailable", "The service is stopping.");
}
