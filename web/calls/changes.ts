import { realTiming } from "../../client/timing.ts";
import { texts } from "../texts/texts.ts";
import { patientSend } from "./patient.ts";
import { refusalOf } from "./refusal.ts";
import type { Schemas } from "./store.ts";

type Price = Schemas["Price"];

/**
 * The changes to one pet; omitted fields keep their values. A `stock` of null ends tracking, and a `price` of null removes it. `pricePermille`
 * raises the price by so many thousandths, or lowers it if negative. `delete` moves the pet into the bin. With `since`, a pet of which somebody has
 * changed a named part stays as it is.
 */
export type Change = {
  id: number;
  name?: string;
  categoryId?: number;
  status?: Schemas["PetStatus"];
  stock?: number | null;
  price?: Price | null;
  pricePermille?: number;
  removeProfile?: true;
  delete?: true;
  since?: Partial<Versions>;
};
/** The versions of the parts of a pet; null for a part that it does not have. */
type Versions = { pet: number; stock: number | null; profile: number | null };
/** `price` is there if the change is one of the price. */
type PetState = { name: string; categoryId: number; status: Schemas["PetStatus"]; stock: number | null; price?: Price | null };
/** The outcome of the changes to one pet, with the versions that they left. */
export type Result = {
  id: number;
  outcome: "changed" | "unchanged" | "binned" | "refused";
  before?: PetState;
  after?: PetState;
  versions?: Partial<Versions>;
  /** Whether the pet had no profile before. */
  madeProfile?: boolean;
  code?: string;
  message?: string;
};

/** The most changes in one call. */
const changesMax = 1_000;
/** A call has so few changes at first, and more as long as it takes little time (ms), so that the page can say how far it is. */
const changesFirst = 50;
const quickMs = 500;
const slowMs = 1_000;
/** How long to wait (ms) before changes are sent again for which the service had no time. */
const busyMs = 1_000;

type Sending<R> = {
  /** Called with the results of each call, in the order of the changes except for those that were sent again. */
  onResults?: (results: readonly R[]) => void;
  /** Asked before each call. Once it returns true, no more changes are sent. Default: all are sent. */
  isStopped?: () => boolean;
};

/** Changes any number of pets. @throws Refusal, as `sendInParts` */
export function sendChanges(changes: readonly Change[], sending?: Sending<Result>): Promise<Result[]> {
  return sendInParts("/pets/changes", changes, sending);
}

/**
 * Makes any number of changes, in calls of up to 1,000. Sends those again for which the service had no time.
 *
 * @throws Refusal. The changes whose results `onResults` got remain, and the others were not made
 */
export async function sendInParts<R extends { id: number; code?: string }>(
  path: string,
  changes: readonly { id: number }[],
  { onResults = () => undefined, isStopped = () => false }: Sending<R> = {},
): Promise<R[]> {
  const results: R[] = [];
  let left = [...changes];
  let size = changesFirst;
  while (left.length > 0 && !isStopped()) {
    const part = left.slice(0, size);
    const begunAt = performance.now();
    const answered = await sendPart<R>(path, part, {});
    const took = performance.now() - begunAt;
    const made = answered.filter(({ code }) => code !== "unavailable");
    const unmade = new Set(answered.filter(({ code }) => code === "unavailable").map(({ id }) => id));
    results.push(...made);
    onResults(made);
    left = [...part.filter(({ id }) => unmade.has(id)), ...left.slice(part.length)];
    if (unmade.size > 0) await realTiming.wait(busyMs);
    if (took < quickMs) size = Math.min(2 * size, changesMax);
    else if (took > slowMs) size = Math.max(Math.ceil(size / 2), changesFirst);
  }
  return results;
}

/** Returns what `sendChanges` would return, and changes nothing. @throws Refusal */
export async function previewChanges(changes: readonly Change[], signal?: AbortSignal): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < changes.length; at += changesMax)
    results.push(...(await sendPart<Result>("/pets/changes", changes.slice(at, at + changesMax), { isDryRun: true, signal })));
  return results;
}

type Part = { isDryRun?: boolean; signal?: AbortSignal | undefined };

async function sendPart<R>(path: string, changes: readonly object[], { isDryRun = false, signal }: Part): Promise<R[]> {
  const response = await patientSend("POST", path, { body: { changes }, isDryRun, signal });
  if (!response.ok) throw await refusalOf(response, texts.dashboard.answered);
  return ((await response.json()) as { results: R[] }).results;
}
