import type { Columns } from "../../src/importing/columns.ts";
import type { CsvFormat } from "../../src/importing/csv.ts";
import type { Guess } from "../../src/importing/guess.ts";
import type { Detection } from "../../src/importing/inspect.ts";
import type { Mapping } from "../../src/importing/mapping-schema.ts";
import type { Edit, OwnExport } from "../../src/importing/own-export.ts";
import type { Pet } from "../../src/importing/pets.ts";
import type { Report } from "../../src/importing/report.ts";
import { pageMember } from "../calls/page-member.ts";

export type Counts = Omit<Report, "rejects" | "categoriesMade" | "format" | "plan" | "edits" | "source">;
/** The first rejects, and all of them as a CSV file. */
export type Rejects = { first: { line: number; reason: string; cells: string[] }[]; file: Blob | undefined };

/** A task, which runs in its own web worker. */
export type Task =
  | { kind: "inspect"; file: File; account: number; format: Partial<CsvFormat> }
  | { kind: "check"; file: File; account: number; format: CsvFormat; mapping: Mapping; source: string }
  | { kind: "import"; file: File; account: number; format: CsvFormat; mapping: Mapping; source: string }
  | { kind: "checkExport"; file: File; format: CsvFormat; appliesStale: boolean }
  | { kind: "importExport"; file: File; format: CsvFormat; appliesStale: boolean };

/**
 * `source` is the proposed name, and `sources` are the former ones. `otherSource` would be proposed, but knows the ids for animals with other
 * names: `source` is then empty, for a person to say.
 */
export type Inspected = Columns &
  Detection & {
    guess: Guess | undefined;
    /** Whether the guess is the mapping of the last import of such a file. */
    isRecalled: boolean;
    ownExport: OwnExport;
    source: string;
    otherSource: string | undefined;
    sources: string[];
  };
/** `repeated`: the first id that more than one row has. `room` and `needed` are in records. */
export type Checked = {
  counts: Counts;
  animals: Pet[];
  rejects: Rejects;
  repeated: string | undefined;
  needed: number;
  room: number | undefined;
};
export type Imported = { counts: Counts; categoriesMade: string[]; rejects: Rejects };
/** The changes that an export makes, without the rows that they are from. */
export type ExportChange = Omit<Edit, "row">;
export type CheckedExport = { counts: Counts; changes: ExportChange[]; rejects: Rejects; repeated: string | undefined };
/** The result of each kind of task. */
export type Results = { inspect: Inspected; check: Checked; import: Imported; checkExport: CheckedExport; importExport: Imported };
export type Failed = { code: string; message: string; status: number; requestId: string | undefined };

/** A message of a running worker. */
export type WorkerMessage =
  | { kind: "done"; result: Results[keyof Results] }
  | { kind: "failed"; failed: Failed }
  | { kind: "progress"; done: number; total: number }
  | { kind: "waiting"; ms: number };

/** The page's message to the worker: a task, and the member whom its calls are for. */
export type PageMessage = { task: Task; member: number | undefined };

/**
 * Starts a task and reports its messages. Returns a function that stops it. Stopping is safe at any time: the next run
 * changes nothing that this one did.
 */
export function startTask(task: Task, onMessage: (message: WorkerMessage) => void, unexpected: string): () => void {
  const worker = new Worker(new URL("worker.ts", import.meta.url), { type: "module" });
  const fail = () => onMessage({ kind: "failed", failed: { code: "internal", message: unexpected, status: 0, requestId: undefined } });
  worker.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) => onMessage(data));
  worker.addEventListener("error", fail);
  worker.addEventListener("messageerror", fail);
  // a worker's own location has no usable origin
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage({ task, member: pageMember() } satisfies PageMessage);
  return () => worker.terminate();
}
