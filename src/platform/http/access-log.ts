import type { Clock } from "../clock.ts";
import { linesOf, type Logger } from "../log.ts";
import { loggedPath } from "../logged-path.ts";
import type { Caller } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import { traceIdOf } from "./request-ids.ts";

/** The fields of every log line about a request. */
export function traceFields({ id: requestId, traceparent }: Exchange) {
  return { requestId, traceparent, traceId: traceparent && traceIdOf(traceparent) };
}

const info = 30;
const debug = 20;

/**
 * Returns the function that writes a line for each answer. The line is built by hand, because a serialiser of objects takes five times as long.
 * Only the path can contain characters that need escapes: Node accepts known methods only, and requestIdOf and traceparentOf allow no such character.
 */
export function openAccessLog(log: Logger, clock: Clock) {
  const add = linesOf(log);
  return (exchange: Exchange, ms: number): void => {
    const { id, method, url, status, caller, traceparent, isProbe } = exchange;
    if (!log.isLevelEnabled(isProbe ? "debug" : "info")) return;
    const trace = traceparent === undefined ? "" : `,"traceparent":"${traceparent}","traceId":"${traceIdOf(traceparent)}"`;
    const took = Math.round(ms * 1_000) / 1_000;
    add(
      `${begin(isProbe ? debug : info, clock())}${id}"${trace},"method":"${method}","path":${quoted(loggedPath(url))},` +
        `"status":${status},"ms":${took}${caller ? callerFields(caller) : end}`,
    );
  };
}

let begun = { level: 0, time: 0, text: "" };

/** The beginning of a line. Lines of the same millisecond share it. */
function begin(level: number, time: number): string {
  if (begun.time !== time || begun.level !== level) begun = { level, time, text: `{"level":${level},"time":${time},"requestId":"` };
  return begun.text;
}

const end = "}\n";
let last: { caller: Caller; text: string } | undefined;

/** The end of a line: all requests of a key share it. */
function callerFields(caller: Caller): string {
  if (last?.caller === caller) return last.text;
  const { accountId, keyId, person } = caller;
  const account = `,"accountId":${accountId}`;
  const text = `${account}${person ? `,"memberId":${person.memberId}` : `,"keyId":${keyId}`}${end}`;
  last = { caller, text };
  return text;
}

const needsEscapes = /[^ !#-[\]-~]/;

function quoted(text: string): string {
  return needsEscapes.test(text) ? JSON.stringify(text) : `"${text}"`;
}
