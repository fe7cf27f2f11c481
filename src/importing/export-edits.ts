import type { PetStore } from "../../client/client.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { normalize } from "../platform/folding.ts";
import { beginImport, endImport, findCategories, sendRows, type ImportRow } from "./load.ts";
import type { Edit, ExportPlan, PetChange } from "./own-export.ts";
import type { Progress } from "./progress.ts";
import { editsSource } from "./sources.ts";

/** Asks the service which changes it would refuse. Returns the reasons by the pets' ids. */
export type PreviewChanges = (changes: readonly PetChange[]) => Promise<ReadonlyMap<number, string>>;

/** Moves the edits that the service would refuse to the rejects. @throws PetStoreError */
export async function checkEdits(plan: ExportPlan, preview: PreviewChanges): Promise<void> {
  rejectRefused(
    plan,
    await preview(plan.edits.map(({ change }) => change).filter(({ id: _id, ...change }) => Object.keys(change).length > 0)),
  );
}

type EditsRun = { client: PetStore; plan: ExportPlan; fileName: string; show: (total: number) => Pick<Progress, "advance" | "end"> };

/** Makes the edits of a plan as an import, which can be undone, with the categories that they name. @throws PetStoreError */
export async function makeEdits({ client, plan, fileName, show }: EditsRun): Promise<{ categoriesMade: string[]; importId?: number }> {
  const made = plan.edits.filter(({ fields }) => fields.length > 0);
  if (made.length === 0) return { categoriesMade: [] };
  const named = made.flatMap(({ category }) => category ?? []);
  const from = { source: editsSource, fileName };
  const begun = await beginImport(client, from, await findCategories(client, named));
  const { importId } = begun;
  const refused = new Map<number, string>();
  const rows = made.flatMap((edit): ImportRow[] => {
    const reason = edit.category === undefined ? undefined : begun.refused.get(normalize(edit.category));
    if (reason !== undefined) refused.set(edit.change.id, `the category “${edit.category}” was refused: ${reason}`);
    return reason === undefined ? [rowOf(edit, begun.ids)] : [];
  });
  const progress = show(rows.length);
  try {
    const reject = (index: number, reason: string) => void refused.set(rows[index]!.petId!, reason);
    await sendRows(rows, { client, importId, isDryRun: false, reject, advance: progress.advance });
    rejectRefused(plan, refused);
    await endImport(client, importId, plan.rejects.length);
  } finally {
    progress.end();
  }
  return { categoriesMade: begun.made, importId };
}

function rowOf({ name, categoryId, change, category }: Edit, ids: ReadonlyMap<string, number>): ImportRow {
  const movedTo = category === undefined ? change.categoryId : ids.get(normalize(category));
  const { id, status, stock } = change;
  return {
    // Files have no ids of this form, so none of theirs is taken for a row of this source.
    sourceId: `pet ${id}`,
    petId: id,
    pet: { name: change.name ?? name, categoryId: movedTo ?? categoryId, ...(status !== undefined && { status }) },
    previous: { name, categoryId },
    ...(stock !== undefined && { quantity: stock }),
  };
}

/** The counts of an export's rows. `stale` counts rows of which an edit is not applied. */
export function countsOfExport({ rowsRead: rows, superseded, unchanged, edits, rejects }: ExportPlan) {
  const updated = edits.filter(({ fields }) => fields.length > 0).length;
  const stale = edits.filter((edit) => edit.stale.length > 0).length;
  return { rows, superseded, created: 0, updated, unchanged: unchanged + edits.length - updated, rejected: rejects.length, stale };
}

/** Previews changes of animals one by one through the public API. */
export function previewPatches(client: PetStore): PreviewChanges {
  return async (changes) => {
    const refused = new Map<number, string>();
    for (const change of changes) {
      const reason = await previewPatch(client, change);
      if (reason !== undefined) refused.set(change.id, reason);
    }
    return refused;
  };
}

async function previewPatch(client: PetStore, { id, stock, ...body }: PetChange): Promise<string | undefined> {
  const params = { path: { petId: id } };
  const headers = { prefer: "dry-run" };
  if (Object.keys(body).length > 0) {
    const reason = reasonOf(await client.PATCH("/pets/{petId}", { params, body, headers }));
    if (reason !== undefined) return reason;
  }
  return stock === undefined
    ? undefined
    : reasonOf(await client.PUT("/store/inventory/{petId}", { params, body: { quantity: stock }, headers }));
}

/** Why the service refuses one change. @throws PetStoreError if the reason has nothing to do with the animal */
function reasonOf(answer: Refused & { data?: unknown }): string | undefined {
  if (answer.data) return undefined;
  const refused = refusal(answer);
  if (![400, 404, 409, 422].includes(answer.response.status)) throw refused;
  return refused.message;
}

/** Moves edits to the rejects. */
function rejectRefused(plan: ExportPlan, refused: ReadonlyMap<number, string>): void {
  for (const { row, change } of plan.edits) {
    const reason = refused.get(change.id);
    if (reason !== undefined) plan.rejects.push({ ...row, reason });
  }
  plan.edits = plan.edits.filter(({ change }) => !refused.has(change.id));
}
