import { chunksOf } from "../../client/chunks.ts";
import { csvRows } from "../../src/importing/csv.ts";
import { importSource, reportOf } from "../../src/importing/import.ts";
import { isOutdated } from "../../src/importing/load.ts";
import { planLoad } from "../../src/importing/plan.ts";
import { formatRejects } from "../../src/importing/rejects.ts";
import { readSource, type Source } from "../../src/importing/source.ts";
import { Problem } from "../../src/platform/problem.ts";
import { patientStore } from "../calls/patient.ts";
import { formatMoment, formatNumber, texts } from "../texts/texts.ts";
import { readColumns } from "./columns.ts";
import { guessMapping } from "./guess.ts";
import { forgetOldest, lastMapping, openRemembered, type Remembered } from "./remembered.ts";
import type { Checked, Imported, Looked, Rejects, Task, Told } from "./tasks.ts";

/*
 * Reads, checks and imports a file in a worker, so that the page never waits, by the rules of `petstore import`.
 */

const animalsShown = 8;
const rejectsShown = 100;

let lastRefused: string | undefined;
let isUnanswered = false;
const tell = (told: Told) => postMessage(told);

addEventListener("message", ({ data: task }: MessageEvent<Task>) => {
  run(task).catch((error: unknown) => {
    const { code, message } = error instanceof Problem ? error : { code: "internal", message: texts.importing.workerFailed(String(error)) };
    tell({ kind: "failed", failed: { code, message, requestId: lastRefused, isUnanswered } });
  });
});

async function run(task: Task): Promise<void> {
  switch (task.kind) {
    case "look":
      return tell({ kind: "done", result: await look(task) });
    case "check":
      return tell({ kind: "done", result: await check(task) });
    case "import":
      return tell({ kind: "done", result: await inOneTab(task) });
  }
}

async function look({ file, of }: Extract<Task, { kind: "look" }>): Promise<Looked> {
  const read = await readColumns(rowsOf(file));
  const last = await lastMapping(of);
  const names = new Set(read.columns.map(({ name }) => name));
  const fits = last !== undefined && columnsOf(last).every((column) => names.has(column));
  return { ...read, mapping: fits ? last : guessMapping(read.columns), isKnown: last !== undefined };
}

async function check({ file, mapping, of }: Extract<Task, { kind: "check" }>): Promise<Checked> {
  const source = await readSource(rowsOf(file), mapping, file.name);
  const { animals } = await openRemembered(of, mapping);
  const plan = planLoad(source.rows, animals);
  const counts = { ...reportOf(source, plan), created: plan.creations.length, updated: plan.updates.length };
  return { counts, animals: source.rows.slice(0, animalsShown).map(({ animal }) => animal), rejects: rejectsOf(source) };
}

/** Two runs of one import at the same time would add the same animals twice. */
async function inOneTab(task: Extract<Task, { kind: "import" }>): Promise<Imported> {
  const { account, name } = task.of;
  return navigator.locks.request(`petstore-import ${account} ${name}`, { ifAvailable: true }, (lock) => {
    if (lock === null) throw new Problem("unavailable", texts.importing.inAnotherTab);
    return importNow(task);
  });
}

async function importNow({ file, mapping, of, resend }: Extract<Task, { kind: "import" }>): Promise<Imported> {
  const source = await readSource(rowsOf(file), mapping, file.name);
  const state = await openRemembered(of, mapping);
  if (state.batch !== null && !resend && isOutdated(state.batch, Date.now())) throw unanswered(state.batch);
  const client = patientStore({
    onWait: (ms) => tell({ kind: "waiting", ms }),
    onRefused: (requestId) => (lastRefused = requestId),
  });
  const { categoriesMade, ...done } = await importSource({
    client,
    source,
    state,
    save: state.save,
    now: Date.now,
    resend,
    show: (total) => progressOf(total),
  });
  await forgetOldest(of.account);
  return { counts: { ...done, rejected: source.rejects.length }, categoriesMade, rejects: rejectsOf(source) };
}

function unanswered({ elements, sentAt }: NonNullable<Remembered["batch"]>): Problem {
  isUnanswered = true;
  const { unanswered: words } = texts.importing;
  return new Problem("invalid_request", words(formatNumber(elements.length), elements[0]?.pet.name ?? "", formatMoment(new Date(sentAt))));
}

function progressOf(total: number): { advance: (rows: number) => void; end: () => void } {
  let done = 0;
  tell({ kind: "progress", done, total });
  const advance = (rows: number) => {
    done += rows;
    tell({ kind: "progress", done, total });
  };
  return { advance, end: () => {} };
}

function rowsOf(file: File) {
  return csvRows(chunksOf(file.stream()), file.name);
}

function rejectsOf({ header, rejects }: Source): Rejects {
  const first = rejects.slice(0, rejectsShown).map(({ line, reason, cells }) => ({ line, reason, cells }));
  return { first, file: rejects.length === 0 ? undefined : new Blob([formatRejects(header, rejects)], { type: "text/csv" }) };
}

function columnsOf({ id, name, category, status }: NonNullable<Looked["mapping"]>): string[] {
  return [id, ...name.columns, ...category.columns, ...(status?.columns ?? [])];
}
