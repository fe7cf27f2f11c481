import { errorLine, type Io } from "./command.ts";

type Stoppable = {
  json: boolean;
  /** What is true after a failure, such as `nothing was changed`. */
  failed: string;
  /** What is true after a signal. Default: the same. */
  stopped?: string;
};

/**
 * Runs a command that makes temporary files. A signal removes them and ends the process with 128 and its number; a full disk or a path that
 * cannot be used becomes one line.
 */
export async function stoppable<T>({ stderr }: Io, { json, failed, stopped = failed }: Stoppable, run: () => Promise<T>): Promise<T> {
  const { interruptible, withFaultsNamed } = await import("../backup/interruption.ts");
  const report = (signal: string): void =>
    void stderr.write(errorLine(json, { code: "interrupted", message: `stopped by ${signal}: ${stopped}` }));
  return interruptible(report, () => withFaultsNamed(failed, run));
}
