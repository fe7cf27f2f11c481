import { patientSend } from "./patient.ts";
import { refusalOf } from "./refusal.ts";
import { texts } from "../texts/texts.ts";
import type { Schemas } from "./store.ts";

/** The changes to one pet; omitted fields keep their values. A `stock` of null ends tracking. */
export type Change = {
  id: number;
  name?: string;
  categoryId?: number;
  status?: Schemas["PetStatus"];
  stock?: number | null;
  delete?: true;
};
export type PetState = { name: string; categoryId: number; status: Schemas["PetStatus"]; stock: number | null };
/** The outcome of the changes to one pet. */
export type Result = {
  id: number;
  outcome: "changed" | "unchanged" | "deleted" | "refused";
  before?: PetState;
  after?: PetState;
  code?: string;
  message?: string;
};

/** The most changes in one call. */
const changesMax = 1_000;

/** Changes any number of pets, up to 1,000 in each call, then calls `advance`. @throws Refusal; the changes of earlier calls remain */
export function sendChanges(changes: readonly Change[], advance?: (done: number) => void, signal?: AbortSignal): Promise<Result[]> {
  return inParts(changes, { advance, signal });
}

/** Returns what `sendChanges` would return, and changes nothing. @throws Refusal */
export function previewChanges(changes: readonly Change[], signal?: AbortSignal): Promise<Result[]> {
  return inParts(changes, { signal, isDryRun: true });
}

type Sending = { advance?: ((done: number) => void) | undefined; signal?: AbortSignal | undefined; isDryRun?: boolean };

async function inParts(changes: readonly Change[], { advance, signal, isDryRun = false }: Sending): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < changes.length; at += changesMax) {
    const part = changes.slice(at, at + changesMax);
    const response = await patientSend("POST", "/pets/changes", { body: { changes: part }, isDryRun, signal });
    if (!response.ok) throw await refusalOf(response, texts.dashboard.answered);
    results.push(...((await response.json()) as { results: Result[] }).results);
    advance?.(part.length);
  }
  return results;
}
