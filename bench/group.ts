import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { makeOpenFolder } from "../test/support/run-folder.ts";

/** The environment variable that is set in the measuring process. */
const inGroup = "PETSTORE_BENCH_GROUP";
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** A longer run is ended. */
const runMsMax = 3 * 3_600_000;
const timedOutCode = 4;
/** A killed group has 5 s to end. */
const pollsMax = 500;
const pollEveryMs = 10;

/**
 * Runs `measure` in a separate process group with a separate folder for temporary files. When this process ends, for whatever reason, the
 * group ends too: otherwise servers, browsers and load generators would go on, and take the processor from the next measurement. Unless
 * the reason is `kill -9`, the folder is removed.
 *
 * @returns the exit code: that of `measure`, 128 and the number of the signal that ended this process, or 4 after three hours
 */
export async function runInGroup(file: string, words: string[], measure: () => Promise<number>): Promise<number> {
  if (process.env[inGroup] !== undefined) return measureInGroup(measure);
  const temporary = makeOpenFolder(tmpdir());
  const child = spawn(process.execPath, [file, ...words], {
    env: { ...process.env, [inGroup]: "1", TMPDIR: temporary },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    detached: true,
  });
  let code: number | undefined;
  const end = (why: number): void => {
    code ??= why;
    kill(-child.pid!);
  };
  for (const signal of signals) process.once(signal, () => end(128 + constants.signals[signal]));
  const timer = setTimeout(() => {
    console.error(`the measurements took longer than ${runMsMax / 3_600_000} hours and were ended`);
    end(timedOutCode);
  }, runMsMax);
  const [ended] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  kill(-child.pid!);
  await emptied(-child.pid!);
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  return code ?? ended ?? 1;
}

/** Measures, and ends the group if the process that started it is gone, which only `kill -9` causes. */
async function measureInGroup(measure: () => Promise<number>): Promise<number> {
  process.once("disconnect", () => kill(-process.pid));
  process.channel?.unref();
  const code = await measure();
  process.removeAllListeners("disconnect");
  if (process.connected) process.disconnect?.();
  return code;
}

/** @returns whether the group had a process left */
function kill(group: number): boolean {
  try {
    return process.kill(group, "SIGKILL");
  } catch {
    return false; // it has ended
  }
}

/** Waits until no process of a killed group can write a file. Gives up after 5 s, because an unreaped process stays in its group. */
async function emptied(group: number): Promise<void> {
  for (let polls = 0; polls < pollsMax && kill(group); polls++) await pause(pollEveryMs);
}
