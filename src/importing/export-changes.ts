import type { PetStore } from "../../client/client.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { normalize } from "../platform/normalize.ts";
import { ensureCategories } from "./categories.ts";
import type { ExportPlan, PetChange } from "./own-export.ts";

/** How changes of animals are sent. Both functions return why the service refuses some, by id; `send` makes the others. */
export type ShopChanges = {
  preview: (changes: readonly PetChange[]) => Promise<ReadonlyMap<number, string>>;
  send: (changes: readonly PetChange[], onDone: (animals: number) => void) => Promise<ReadonlyMap<number, string>>;
};

/** Moves the edits that the service would refuse to the rejects. @throws PetStoreError */
export async function checkEdits(plan: ExportPlan, { preview }: ShopChanges): Promise<void> {
  rejectRefused(plan, await preview(plan.edits.map(({ change }) => change).filter(isChange)));
}

/** Makes the changes of a plan, and the categories that they name. @throws PetStoreError */
export async function makeEdits(
  client: PetStore,
  plan: ExportPlan,
  { send }: ShopChanges,
  show: (total: number) => { advance: (animals: number) => void },
): Promise<{ categoriesMade: string[] }> {
  const named = plan.edits.flatMap(({ category }) => (category === undefined ? [] : [category]));
  const { ids, made, refused } =
    named.length === 0
      ? { ids: new Map<string, number>(), made: [], refused: new Map<string, string>() }
      : await ensureCategories(client, named);
  const unfit = new Map<number, string>();
  const changes: PetChange[] = [];
  for (const { change, category } of plan.edits) {
    const reason = category === undefined ? undefined : refused.get(normalize(category));
    if (reason !== undefined) unfit.set(change.id, `the category “${category}” was refused: ${reason}`);
    const categoryId = category === undefined ? undefined : ids.get(normalize(category));
    const whole = { ...change, ...(categoryId !== undefined && { categoryId }) };
    if (reason === undefined && isChange(whole)) changes.push(whole);
  }
  const progress = show(changes.length);
  rejectRefused(plan, new Map([...unfit, ...(await send(changes, progress.advance))]));
  return { categoriesMade: made };
}

/** The counts of an export's rows. `stale` counts rows of which an edit is not applied. */
export function countsOfExport({ rowsRead: rows, superseded, unchanged, edits, rejects }: ExportPlan) {
  const updated = edits.filter(({ fields }) => fields.length > 0).length;
  const stale = edits.filter((edit) => edit.stale.length > 0).length;
  return { rows, superseded, created: 0, updated, unchanged: unchanged + edits.length - updated, rejected: rejects.length, stale };
}

/** Changes animals one by one through the public API. */
export function patches(client: PetStore): ShopChanges {
  const all = async (changes: readonly PetChange[], headers: Record<string, string>, onDone: (animals: number) => void) => {
    const refused = new Map<number, string>();
    for (const change of changes) {
      const reason = await patch(client, change, headers);
      if (reason !== undefined) refused.set(change.id, reason);
      onDone(1);
    }
    return refused;
  };
  return {
    preview: (changes) => all(changes, { prefer: "dry-run" }, () => undefined),
    send: (changes, onDone) => all(changes, {}, onDone),
  };
}

async function patch(client: PetStore, { id, stock, ...body }: PetChange, headers: Record<string, string>): Promise<string | undefined> {
  const params = { path: { petId: id } };
  if (Object.keys(body).length > 0) {
    const reason = reasonOf(await client.PATCH("/pets/{petId}", { params, body, headers }));
    if (reason !== undefined) return reason;
  }
  return stock === undefined
    ? undefined
    : reasonOf(await client.PUT("/store/inventory/{petId}", { params, body: { quantity: stock }, headers }));
}

/** Why the service refuses one change. @throws PetStoreError if it refuses for a reason that has nothing to do with the animal */
function reasonOf(answer: Refused & { data?: unknown }): string | undefined {
  if (answer.data) return undefined;
  const refused = refusal(answer);
  if (![400, 404, 409, 422].includes(answer.response.status)) throw refused;
  return refused.message;
}

function isChange(change: PetChange): boolean {
  return Object.keys(change).length > 1;
}

/** Moves edits to the rejects. */
function rejectRefused(plan: ExportPlan, refused: ReadonlyMap<number, string>): void {
  for (const { row, change } of plan.edits) {
    const reason = refused.get(change.id);
    if (reason !== undefined) plan.rejects.push({ ...row, reason });
  }
  plan.edits = plan.edits.filter(({ change }) => !refused.has(change.id));
}
