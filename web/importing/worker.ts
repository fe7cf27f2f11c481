import { chunksOf } from "../../client/chunks.ts";
import { PetStoreError } from "../../client/errors.ts";
import type { Columns } from "../../src/importing/columns.ts";
import type { Guess } from "../../src/importing/guess.ts";
import { importSource, previewSource } from "../../src/importing/import.ts";
import { inspectFile, rowsOf, type InputFile } from "../../src/importing/inspect.ts";
import { columnsOf } from "../../src/importing/mapping.ts";
import { checkEdits, countsOfExport, makeEdits, planExport, type PreviewChanges, recognizeExport } from "../../src/importing/own-export.ts";
import { formatRejects, readSource, type Source } from "../../src/importing/source.ts";
import { formerSources, proposeSource } from "../../src/importing/sources.ts";
import { Problem } from "../../src/platform/problem.ts";
import { previewChanges } from "../calls/changes.ts";
import { setPageMember } from "../calls/page-member.ts";
import { patientStore } from "../calls/patient.ts";
import { importTexts } from "../texts/en-import-file.ts";
import { keepMapping, recallMapping } from "./mappings.ts";
import { forgetRemembered, readRemembered, type ImportName } from "./remembered.ts";
import type { Checked, CheckedExport, Imported, Inspected, PageMessage, Rejects, Task, WorkerMessage } from "./tasks.ts";

/*
 * Reads, checks and imports a file by the rules of `petstore import`, in a web worker, so that the page stays responsive.
 */

const petsShown = 8;
const changesShown = 100;
const rejectsShown = 100;

let lastRefused: string | undefined;
const report = (message: WorkerMessage) => postMessage(message);

addEventListener("message", ({ data: { task, member } }: MessageEvent<PageMessage>) => {
  setPageMember(member);
  run(task).catch((error: unknown) => {
    const { code, message } =
      error instanceof Problem || error instanceof PetStoreError
        ? error
        : { code: "internal", message: importTexts.workerFailed(String(error)) };
    const status = error instanceof PetStoreError ? (error.status ?? 0) : 0;
    report({ kind: "failed", failed: { code, message, status, requestId: lastRefused } });
  });
});

async function run(task: Task): Promise<void> {
  switch (task.kind) {
    case "inspect":
      return report({ kind: "done", result: await inspect(task) });
    case "check":
      return report({ kind: "done", result: await check(task) });
    case "import":
      return report({ kind: "done", result: await importNow(task) });
    case "checkExport":
      return report({ kind: "done", result: await checkExport(task) });
    case "importExport":
      return report({ kind: "done", result: await importExport(task) });
  }
}

async function inspect({ file, account, format: chosen }: Extract<Task, { kind: "inspect" }>): Promise<Inspected> {
  const inspected = await inspectFile({ ...inputOf(file), chosen });
  const { header: _header, first: _first, ...read } = inspected;
  const client = calls();
  const recalled = await recallMapping(
    account,
    read.columns.map(({ name }) => name),
  );
  const guess = recalled
    ? { mapping: recalled, unsure: [] }
    : read.guess && (await withEarlier(read.guess, read, { account, name: file.name }));
  const { source = "", isOther = false } = guess ? await proposeSource(client, file.name, guess.mapping, inspected) : {};
  const ownExport = await recognizeExport(client, inspected);
  const proposed = isOther ? { source: "", otherSource: source } : { source, otherSource: undefined };
  return { ...read, guess, isRecalled: recalled !== undefined, ownExport, ...proposed, sources: await formerSources(client) };
}

/** The guess with the id, name and category that a release before 1.2 used for this file: they say which animal a row is. */
async function withEarlier(guess: Guess, { columns }: Columns, of: ImportName): Promise<Guess> {
  const earlier = (await readRemembered(of))?.mapping;
  const names = new Set(columns.map(({ name }) => name));
  if (!earlier || !columnsOf(earlier).every((column) => names.has(column))) return guess;
  // Not its status, which it read by other rules.
  const { id: _id, ...guessed } = guess.mapping;
  const { id, name, category } = earlier;
  const unsure = guess.unsure.filter((field) => !["id", "name", "category"].includes(field));
  return { mapping: { ...(id !== undefined && { id }), ...guessed, name, category }, unsure };
}

