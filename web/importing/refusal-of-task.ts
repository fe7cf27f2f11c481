import { Refusal } from "../calls/refusal.ts";
import type { Failed } from "./tasks.ts";

/** Converts a worker's failure to a Refusal, which the page can show. */
export function refusalOfTask({ code, message, status, requestId }: Failed): Refusal {
  return new Refusal(code, message, { status, requestId });
}
