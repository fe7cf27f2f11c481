import { chunksOf } from "../../client/chunks.ts";
import { checkEdits, countsOfExport, makeEdits, type ShopChanges } from "../../src/importing/export-changes.ts";
import { importSource, reportOf } from "../../src/importing/import.ts";
import { inspectFile, rowsOf, type InputFile } from "../../src/importing/inspect.ts";
import { isOutdated } from "../../src/importing/load.ts";
import { columnsOf } from "../../src/importing/mapping.ts";
import { planExport, recognizeExport } from "../../src/importing/own-export.ts";
import { planLoad } from "../../src/importing/plan.ts";
import { formatRejects } from "../../src/importing/rejects.ts";
import { readSource, type Source } from "../../src/importing/source.ts";
import { PetStoreError } from "../../client/errors.ts";
import { Problem } from "../../src/platform/problem.ts";
import { previewChanges, sendChanges, type Result } from "../calls/changes.ts";
import { setPageMember } from "../calls/page-member.ts";
import { patientStore } from "../calls/patient.ts";
import { formatMoment, formatNumber, texts } from "../texts/texts.ts";
import { deleteOldest, lastMapping, openRemembered, type Remembered } from "./remembered.ts";
import type { Checked, CheckedExport, Imported, Inspected, PageMessage, Rejects, Task, WorkerMessage } from "./tasks.ts";

/*
 * Reads, checks and imports a file by the rules of `petstore import`, in a web worker, so that the page stays responsive.
 */

const petsShown = 8;
const changesShown = 100;
const rejectsShown = 100;
const lockMsMax = 5_000;

let lastRefused: string | undefined;
let isUnanswered = false;
const report = (message: WorkerMessage) => postMessage(message);

addEventListener("message", ({ data: { task, member } }: MessageEvent<PageMessage>) => {
  setPageMember(member);
  run(task).catch((error: unknown) => {
    const { code, message } =
      error instanceof Problem || error instanceof PetStoreError
        ? error
        : { code: "internal", message: texts.importing.workerFailed(String(error)) };
    const status = error instanceof PetStoreError ? (error.status ?? 0) : 0;
    report({ kind: "failed", failed: { code, message, status, requestId: lastRefused, isUnanswered } });
  });
});

async function run(task: Task): Promise<void> {
  switch (task.kind) {
    case "inspect":
      return report({ kind: "done", result: await inspect(task) });
    case "check":
      return report({ kind: "done", result: await check(task) });
    case "import":
      return report({ kind: "done", result: await importAlone(task) });
    case "checkExport":
      return report({ kind: "done", result: await checkExport(task) });
    case "importExport":
      return report({ kind: "done", result: await importExport(task) });
  }
}

async function inspect({ file, of, format: chosen }: Extract<Task, { kind: "inspect" }>): Promise<Inspected> {
  const inspected = await inspectFile(inputOf(file), chosen);
  const { header: _header, first: _first, ...read } = inspected;
  const last = await lastMapping(of);
  const names = new Set(read.columns.map(({ name }) => name));
  const fits = last !== undefined && columnsOf(last).every((column) => names.has(column));
  return {
    ...read,
    ...(fits && { guess: { mapping: last, unsure: [] } }),
    isKnown: last !== undefined,
    ownExport: await recognizeExport(calls(), inspected, { isKnownSource: last !== undefined }),
  };
}

async function check({ file, mapping, of, format }: Extract<Task, { kind: "check" }>): Promise<Checked> {
  const source = await readSource(rowsOf(inputOf(file), format), mapping, file.name);
  const { animals: known } = await openRemembered(of, mapping);
  const plan = planLoad(source.rows, known);
  const counts = { ...reportOf(source, plan), created: plan.creations.length, updated: plan.updates.length };
  const animals = source.rows.slice(0, petsShown).map(({ pet }) => pet);
  return { counts, animals, rejects: rejectsOf(source), repeated: source.repeated };
}

/**
 * Imports while holding a lock, because two runs of one import at the same time would add the same pets twice. A stopped run holds its lock
 * until the browser has ended its worker, so the next run waits for up to 5 seconds.
 */
async function importAlone(task: Extract<Task, { kind: "import" }>): Promise<Imported> {
  const { account, name } = task.of;
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(new Problem("invalid_request", texts.importing.inAnotherTab)), lockMsMax);
  return navigator.locks.request(`petstore-import ${account} ${name}`, { signal: waiting.signal }, () => {
    clearTimeout(timer);
    return importNow(task);
  });
}

async function importNow({ file, mapping, of, resend, format }: Extract<Task, { kind: "import" }>): Promise<Imported> {
  const source = await readSource(rowsOf(inputOf(file), format), mapping, file.name);
  const state = await openRemembered(of, mapping);
  if (state.batch !== null && !resend && isOutdated(state.batch, Date.now())) throw unanswered(state.batch);
  const client = calls();
  const { categoriesMade, ...done } = await importSource({
    client,
    source,
    state,
    save: state.save,
    now: Date.now,
    resend,
    show: (total) => progressOf(total),
  });
  await deleteOldest(of.account);
  return { counts: { ...done, rejected: source.rejects.length }, categoriesMade, rejects: rejectsOf(source) };
}

type ExportTask = Extract<Task, { kind: "checkExport" | "importExport" }>;

/** Finds the edits of an export, and asks the service which it would refuse. */
async function planOf({ file, format, appliesStale }: ExportTask) {
  const plan = await planExport({ client: calls(), open: () => rowsOf(inputOf(file), format), appliesStale });
  await checkEdits(plan, shopChanges);
  return plan;
}

async function checkExport(task: ExportTask): Promise<CheckedExport> {
  const plan = await planOf(task);
  const changes = plan.edits.slice(0, changesShown).map(({ row: _row, ...change }) => change);
  return { counts: countsOfExport(plan), changes, rejects: rejectsOf(plan), repeated: plan.repeated };
}

async function importExport(task: ExportTask): Promise<Imported> {
  const plan = await planOf(task);
  const { categoriesMade } = await makeEdits(calls(), plan, shopChanges, progressOf);
  return { counts: countsOfExport(plan), categoriesMade, rejects: rejectsOf(plan) };
}

const shopChanges: ShopChanges = {
  preview: async (changes) => refusedIn(await previewChanges(changes)),
  send: async (changes, onDone) => refusedIn(await sendChanges(changes, { onResults: ({ length }) => onDone(length) })),
};

function refusedIn(results: readonly Result[]): Map<number, string> {
  return new Map(results.filter(({ outcome }) => outcome === "refused").map(({ id, message = "" }) => [id, message]));
}

function calls() {
  return patientStore({
    onWait: (ms) => report({ kind: "waiting", ms }),
    onRefused: (requestId) => (lastRefused = requestId),
  });
}

function unanswered({ elements, sentAt }: NonNullable<Remembered["batch"]>): Problem {
  isUnanswered = true;
  const { unanswered: words } = texts.importing;
  return new Problem("invalid_request", words(formatNumber(elements.length), elements[0]?.pet.name ?? "", formatMoment(new Date(sentAt))));
}

function progressOf(total: number): { advance: (rows: number) => void; end: () => void } {
  let done = 0;
  report({ kind: "progress", done, total });
  const advance = (rows: number) => {
    done += rows;
    report({ kind: "progress", done, total });
  };
  return { advance, end: () => {} };
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
