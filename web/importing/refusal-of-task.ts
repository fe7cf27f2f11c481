import { Refusal } from "../calls/refusal.ts";
import type { Failed } from "./tasks.ts";

/** What stopped a worker, as the page shows any refusal. */
export function refusalOfTask({ code, message, requestId }: Failed): Refusal {
  return new Refusal(code, message, { status: 0, requestId });
}
