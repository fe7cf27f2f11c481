import { pino, stdTimeFunctions, type Logger } from "pino";

export type { Logger } from "pino";

/** Lines are written together, when they are this many characters or this old: a line costs no write of its own. */
const batchLength = 32_768;
const batchMs = 200;
/** What may wait for a reader of standard output that is slow; beyond it lines are lost, and their number is logged. */
const waitingBytesMax = 16 * 1_048_576;

/** The structured log: one JSON object a line on standard output. Nothing secret is ever handed to it. */
export function openLog(level: string): { log: Logger; close: () => void } {
  let batch = "";
  let lost = 0;

  function write(line: string): void {
    if (process.stdout.writableLength > waitingBytesMax) return void lost++;
    batch += line;
    if (batch.length >= batchLength) flush();
  }

  function flush(): void {
    if (batch !== "") process.stdout.write(batch);
    batch = "";
    if (lost === 0 || process.stdout.writableLength > waitingBytesMax) return;
    const lines = lost;
    lost = 0;
    log.warn({ lines }, "log lines were lost: standard output is not read fast enough");
  }

  const log = pino({ level, base: undefined, timestamp: stdTimeFunctions.epochTime }, { write });
  const timer = setInterval(flush, batchMs).unref();
  return {
    log,
    close() {
      clearInterval(timer);
      flush();
    },
  };
}
