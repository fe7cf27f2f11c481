import type { Clock } from "../clock.ts";
import { linesOf, loggedPath, type Logger } from "../log.ts";
import type { Caller } from "./caller.ts";
import type { Exchange, HttpRequest } from "./exchange.ts";
import { traceIdOf } from "./request-ids.ts";

/** The fields of every log line about a request. */
export function traceFields({ id: requestId, traceparent }: HttpRequest) {
  return { requestId, traceparent, traceId: traceparent && traceIdOf(traceparent) };
}

const info = 30;
const debug = 20;

/** Returns the function that writes a line for each answer, unless the level of the log excludes it. */
export function openAccessLog(log: Logger, clock: Clock) {
  const add = linesOf(log);
  return (exchange: Exchange, ms: number): void => {
    const { caller, traceparent, isProbe } = exchange;
    if (!log.isLevelEnabled(isProbe ? "debug" : "info")) return;
    const trace = traceparent === undefined ? "" : `,"traceparent":"${traceparent}","traceId":"${traceIdOf(traceparent)}"`;
    add(accessLine(exchange, { level: isProbe ? debug : info, now: clock(), ms, more: caller ? trace + callerFields(caller) : trace }));
  };
}

/**
 * Returns the line of an answer in an access log, with `more` as its last fields. It is built by hand, because a serialiser of objects takes
 * five times as long (0.8 µs against 0.14 µs). `requestIdOf` and `traceparentOf` allow no character that needs an escape.
 */
export function accessLine(
  { id, method, url, status }: HttpRequest,
  { level = info, now, ms, more }: { level?: number; now: number; ms: number; more: string },
): string {
  const took = Math.round(ms * 1_000) / 1_000;
  return `${begin(level, now)}${id}","method":${quoted(method)},"path":${quoted(loggedPath(url))},"status":${status},"ms":${took}${more}}\n`;
}

let begun = { level: 0, time: 0, text: "" };

/** The beginning of a line. Lines of the same millisecond share it. */
function begin(level: number, time: number): string {
  if (begun.time !== time || begun.level !== level) begun = { level, time, text: `{"level":${level},"time":${time},"requestId":"` };
  return begun.text;
}

let last: { caller: Caller; text: string } | undefined;

/** The fields of a caller: all requests of a key share them. */
function callerFields(caller: Caller): string {
  if (last?.caller === caller) return last.text;
  const { accountId, keyId, person } = caller;
  const account = `,"accountId":${accountId}`;
  const text = `${account}${person ? `,"memberId":${person.memberId}` : `,"keyId":${keyId}`}`;
  last = { caller, text };
  return text;
}

const needsEscapes = /[^ !#-[\]-~]/;

/** A text as JSON. */
export function quoted(text: string): string {
  return needsEscapes.test(text) ? JSON.stringify(text) : `"${text}"`;
}
