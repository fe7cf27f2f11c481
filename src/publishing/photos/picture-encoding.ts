import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { queues } from "../../platform/queues.ts";
import type { PictureFormat, PicturePurpose, ProcessAnswer } from "./photos.ts";

/** What one picture may use. The elapsed time bounds a process that hangs without using CPU time, or gets none on a busy machine. */
export type PictureLimits = { memoryBytesMax: number; cpuMsMax: number; msMax: number };
/** Why the process ended without an answer: one of the limits, a fault of the decoder, or a signal that this service did not send. */
export type EncodingEnd = "memory" | "cpu time" | "time" | "crash" | "killed";
export type Encoded = { answer: ProcessAnswer; bodies: Buffer } | { ended: EncodingEnd };
/** A picture as it was uploaded. */
export type Picture = { bytes: Buffer; format: PictureFormat; purpose: PicturePurpose };

export const pictureLimits: PictureLimits = { memoryBytesMax: 512 * 1_048_576, cpuMsMax: 5_000, msMax: queues.pictures.turnMs };
/** At up to 4 MiB a millisecond, memory grows by less than 80 MiB from one look to the next. */
const pollEveryMs = 20;
/** Linux counts CPU time in hundredths of a second, whatever the machine. */
const msPerTick = 10;
/** Gives the process a quarter of a core that the service keeps busy, and all of an idle one. */
const niceness = 5;
/** Signals that the system or a person sends, unlike those of a decoder that crashes. */
const signalsFromOutside = new Set<NodeJS.Signals | null>(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);
const script = fileURLToPath(new URL("picture-process.ts", import.meta.url));
/** One arena: memory that one step frees is used by the next. */
const env = { MALLOC_ARENA_MAX: "1" };

/**
 * Encodes a picture in a low-priority process of its own (decision 0096). Ends the process beyond `limits`; only Linux shows its memory and its
 * CPU time. Tries once more if the process was killed from outside: it is the first that a system without memory kills.
 */
export async function encodeInProcess(
  picture: Picture,
  limits = pictureLimits,
  started: (pid: number) => void = () => undefined,
): Promise<Encoded> {
  const since = performance.now();
  const first = await encodeOnce(picture, limits, started);
  if (!("ended" in first) || first.ended !== "killed") return first;
  return encodeOnce(picture, { ...limits, msMax: limits.msMax - (performance.now() - since) }, started);
}

/** @throws Error if the process ends with an exit code: a fault of this service */
async function encodeOnce({ bytes, format, purpose }: Picture, limits: PictureLimits, started: (pid: number) => void): Promise<Encoded> {
  const args = ["--max-old-space-size=64", script, purpose, format, String(bytes.length)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env });
  const watch = endBeyond(child, limits);
  try {
    const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.on("error", reject).on("close", (...how) => resolve(how));
    });
    closed.catch(() => undefined);
    if (child.pid !== undefined) {
      lowerPriority(child.pid); // before its decoder threads start, which inherit it
      started(child.pid);
    }
    child.stdin.on("error", () => undefined).write(bytes); // stays open: its end says that this process has ended
    const output = Buffer.concat(await Array.fromAsync(child.stdout as AsyncIterable<Buffer>));
    const [code, signal] = await closed;
    if (code === null) return { ended: watch.endedFor() ?? (signalsFromOutside.has(signal) ? "killed" : "crash") };
    if (code !== 0) throw new Error(`the process that encodes pictures ended with ${code}`);
    const end = output.indexOf("\n");
    return { answer: JSON.parse(output.toString("utf8", 0, end)) as ProcessAnswer, bodies: output.subarray(end + 1) };
  } finally {
    watch.stop();
    child.kill("SIGKILL");
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {} // it has ended, or a sandbox forbids it
}

/** Watches a process, and kills it once it is beyond a limit. */
function endBeyond(child: ChildProcess, { memoryBytesMax, cpuMsMax, msMax }: PictureLimits) {
  let endedFor: EncodingEnd | undefined;
  const since = performance.now();

  function poll(): void {
    const { rssBytes, cpuMs } = usageOf(child.pid);
    if (rssBytes > memoryBytesMax) endedFor = "memory";
    else if (cpuMs > cpuMsMax) endedFor = "cpu time";
    else if (performance.now() - since > msMax) endedFor = "time";
    else return;
    stop();
    child.kill("SIGKILL");
  }

  const timer = setInterval(poll, pollEveryMs);
  const stop = (): void => clearInterval(timer);
  return { stop, endedFor: () => endedFor };
}

/** The resident memory and the CPU time of a process; 0 where the system does not show them, or once the process has ended. */
function usageOf(pid: number | undefined): { rssBytes: number; cpuMs: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // the fields after the name, which ends with the last parenthesis: utime and stime are the 12th and 13th
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    return { rssBytes: rssKib * 1_024, cpuMs: (Number(fields[11]) + Number(fields[12])) * msPerTick };
  } catch {
    return { rssBytes: 0, cpuMs: 0 };
  }
}
