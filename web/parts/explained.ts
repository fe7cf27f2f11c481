import { Refusal, type Detail } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";

const { expected, faults, reasons } = texts.refusals;

/** A failed call, explained for people. */
type Explained = {
  /** Undefined if `fields` explain the error. */
  message: string | undefined;
  fields: readonly Detail[];
  /** For the operator; undefined if people can correct the error. */
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
};

/**
 * Explains an error in the words of the pages. A refusal that people can cause and correct, such as a wrong password or a limit, has no
 * request id. Any other refusal is a fault of the page, the service or the network, and keeps its request id for the operator.
 */
export function explain(error: Error): Explained {
  if (!(error instanceof Refusal)) return { message: error.message, fields: [], requestId: undefined, retryAfterSeconds: undefined };
  const { retryAfterSeconds } = error;
  if (isFault(error)) return { message: faultOf(error), fields: [], requestId: error.requestId, retryAfterSeconds };
  const fields = error.details.filter(isOfField).map(({ path, message }) => ({ path, message: reasonOf(error.code, message) }));
  return { message: fields.length > 0 ? undefined : wordsOf(error.code, error.message), fields, requestId: undefined, retryAfterSeconds };
}

/** Returns the pages' text for an error code, or the service's message if they have none. */
export function wordsOf(code: string, message: string): string {
  return expected[code] ?? message;
}

/** A field with a wrong value and the reason, as a sentence: "Ship date must be a date with a time." */
export function fieldSentence({ path, message }: Detail): string {
  const words = (path.split(".").at(-1) ?? "")
    .replaceAll(/\[\d+\]/g, "")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .replace(/^pet\b/, "animal");
  return sentence(/^[A-Z]/.test(message) ? message : `${words.toLowerCase()} ${message}`);
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

function reasonOf(code: string, message: string): string {
  const [pattern, words] = reasons.find(([found]) => found.test(message)) ?? [];
  return expected[code] ?? (pattern && words ? message.replace(pattern, words) : message);
}

/** A refused parameter or header is a fault of the page, because nobody typed it. */
function isFault({ code, message, details }: Refusal): boolean {
  return !Object.hasOwn(expected, code) || (/^(?:path|query|header|body)\b/.test(message) && !details.some(isOfField));
}

function isOfField({ path }: Detail): boolean {
  return /^body(?:\[\d+\])?\.\w/.test(path);
}

function faultOf({ code, status, message }: Refusal): string {
  if (code === "unavailable") return faults.unavailable;
  if (status >= 500) return faults.service;
  return status >= 400 ? faults.page : message;
}
