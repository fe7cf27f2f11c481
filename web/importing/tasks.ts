import type { Animal } from "../../src/importing/animals.ts";
import type { Mapping } from "../../src/importing/mapping.ts";
import type { Report } from "../../src/importing/report.ts";
import type { Columns } from "./columns.ts";
import type { ImportName } from "./remembered.ts";

export type Counts = Omit<Report, "rejects" | "categoriesMade">;
/** The first rejects, and all of them as a CSV file. */
export type Rejects = { first: { line: number; reason: string; cells: string[] }[]; file: Blob | undefined };

/** A task; each runs in its own worker. */
export type Task =
  | { kind: "look"; file: File; of: ImportName }
  | { kind: "check"; file: File; mapping: Mapping; of: ImportName }
  | { kind: "import"; file: File; mapping: Mapping; of: ImportName; resend: boolean };

export type Looked = Columns & { mapping: Mapping | undefined; isKnown: boolean };
export type Checked = { counts: Counts; animals: Animal[]; rejects: Rejects };
export type Imported = { counts: Counts; categoriesMade: string[]; rejects: Rejects };
/** The result of each kind of task. */
export type Results = { look: Looked; check: Checked; import: Imported };
/** `isUnanswered`: the outcome of the last batch is unknown and can no longer be asked for; a run with `resend` sends it again. */
export type Failed = { code: string; message: string; requestId: string | undefined; isUnanswered?: boolean };

/** A message of a running worker. */
export type Told =
  | { kind: "done"; result: Results[keyof Results] }
  | { kind: "failed"; failed: Failed }
  | { kind: "progress"; done: number; total: number }
  | { kind: "waiting"; ms: number };

/**
 * Starts a task and reports its messages. Returns a function that stops it. Stopping is safe at any time: each batch is recorded before
 * it is sent, and the next run completes it.
 */
export function begin(task: Task, tell: (told: Told) => void, unexpected: string): () => void {
  const worker = new Worker(new URL("worker.ts", import.meta.url), { type: "module" });
  const fail = () => tell({ kind: "failed", failed: { code: "internal", message: unexpected, requestId: undefined } });
  worker.addEventListener("message", ({ data }: MessageEvent<Told>) => tell(data));
  worker.addEventListener("error", fail);
  worker.addEventListener("messageerror", fail);
  // a worker's own location has no usable origin
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage(task);
  return () => worker.terminate();
}