async function check(task: Extract<Task, { kind: "check" }>): Promise<Checked> {
  const reading = await readingOf(task);
  const { source } = reading;
  const { counts, needed, room } = await previewSource(reading);
  const animals = source.rows.slice(0, petsShown).map(({ pet }) => pet);
  return { counts, animals, rejects: rejectsOf(source), repeated: source.repeated, needed, room };
}

async function importNow(task: Extract<Task, { kind: "import" }>): Promise<Imported> {
  const reading = await readingOf(task);
  const { categoriesMade, ...counts } = await importSource({ ...reading, now: Date.now(), show: progressOf });
  if (reading.memory) await forgetRemembered({ account: task.account, name: task.file.name });
  await keepMapping(task.account, task.source, { mapping: task.mapping, columns: reading.source.header, usedAt: Date.now() });
  return { counts, categoriesMade, rejects: rejectsOf(reading.source) };
}

async function readingOf({ file, account, format, mapping, source: name }: Extract<Task, { kind: "check" | "import" }>) {
  const open = () => rowsOf(inputOf(file), format);
  const source = await readSource(open(), mapping, file.name);
  const memory = await readRemembered({ account, name: file.name });
  return { client: calls(), source, from: { source: name, fileName: fileNameOf(file) }, open, memory };
}

function calls() {
  return patientStore({
    onWait: (ms) => report({ kind: "waiting", ms }),
    onRefused: (requestId) => (lastRefused = requestId),
  });
}

type ExportTask = Extract<Task, { kind: "checkExport" | "importExport" }>;

/** Finds the edits of an export, and asks the service which it would refuse. */
async function planOf({ file, format, appliesStale }: ExportTask) {
  const plan = await planExport({ client: calls(), open: () => rowsOf(inputOf(file), format), appliesStale });
  await checkEdits(plan, previewEdits);
  return plan;
}

async function checkExport(task: ExportTask): Promise<CheckedExport> {
  const plan = await planOf(task);
  const changes = plan.edits.slice(0, changesShown).map(({ row: _row, ...change }) => change);
  return { counts: countsOfExport(plan), changes, rejects: rejectsOf(plan), repeated: plan.repeated };
}

async function importExport(task: ExportTask): Promise<Imported> {
  const plan = await planOf(task);
  const { categoriesMade } = await makeEdits({ client: calls(), plan, fileName: fileNameOf(task.file), show: progressOf });
  return { counts: countsOfExport(plan), categoriesMade, rejects: rejectsOf(plan) };
}

const previewEdits: PreviewChanges = async (changes) => {
  const refused = (await previewChanges(changes)).filter(({ outcome }) => outcome === "refused");
  return new Map(refused.map(({ id, message = "" }) => [id, message]));
};

function progressOf(total: number): { advance: (rows: number) => void; end: () => void } {
  let done = 0;
  report({ kind: "progress", done, total });
  const advance = (rows: number) => {
    done += rows;
    report({ kind: "progress", done, total });
  };
  return { advance, end: () => {} };
}

function fileNameOf({ name }: File): string {
  return name.slice(-255);
}

function inputOf(file: File): InputFile {
  const read = async (position: number, count: number) => new Uint8Array(await file.slice(position, position + count).arrayBuffer());
  return { name: file.name, bytes: () => chunksOf(file.stream()), access: { size: file.size, read }, isForPage: true };
}

/** The first rejects for the page, and a file with all of them. */
function rejectsOf({ header, rejects }: Pick<Source, "header" | "rejects">): Rejects {
  const first = rejects.slice(0, rejectsShown).map(({ line, reason, cells }) => ({ line, reason, cells }));
  return { first, file: rejects.length === 0 ? undefined : new Blob([formatRejects(header, rejects)], { type: "text/csv" }) };
}
