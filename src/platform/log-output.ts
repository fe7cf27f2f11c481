import { fstatSync, writeSync } from "node:fs";

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
export function standardOutput(): LogOutput {
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
