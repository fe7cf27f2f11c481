import { Refusal } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";

/** An error in one line, with the request id if there was a response. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Refusal)) return error instanceof Error ? error.message : String(error);
  const why = error.details.length > 0 ? error.details.map(({ message }) => message).join("; ") : error.message;
  return error.requestId === undefined ? why : `${why} (${texts.requestId} ${error.requestId})`;
}
