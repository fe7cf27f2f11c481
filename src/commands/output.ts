import { writeSync } from "node:fs";

/**
 * Ends the process in order if its output cannot be written: with exit code 0 if the reader has gone, as in `petstore settings | head -1`,
 * else with one line and exit code 1, as on a full disk. Ignores errors of standard error itself.
 */
export function endWithOutput({ stdout, stderr }: Pick<NodeJS.Process, "stdout" | "stderr">): void {
  stderr.on("error", () => undefined);
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    report(`petstore: standard output cannot be written (${error.code ?? error.message})\n`);
    process.exit(1);
  });
}

/** Writes before the process ends, unless standard error is full or closed too. */
function report(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // there is nowhere to report it
  }
}
