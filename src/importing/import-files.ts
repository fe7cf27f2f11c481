import { rm } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { PetStore } from "../../client/client.ts";
import type { Clock } from "../platform/clock.ts";
import { moveDurably, writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";
import type { CsvFormat } from "./csv.ts";
import { importSource, previewSource } from "./import.ts";
import { inspectFile, rowsOf, type InputFile, type Inspected } from "./inspect.ts";
import type { ImportSource } from "./load.ts";
import { openFile, readMapping, readState, writeRejects } from "./local-files.ts";
import {
  mappingToComplete,
  openPrices,
  planMapping,
  questionsOf,
  withAnswers,
  withCurrency,
  type MappingPlan,
  type PriceAnswers,
} from "./mapping-plan.ts";
import type { Mapping } from "./mapping-schema.ts";
import { checkBelongs, type State } from "./memory.ts";
import { checkEdits, countsOfExport, type ExportPlan, makeEdits, planExport, previewPatches, recognizeExport } from "./own-export.ts";
import type { Progress } from "./progress.ts";
import type { Report } from "./report.ts";
import { readSource, type Source } from "./source.ts";
import { proposeSource } from "./sources.ts";

/** The most edits that a report lists. */
const editsShown = 100;

/** The files of an import, and the answers to what they leave open. Default `rejectsFile`: beside the file, written only if rows are rejected. */
export type ImportOptions = {
  file: string;
  /** Default: the mapping is guessed, unless the file is an export of the shop. */
  mappingFile: string | undefined;
  /** The name of the source. Default: that of the mapping, else a former source that knows the animals, else proposed from the file's name. */
  source: string | undefined;
  /** The file in which a release before 1.2 remembered its imports. Default: beside the file. */
  stateFile: string | undefined;
  rejectsFile: string | undefined;
  /** Whether the rows of a file that may be an export of the shop are new animals, or change those with their ids. Default: as the file shows. */
  rowsAre: "new" | "changes" | undefined;
  /** Whether edits of an export are applied to values that the shop has changed since. */
  appliesStale: boolean;
  /** What is known of the file's format. Default: it is detected. */
  format?: Partial<CsvFormat>;
  /** How to read prices that leave their currency or amount open. */
  prices?: PriceAnswers;
};

/** A file whose rows become animals by a mapping. */
type MappedFile = { file: InputFile; inspected: Inspected; plan: MappingPlan };
/** An export of the shop with its edits. */
type EditsFile = { inspected: Inspected; edits: ExportPlan };

/**
 * Does a dry run: reads and maps the file, asks the service what would become of its rows, and writes the reject file. Without a service all rows
 * count as new animals.
 */
export async function rehearse(options: ImportOptions, client: PetStore | undefined): Promise<Report> {
  const opened = await openImport(options, client);
  if ("edits" in opened) {
    await checkEdits(opened.edits, previewPatches(client!));
    return reportOfExport(options, opened);
  }
  const { source, open, read } = await readMapped(opened);
  if (client === undefined) {
    const counts = { rows: source.rowsRead, superseded: source.superseded, created: source.rows.length, updated: 0, unchanged: 0 };
    const rejects = await saveRejects(options, source);
    return { ...counts, rejected: source.rejects.length, rejects, categoriesMade: [], ...read };
  }
  const from = await sourceOf(client, options, opened);
  const memory = await memoryOf(client, options);
  const { counts, needed, room } = await previewSource({ client, source, from, open, memory });
  const rejects = await saveRejects(options, source);
  return { ...counts, rejects, categoriesMade: [], ...read, source: from.source, ...(room !== undefined && { needed, room }) };
}

/** Imports a file through the service's API. `show` is called once the number of rows to send is known. */
export async function importFile(client: PetStore, options: ImportOptions, now: Clock, show: (total: number) => Progress): Promise<Report> {
  const opened = await openImport(options, client);
  if ("edits" in opened) {
    const done = await makeEdits({ client, plan: opened.edits, fileName: fileNameOf(options), show });
    return { ...(await reportOfExport(options, opened)), ...done };
  }
  const { source, open, read } = await readMapped(opened);
  try {
    const from = await sourceOf(client, options, opened);
    const memory = await memoryOf(client, options);
    const done = await importSource({ client, source, from, open, memory, now: now(), show });
    if (memory) await moveDurably(filesOf(options).state, `${filesOf(options).state}.adopted`);
    return { ...done, rejects: rejectsPath(options, source), ...read, source: from.source };
  } finally {
    await saveRejects(options, source);
  }
}

/** Writes the mapping that is guessed for a file, to be completed. Returns what is left to answer. */
export async function writeMapping(
  path: string,
  to: string,
  { format, prices }: Pick<ImportOptions, "format" | "prices">,
): Promise<{ mapping: Mapping; questions: string[] }> {
  const { columns, guess } = await inspectSettled(await openFile(path, format));
  if (guess === undefined) throw headless(path);
  const mapping = withAnswers(guess.mapping, prices);
  await writeDurably(to, mappingToComplete(columns, mapping), 0o666).catch((error: NodeJS.ErrnoException) => {
    throw new Problem("invalid_request", `The mapping ${to} cannot be written (${error.code ?? error.message}).`);
  });
  return { mapping, questions: questionsOf(columns, { ...guess, mapping }) };
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
async function openImport(options: ImportOptions, client: PetStore | undefined): Promise<MappedFile | EditsFile> {
  filesOf(options); // refuses files that are the same
  const mapping = options.mappingFile === undefined ? undefined : await readMapping(options.mappingFile);
  const file = await openFile(options.file, options.format);
  const inspected = await inspectSettled(file);
  const { columns, guess } = inspected;
  const priced = (of: Mapping): Promise<Mapping> => inShopCurrency(client, columns, withAnswers(of, options.prices));
  if (mapping !== undefined) return { file, inspected, plan: planMapping(columns, await priced(mapping)) };
  if (client && (await isExport(client, file, inspected, options))) {
    const open = () => rowsOf(file, inspected.format);
    const edits = await planExport({ client, open, appliesStale: options.appliesStale });
    return { inspected, edits };
  }
  if (guess === undefined) throw headless(file.name);
  const answered = await priced(guess.mapping);
  const questions = questionsOf(columns, { ...guess, mapping: answered });
  if (questions.length > 0)
    throw new Problem(
      "invalid_request",
      `${file.name} does not show ${questions.join("; ")}. Nothing was imported. Write the guessed mapping with --write-mapping FILE, correct it, and import with --mapping FILE.`,
    );
  return { file, inspected, plan: planMapping(columns, answered) };
}

/** Adds the currency of the shop to a mapping that leaves it open, if the key may read the account. */
async function inShopCurrency(client: PetStore | undefined, columns: Inspected["columns"], mapping: Mapping): Promise<Mapping> {
  if (!client || !openPrices(columns, mapping).currency) return mapping;
  const { data } = await client.GET("/account");
  return withCurrency(columns, mapping, data?.currency);
}

/** Whether the file is an export of the shop. @throws Problem `invalid_request` if only a person can say */
async function isExport(client: PetStore, { name }: InputFile, inspected: Inspected, options: ImportOptions): Promise<boolean> {
  if (options.rowsAre !== undefined) return options.rowsAre === "changes";
  const recognized = await recognizeExport(client, inspected);
  if (recognized !== "unclear") return recognized === "yes";
  throw new Problem(
    "invalid_request",
    `${name} has the columns of an export of this shop, and some of its ids. Nothing was imported. Are its rows new animals (--rows new), or changes of those in the shop (--rows changes)?`,
  );
}

function headless(file: string): Problem {
  return new Problem("invalid_request", `${file} has no names of columns in its first line.`);
}

async function readMapped({ file, inspected, plan }: MappedFile) {
  const open = () => rowsOf(file, inspected.format);
  return { source: await readSource(open(), plan.mapping, file.name), open, read: { ...formatIn(inspected), plan } };
}

/** How a file was read, for its report. */
function formatIn({ format, sheets = [] }: Inspected): Pick<Report, "format" | "sheets"> {
  return { format, ...(sheets.length > 1 && { sheets }) };
}

async function sourceOf(client: PetStore, options: ImportOptions, { plan: { mapping }, inspected }: MappedFile): Promise<ImportSource> {
  const fileName = fileNameOf(options);
  const named = options.source ?? mapping.source;
  if (named !== undefined) return { source: named, fileName };
  const { source, isOther } = await proposeSource(client, options.file, mapping, inspected);
  if (isOther)
    throw new Problem(
      "invalid_request",
      `${options.file} has ids of “${source}”, where they are animals with other names. Nothing was imported. Does the file come from there? Name that source with --source, or another one.`,
    );
  return { source, fileName };
}

function fileNameOf({ file }: ImportOptions): string {
  return basename(file).slice(-255);
}

async function reportOfExport(options: ImportOptions, { inspected, edits }: EditsFile): Promise<Report> {
  const rejects = await saveRejects(options, edits);
  return {
    ...countsOfExport(edits),
    rejects,
    categoriesMade: [],
    ...formatIn(inspected),
    edits: edits.edits.slice(0, editsShown).map(shownEdit),
  };
}

function shownEdit({ change: { id }, name, fields, stale }: ExportPlan["edits"][number]): NonNullable<Report["edits"]>[number] {
  return { id, name, fields, stale };
}

/** What an earlier release remembered of this file, until an import has handed it over. */
async function memoryOf(client: PetStore, options: ImportOptions): Promise<State | undefined> {
  const { state: file } = filesOf(options);
  const state = await readState(file);
  if (state) checkBelongs(state, file, client.url, await accountOf(client));
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
  if (path === null) await rm(filesOf(options).rejects, { force: true }); // those of an earlier run could be mistaken for this one's
  else await writeRejects(path, source.header, source.rejects);
  return path;
}

function rejectsPath(options: ImportOptions, source: Pick<Source, "rejects">): string | null {
  return source.rejects.length > 0 || options.rejectsFile !== undefined ? filesOf(options).rejects : null;
}
