import { pino, stdTimeFunctions, type Logger } from "pino";

export type { Logger } from "pino";

/** Lines are buffered and written together, once they have this many characters or are this old (ms). */
const batchLength = 32_768;
const batchMs = 200;
/** The most characters that wait for a slow reader of standard output. Further lines are dropped, and their number is logged. */
const waitingBytesMax = 16 * 1_048_576;

/** Opens the structured log: one JSON object per line on standard output. Callers never pass secrets to it. */
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
