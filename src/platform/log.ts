import { destination, pino, stdTimeFunctions, type Logger } from "pino";

export type { Logger } from "pino";

/** Lines wait for this many bytes, or the next `flush`, so that a log line costs no write of its own. */
const bufferBytes = 65_536;
const flushEveryMs = 500;

/** The structured log: one JSON object a line on standard output. Nothing secret is ever handed to it. */
export function openLog(level: string): { log: Logger; close: () => void } {
  const output = destination({ dest: 1, minLength: bufferBytes, maxWrite: bufferBytes * 2, sync: false });
  const log = pino({ level, base: undefined, timestamp: stdTimeFunctions.epochTime }, output);
  const timer = setInterval(() => output.flush(), flushEveryMs).unref();
  return {
    log,
    close() {
      clearInterval(timer);
      output.flushSync();
    },
  };
}
