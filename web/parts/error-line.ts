import { texts } from "../texts/texts.ts";
import { explain, fieldSentence } from "./explained.ts";

/** An error in one line. */
export function errorLine(error: unknown): string {
  const { message, fields, requestId } = explain(error instanceof Error ? error : new Error(String(error)));
  const why = message ?? fields.map(fieldSentence).join(" ");
  return requestId === undefined ? why : `${why} (${texts.requestId} ${requestId})`;
}
