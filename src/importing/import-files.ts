import { resolve } from "node:path";
import type { PetStore } from "../../client/client.ts";
import type { Clock } from "../platform/clock.ts";
import { Problem } from "../platform/problem.ts";
import { formatOf, readCsv } from "./csv-file.ts";
import type { CsvFormat } from "./csv-format.ts";
import { importSource, reportOf } from "./import.ts";
import { readMapping } from "./mapping-file.ts";
import { planLoad } from "./plan.ts";
import type { Progress } from "./progress.ts";
import { removeRejects, writeRejects } from "./rejects-file.ts";
import type { Report } from "./report.ts";
import { readSource } from "./source.ts";
import type { Source } from "./source.ts";
import { readState, writeState } from "./state-file.ts";
import { checkBelongs } from "./state.ts";
import type { State } from "./state.ts";

/** The files of an import. Default `rejectsFile`: beside the file, written only if rows are rejected. */
export type ImportOptions = {
  file: string;
  mappingFile: string;
  stateFile: string | undefined;
  rejectsFile: string | undefined;
  resend: boolean;
};

/**
 * Does a dry run: reads and maps the file, compares it with the state and writes the reject file, without calling the service. Reports the most that
 * an import would do, because the service may refuse some rows.
 */
export async function rehearse(options: ImportOptions): Promise<Report> {
  const files = filesOf(options);
  const { source, format } = await readFiles(options);
  const state = await readState(files.state);
  const plan = planLoad(source.rows, state?.animals ?? new Map());
  const rejects = await saveRejects(options, source);
  return { ...reportOf(source, plan), created: plan.creations.length, updated: plan.updates.length, rejects, categoriesMade: [], format };
}

/** Imports a file through the service's API. `show` is called once the number of pets to send is known. */
export async function importFile(client: PetStore, options: ImportOptions, now: Clock, show: (total: number) => Progress): Promise<Report> {
  const files = filesOf(options);
  const { source, format } = await readFiles(options);
  try {
    const state = await openState(client, files.state);
    const save = () => writeState(files.state, state);
    const done = await importSource({ client, source, state, save, now, resend: options.resend, show });
    return { ...done, rejects: rejectsPath(options, source), format };
  } finally {
    await saveRejects(options, source);
  }
}

/** Reads the file's rows by its mapping; checks both before anything is sent. */
async function readFiles({ file, mappingFile }: ImportOptions): Promise<{ source: Source; format: CsvFormat }> {
  const mapping = await readMapping(mappingFile);
  const format = await formatOf(file);
  return { source: await readSource(readCsv(file, format), mapping, file), format };
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
  const paths = [file, mappingFile, files.state, files.rejects].map((path) => resolve(path));
  if (new Set(paths).size < paths.length)
    throw new Problem("invalid_request", "The file, the mapping, the state and the rejects must be four different files.");
  return files;
}

async function saveRejects(options: ImportOptions, source: Source): Promise<string | null> {
  const path = rejectsPath(options, source);
  if (path === null) await removeRejects(filesOf(options).rejects);
  else await writeRejects(path, source.header, source.rejects);
  return path;
}

function rejectsPath(options: ImportOptions, source: Source): string | null {
  return source.rejects.length > 0 || options.rejectsFile !== undefined ? filesOf(options).rejects : null;
}
