import { pino, stdTimeFunctions, symbols, type Logger } from "pino";
import { standardOutput, type LogOutput } from "./log-output.ts";
import { readableLine } from "./log-text.ts";

export type { Logger } from "pino";

/** Lines are buffered and written together, once they have this many characters or are this old (ms). */
const batchLength = 32_768;
const batchMs = 200;

export type LogFormat = "json" | "text";

export type OpenLog = {
  log: Logger;
  /** Adds a line that the caller has serialised: one JSON object and a newline. */
  add: (line: string) => void;
  /** Writes a line before it returns. @throws Error if it cannot be written */
  addNow: (line: string) => void;
  /** The lines that were lost because standard output did not take them. */
  lost: () => { lines: number; isLosing: boolean; reason: string | undefined };
  close: () => void;
};

/** Returns the function that writes a line to the output of a log: one JSON object and a newline, which its caller has serialised. */
export function linesOf(log: Logger): (line: string) => void {
  const { [symbols.streamSym]: output } = log as unknown as Record<symbol, { write: (line: string) => void }>;
  return (line) => output?.write(line);
}

/**
 * Opens the log on standard output: one JSON object a line, or with `text` a line for people. Callers never pass secrets to it. With a full
 * disk or a slow reader lines are lost, but the process goes on; their number is logged as soon as lines can be written again.
 */
export function openLog(level: string, format: LogFormat = "json", output: LogOutput = standardOutput()): OpenLog {
  let batch = "";
  let lines = 0;
  let lostLines = 0;
  /** Lines lost since one was written. */
  let gap = 0;

  const shown = format === "text" ? readableLine : (line: string): string => line;

  function lose(count: number): void {
    gap += count;
    lostLines += count;
  }

  function add(line: string): void {
    if (output.isFull()) return lose(1);
    batch += shown(line);
    lines += 1;
    if (batch.length >= batchLength) flush();
  }

  function flush(): void {
    if (batch !== "") {
      const lost = output.write(batch);
      lose(Math.min(lost, lines));
      [batch, lines] = ["", 0];
      if (lost > 0) return;
    }
    if (gap > 0 && !output.isFull()) reportGap();
  }

  /** Logs how many lines were lost. If that line cannot be written either, the next flush tries again. */
  function reportGap(): void {
    log.warn({ lines: gap, reason: output.reason() }, "log lines were lost");
    if (output.write(batch) === 0) gap = 0;
    [batch, lines] = ["", 0];
  }

  const log = pino({ level, base: undefined, timestamp: stdTimeFunctions.epochTime }, { write: add });
  const timer = setInterval(flush, batchMs).unref();
  return {
    log,
    add,
    addNow(line) {
      flush();
      output.writeNow(shown(line));
    },
    lost: () => ({ lines: lostLines, isLosing: gap > 0, reason: output.reason() }),
    close() {
      clearInterval(timer);
      flush();
    },
  };
}
