import type { PetStore } from "../../client/client.ts";
import type { Clock } from "../platform/clock.ts";
import { normalize } from "../platform/normalize.ts";
import { ensureCategories } from "./categories.ts";
import type { Categories } from "./categories.ts";
import { finishBatch, load } from "./load.ts";
import { planLoad } from "./plan.ts";
import type { Plan } from "./plan.ts";
import type { Progress } from "./progress.ts";
import type { Report } from "./report.ts";
import type { Row, Source } from "./source.ts";
import type { LoadState } from "./state.ts";

/** `save` stores the state; `show` is called once the number of pets to send is known. */
export type Importing = {
  client: PetStore;
  source: Source;
  state: LoadState;
  save: () => Promise<void>;
  now: Clock;
  resend: boolean;
  show: (total: number) => Pick<Progress, "advance" | "end">;
};

/**
 * Completes the batch that an earlier run had begun, then plans and loads the rest. Rows that the service refuses are added to the
 * rejects.
 */
export async function importSource({ client, source, state, save, now, resend, show }: Importing): Promise<Omit<Report, "rejects">> {
  await finishBatch(client, state, now, resend);
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

function categoriesOf(plan: Plan): Set<string> {
  return new Set([...plan.creations, ...plan.updates].map(({ row }) => row.pet.category));
}

/** The plan without the rows whose category the service refused. */
function withCategory(plan: Plan, { refused }: Categories, reject: (row: Row, reason: string) => void): Plan {
  const isAccepted = ({ row }: { row: Row }) => {
    const reason = refused.get(normalize(row.pet.category));
    if (reason !== undefined) reject(row, `the category “${row.pet.category}” was refused: ${reason}`);
    return reason === undefined;
  };
  return { ...plan, creations: plan.creations.filter(isAccepted), updates: plan.updates.filter(isAccepted) };
}

/** The counts of rows read and planned. */
export function reportOf(source: Source, plan: Plan): Pick<Report, "rows" | "superseded" | "unchanged" | "rejected"> {
  const { rowsRead: rows, superseded, rejects } = source;
  return { rows, superseded, unchanged: plan.unchanged, rejected: rejects.length };
}
