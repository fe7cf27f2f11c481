import { fstatSync, writeSync } from "node:fs";
import { type Logger, pino, stdTimeFunctions, symbols } from "pino";

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
  const { [symbols.streamSym]: output } = log as Logger & { [symbols.streamSym]: { write: (line: string) => void } };
  return (line) => output.write(line);
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

  const stream = { write: add, flush }; // `log.flush` calls this `flush`
  const log = pino({ level, base: undefined, timestamp: stdTimeFunctions.epochTime }, stream);
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

/** The most characters that wait for a slow reader of standard output. Further lines are lost. */
const waitingBytesMax = 16 * 1_048_576;

/** Where the log is written. A line is written whole or not at all. */
export type LogOutput = {
  /** Writes lines, and returns how many of them were lost. Never throws. */
  write(lines: string): number;
  /** Writes lines before it returns. @throws Error if the disk does not take them */
  writeNow(lines: string): void;
  /** Whether `write` would lose lines now, judged without using the disk. */
  isFull(): boolean;
  /** Why lines were last lost; undefined if none were. */
  reason(): string | undefined;
};

/** Standard output: a pipe or terminal through Node's stream, a file or device directly. */
function standardOutput(): LogOutput {
  return process.stdout.isTTY || isPipe(1) ? streamOutput(process.stdout) : fileOutput(1);
}

/** A pipe with no reader left ends the process (see main.ts); a slow reader costs lines. */
function streamOutput(stream: NodeJS.WriteStream): LogOutput {
  let reason: string | undefined;
  return {
    write(lines) {
      stream.write(lines);
      return 0;
    },
    writeNow: (lines) => void stream.write(lines),
    isFull() {
      const isFull = stream.writableLength > waitingBytesMax;
      if (isFull) reason = "standard output is not read fast enough";
      return isFull;
    },
    reason: () => reason,
  };
}

/**
 * A file whose disk may be full. Node's own stream raises an error that ends the process, and loses the rest of a line that was
 * written in part. This keeps that rest, and writes it first when there is room again.
 */
export function fileOutput(descriptor: number): LogOutput {
  let rest: Buffer = Buffer.alloc(0);
  let reason: string | undefined;

  /** Returns how many bytes were written. */
  function append(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      reason = `standard output cannot be written (${code})`;
    }
    return written;
  }

  function write(lines: string): number {
    const bytes = rest.length === 0 ? Buffer.from(lines) : Buffer.concat([rest, Buffer.from(lines)]);
    const written = append(bytes);
    const isCut = written > 0 && written < bytes.length && bytes[written - 1] !== newline;
    const end = isCut || written < rest.length ? bytes.indexOf(newline, written) + 1 : written;
    rest = bytes.subarray(written, end);
    return countLines(bytes.subarray(end));
  }

  return {
    write,
    writeNow(lines) {
      if (write(lines) > 0 || rest.length > 0) throw new Error(reason);
    },
    isFull: () => false,
    reason: () => reason,
  };
}

const newline = 10;

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}

function isPipe(descriptor: number): boolean {
  const stat = fstatSync(descriptor);
  return stat.isFIFO() || stat.isSocket();
}

/** Turns a line of the log, as JSON, into one that people read: time, level, what happened, then the other fields. */
export function readableLine(line: string): string {
  const { time, level, msg, method, host, path, status, ms, err, ...more } = JSON.parse(line) as Fields;
  const request = method === undefined ? [] : [method, [host, path].map(valueText).join(""), status, `${valueText(ms)} ms`];
  const fields = Object.entries(more).map(([name, value]) => `${name}=${valueText(value)}`);
  const head = [timeText(time), levels[Number(level)] ?? "INFO ", msg, ...request, ...fields];
  const { stack } = (err ?? {}) as { stack?: string };
  const text = head.map(valueText).filter((part) => part !== "");
  return `${text.join(" ")}\n${stack === undefined ? "" : `${indented(stack)}\n`}`;
}

type Fields = Record<string, unknown>;

const levels: Record<number, string> = { 10: "TRACE", 20: "DEBUG", 30: "INFO ", 40: "WARN ", 50: "ERROR", 60: "FATAL" };

/** The time of day in this machine's zone: a terminal shows what happens now. */
function timeText(time: unknown): string {
  const at = new Date(Number(time));
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}

/** Escapes control characters, which could otherwise steer the reader's terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => String.raw`\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function indented(stack: string): string {
  return stack
    .split("\n")
    .map((line) => `    ${printable(line)}`)
    .join("\n");
}

/** The length of the shortest secret below. Most paths are shorter, and are not searched. */
const lengthMin = 30;
/** API keys, secrets of webhooks, and the tokens of sign-in links and sessions (43 characters), with their underscore in either spelling. */
const secrets = /(ps[kp](?:_|%5f))[0-9a-z]{36}|(whsec(?:_|%5f))[\w+/=%-]{20,}|(?<![\w-])[\w-]{43}(?![\w-])/gi;

/** The path of a URL as logs and spans show it: without its query, and without secrets that a caller put there by mistake. */
export function loggedPath(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  if (path.length < lengthMin) return path;
  return path.replaceAll(secrets, (_all, key?: string, webhook?: string) => `${key ?? webhook ?? ""}***`);
}
