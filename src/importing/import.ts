import { resolve } from "node:path";
import type { PetStore } from "../../client/client.ts";
import type { Clock } from "../platform/clock.ts";
import { fold } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";
import { ensureCategories } from "./categories.ts";
import type { Categories } from "./categories.ts";
import { readCsv } from "./csv.ts";
import { finishBatch, load } from "./load.ts";
import { readMapping } from "./mapping.ts";
import { planLoad } from "./plan.ts";
import type { Plan } from "./plan.ts";
import type { Progress } from "./progress.ts";
import { removeRejects, writeRejects } from "./rejects.ts";
import type { Report } from "./report.ts";
import { readSource } from "./source.ts";
import type { Row, Source } from "./source.ts";
import { checkBelongs, readState, writeState } from "./state.ts";
import type { State } from "./state.ts";

/** The files of an import. Without `rejectsFile`, rejects go beside the file, and only if there are any. */
export type ImportOptions = {
  file: string;
  mappingFile: string;
  stateFile: string | undefined;
  rejectsFile: string | undefined;
  resend: boolean;
};

/** Reads, maps and compares with the state, and writes the reject file, but asks no server: what an import would do at most. */
export async function rehearse(options: ImportOptions): Promise<Report> {
  const files = filesOf(options);
  const source = await readFiles(options);
  const state = await readState(files.state);
  const plan = planLoad(source.rows, state?.animals ?? new Map());
  const rejects = await saveRejects(options, source);
  return { ...reportOf(source, plan), created: plan.creations.length, updated: plan.updates.length, rejects, categoriesMade: [] };
}

/** Imports a file through the service's API. `show` is called once the number of animals to send is known. */
export async function importFile(client: PetStore, options: ImportOptions, now: Clock, show: (total: number) => Progress): Promise<Report> {
  const files = filesOf(options);
  const source = await readFiles(options);
  try {
    const state = await openState(client, files.state);
    const save = () => writeState(files.state, state);
    await finishBatch(client, state, now, options.resend);
    const done = await send(client, source, state, save, now, show);
    return { ...done, rejects: rejectsPath(options, source) };
  } finally {
    await saveRejects(options, source);
  }
}

/** Plans and loads what the state does not have yet. What the service refuses joins the source's rejects. */
async function send(
  client: PetStore,
  source: Source,
  state: State,
  save: () => Promise<void>,
  now: Clock,
  show: (total: number) => Progress,
): Promise<Omit<Report, "rejects">> {
  const plan = planLoad(source.rows, state.animals);
  const categories = await ensureCategories(client, categoriesOf(plan));
  const reject = (row: Row, reason: string) => void source.rejects.push({ line: row.line, cells: row.cells, reason });
  const accepted = withCategory(plan, categories, reject);
  const progress = show(accepted.creations.length + accepted.updates.length);
  try {
    const done = await load(accepted, { client, categoryIds: categories.ids, state, save, now, reject, advance: progress.advance });
    return { ...reportOf(source, plan), ...done, categoriesMade: categories.made };
  } finally {
    progress.end();
  }
}

/** The file's rows by its mapping; both are checked before anything is sent. */
async function readFiles(options: ImportOptions): Promise<Source> {
  return readSource(readCsv(options.file), await readMapping(options.mappingFile), options.file);
}

async function openState(client: PetStore, file: string): Promise<State> {
  const account = await accountOf(client);
  const state = (await readState(file)) ?? { server: client.url, account, batch: null, animals: new Map() };
  checkBelongs(state, file, client.url, account);
  state.account ??= account;
  return state;
}

/** The account's id, null where the key may not ask for it; a state is then told apart by its server alone. */
async function accountOf(client: PetStore): Promise<number | null> {
  const { data } = await client.GET("/account");
  return data && Number.isSafeInteger(data.id) ? data.id : null;
}

function categoriesOf(plan: Plan): Set<string> {
  return new Set([...plan.creations, ...plan.updates].map(({ row }) => row.animal.category));
}

/** The plan without the rows whose category the service refused. */
function withCategory(plan: Plan, { refused }: Categories, reject: (row: Row, reason: string) => void): Plan {
  const isTaken = ({ row }: { row: Row }) => {
    const reason = refused.get(fold(row.animal.category));
    if (reason !== undefined) reject(row, `the category “${row.animal.category}” was refused: ${reason}`);
    return reason === undefined;
  };
  return { ...plan, creations: plan.creations.filter(isTaken), updates: plan.updates.filter(isTaken) };
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

function reportOf(source: Source, plan: Plan): Pick<Report, "rows" | "superseded" | "unchanged" | "rejected"> {
  const { rowsRead: rows, superseded, rejects } = source;
  return { rows, superseded, unchanged: plan.unchanged, rejected: rejects.length };
}
