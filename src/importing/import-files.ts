import { resolve } from "node:path";
import type { PetStore } from "../../client/client.ts";
import type { Clock } from "../platform/clock.ts";
import { writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";
import { openFile } from "./csv-file.ts";
import type { CsvFormat } from "./csv-format.ts";
import { checkEdits, countsOfExport, makeEdits, patches } from "./export-changes.ts";
import { importSource, reportOf } from "./import.ts";
import { inspectFile, rowsOf, type InputFile, type Inspected } from "./inspect.ts";
import { mappingToComplete, planMapping, questionsOf, type MappingPlan } from "./mapping-plan.ts";
import { readMapping } from "./mapping-file.ts";
import type { Mapping } from "./mapping.ts";
import { planExport, recognizeExport, type ExportPlan } from "./own-export.ts";
import { planLoad } from "./plan.ts";
import type { Progress } from "./progress.ts";
import { removeRejects, writeRejects } from "./rejects-file.ts";
import type { Report } from "./report.ts";
import { readSource } from "./source.ts";
import type { Source } from "./source.ts";
import { readState, writeState } from "./state-file.ts";
import { checkBelongs } from "./state.ts";
import type { State } from "./state.ts";

/** The most edits that a report lists. */
const editsShown = 100;

/** The files of an import, and the answers to what they leave open. Default `rejectsFile`: beside the file, written only if rows are rejected. */
export type ImportOptions = {
  file: string;
  /** Default: the mapping is guessed, unless the file is an export of the shop. */
  mappingFile: string | undefined;
  stateFile: string | undefined;
  rejectsFile: string | undefined;
  resend: boolean;
  /** Whether the rows of a file that may be an export of the shop are new animals, or change those with their ids. Default: as the file shows. */
  rowsAre: "new" | "changes" | undefined;
  /** Whether edits of an export are applied to values that the shop has changed since. */
  appliesStale: boolean;
  /** What is known of the file's format. Default: it is detected. */
  format?: Partial<CsvFormat>;
};

/** A file whose rows become animals by a mapping. */
type Mapped = { file: InputFile; inspected: Inspected; plan: MappingPlan };
/** An export of the shop with its edits. */
type Edited = { inspected: Inspected; edits: ExportPlan };

/**
 * Does a dry run: reads and maps the file, compares it with the state and writes the reject file. Reports the most that an import would do, because the
 * service may refuse some rows. Calls the service, if there is one, only for an export.
 */
export async function rehearse(options: ImportOptions, client: PetStore | undefined): Promise<Report> {
  const files = filesOf(options);
  const opened = await openImport(options, client);
  if ("edits" in opened) return reportOfExport(options, opened);
  const { source, format, plan } = await readMapped(opened);
  const state = await readState(files.state);
  const load = planLoad(source.rows, state?.animals ?? new Map());
  const rejects = await saveRejects(options, source);
  return {
    ...reportOf(source, load),
    created: load.creations.length,
    updated: load.updates.length,
    rejects,
    categoriesMade: [],
    format,
    plan,
  };
}

/** Imports a file through the service's API. `show` is called once the number of pets to send is known. */
export async function importFile(client: PetStore, options: ImportOptions, now: Clock, show: (total: number) => Progress): Promise<Report> {
  const files = filesOf(options);
  const opened = await openImport(options, client);
  if ("edits" in opened) {
    const { categoriesMade } = await makeEdits(client, opened.edits, patches(client), show);
    return { ...(await reportOfExport(options, opened)), categoriesMade };
  }
  const { source, format, plan } = await readMapped(opened);
  try {
    const state = await openState(client, files.state);
    const save = () => writeState(files.state, state);
    const done = await importSource({ client, source, state, save, now, resend: options.resend, show });
    return { ...done, rejects: rejectsPath(options, source), format, plan };
  } finally {
    await saveRejects(options, source);
  }
}

/** Writes the mapping that is guessed for a file, to be completed. Returns what is left to answer. */
export async function writeMapping(
  path: string,
  to: string,
  format?: Partial<CsvFormat>,
): Promise<{ mapping: Mapping; questions: string[] }> {
  const { columns, guess } = await inspectSettled(await openFile(path, format));
  if (guess === undefined) throw headless(path);
  await writeDurably(to, mappingToComplete(columns, guess.mapping), 0o666).catch((error: NodeJS.ErrnoException) => {
    throw new Problem("invalid_request", `The mapping ${to} cannot be written (${error.code ?? error.message}).`);
  });
  return { mapping: guess.mapping, questions: questionsOf(columns, guess) };
}

/** @throws Problem `invalid_request` if several encodings fit the file about as well */
async function inspectSettled(file: InputFile): Promise<Inspected> {
  const inspected = await inspectFile(file);
  if (inspected.readings === undefined) return inspected;
  const readings = inspected.readings.map(({ encoding, cells }) => `${encoding} reads “${cells.join("”, “")}”`).join("; ");
  throw new Problem(
    "invalid_request",
    `${file.name} does not say its encoding: ${readings}. Nothing was imported. Name the right one with --encoding.`,
  );
}

/** Reads the file's columns and finds out what its rows are. @throws Problem `invalid_request` if that is not settled */
async function openImport(options: ImportOptions, client: PetStore | undefined): Promise<Mapped | Edited> {
  const mapping = options.mappingFile === undefined ? undefined : await readMapping(options.mappingFile);
  const file = await openFile(options.file, options.format);
  const inspected = await inspectSettled(file);
  if (mapping !== undefined) return { file, inspected, plan: planMapping(inspected.columns, mapping) };
  if (client && (await isExport(client, file, inspected, options))) {
    const open = () => rowsOf(file, inspected.format);
    const edits = await planExport({ client, open, appliesStale: options.appliesStale });
    await checkEdits(edits, patches(client));
    return { inspected, edits };
  }
  const { columns, guess } = inspected;
  if (guess === undefined) throw headless(file.name);
  const questions = questionsOf(columns, guess);
  if (questions.length > 0)
    throw new Problem(
      "invalid_request",
      `${file.name} does not show ${questions.join("; ")}. Nothing was imported. Write the guessed mapping with --write-mapping FILE, correct it, and import with --mapping FILE.`,
    );
  return { file, inspected, plan: planMapping(columns, guess.mapping) };
}

/** @throws Problem `invalid_request` if only a person can say it */
async function isExport(client: PetStore, { name }: InputFile, inspected: Inspected, options: ImportOptions): Promise<boolean> {
  if (options.rowsAre !== undefined) return options.rowsAre === "changes";
  const isKnownSource = (await readState(filesOf(options).state)) !== undefined;
  const recognized = await recognizeExport(client, inspected, { isKnownSource });
  if (recognized !== "unclear") return recognized === "yes";
  throw new Problem(
    "invalid_request",
    `${name} has the columns of an export of this shop, and some of its ids. Nothing was imported. Are its rows new animals (--rows new), or changes of those in the shop (--rows changes)?`,
  );
}

function headless(file: string): Problem {
  return new Problem("invalid_request", `${file} has no names of columns in its first line.`);
}

async function readMapped({ file, inspected: { format }, plan }: Mapped) {
  return { source: await readSource(rowsOf(file, format), plan.mapping, file.name), format, plan };
}

async function reportOfExport(options: ImportOptions, { inspected: { format }, edits }: Edited): Promise<Report> {
  const rejects = await saveRejects(options, edits);
  return { ...countsOfExport(edits), rejects, categoriesMade: [], format, edits: edits.edits.slice(0, editsShown).map(shownEdit) };
}

function shownEdit({ change: { id }, name, fields, stale }: ExportPlan["edits"][number]): NonNullable<Report["edits"]>[number] {
  return { id, name, fields, stale };
}

async function openState(client: PetStore, file: string): Promise<State> {
  const account = await accountOf(client);
  const state = (await readState(file)) ?? { server: client.url, account, batch: null, animals: new Map() };
  checkBelongs(state, file, client.url, account);
  state.account ??= account;
  return state;
}

/** The account's id; null if the key may not read it. A state then belongs to the server only. */
async function accountOf(client: PetStore): Promise<number | null> {
  const { data } = await client.GET("/account");
  return data && Number.isSafeInteger(data.id) ? data.id : null;
}

function filesOf({ file, mappingFile, stateFile, rejectsFile }: ImportOptions): { state: string; rejects: string } {
  const files = { state: stateFile ?? `${file}.petstore-state.json`, rejects: rejectsFile ?? `${file}.petstore-rejects.csv` };
  const paths = [file, ...(mappingFile === undefined ? [] : [mappingFile]), files.state, files.rejects].map((path) => resolve(path));
  if (new Set(paths).size < paths.length)
    throw new Problem("invalid_request", "The file, the mapping, the state and the rejects must be four different files.");
  return files;
}

async function saveRejects(options: ImportOptions, source: Pick<Source, "header" | "rejects">): Promise<string | null> {
  const path = rejectsPath(options, source);
  if (path === null) await removeRejects(filesOf(options).rejects);
  else await writeRejects(path, source.header, source.rejects);
  return path;
}

function rejectsPath(options: ImportOptions, source: Pick<Source, "rejects">): string | null {
  return source.rejects.length > 0 || options.rejectsFile !== undefined ? filesOf(options).rejects : null;
}
