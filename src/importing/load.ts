import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { batchesOf, batchSizeMax, refusedElements } from "./plan.ts";

export type ImportRow = Schemas["ImportRow"];
type Outcome = Schemas["ImportOutcome"];

export type Sending = {
  client: PetStore;
  importId: number;
  /** Whether the service only says what would become of the rows. */
  isDryRun: boolean;
  /** Called for each row that the service refuses, by its place in the list. */
  reject: (index: number, reason: string) => void;
  /** Called with the number of rows that are finished, refused ones included. */
  advance: (rows: number) => void;
};

/** The most bytes of a batch of rows with profiles, a little less than the service takes. A batch that is too large for another reason is halved. */
const batchBytesMax = 900_000;

/** Refusals of rows; any other one stops the import. */
const refusedStatuses = new Set([400, 413, 422]);

/**
 * Sends rows in batches; where the service refuses some rows of a batch, sends the others again. Returns the number of rows by outcome.
 *
 * @throws PetStoreError. Earlier batches stay, and sending all rows again is safe
 */
export async function sendRows(rows: Iterable<ImportRow> | AsyncIterable<ImportRow>, sending: Sending): Promise<Record<Outcome, number>> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  for await (const whole of batches(rows)) {
    const queue = [whole];
    for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
      const answer = await sendBatch(
        batch.map(({ row }) => row),
        sending,
      );
      if (answer.data) {
        for (const { outcome } of answer.data) counts[outcome] += 1;
        sending.advance(batch.length);
      } else if (refusedStatuses.has(answer.response.status)) queue.unshift(...withoutRefused(batch, answer, sending));
      else throw refusal(answer);
    }
  }
  return counts;
}

/** Groups rows, as they come, into batches that the service takes. */
async function* batches(rows: Iterable<ImportRow> | AsyncIterable<ImportRow>): AsyncGenerator<Placed[]> {
  const encoder = new TextEncoder();
  let [batch, bytes, index]: [Placed[], number, number] = [[], 0, 0];
  for await (const row of rows) {
    const size = row.profile ? encoder.encode(JSON.stringify(row)).length : 0;
    if (batch.length === batchSizeMax || (batch.length > 0 && bytes + size > batchBytesMax)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push({ row, index: index++ });
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Ends an import. @throws PetStoreError */
export async function endImport(client: PetStore, importId: number, rejected: number): Promise<void> {
  const params = { path: { importId }, query: { last: true, rejected } };
  const answer = await client.POST("/imports/{importId}/rows", { params, body: [] });
  if (!answer.data) throw refusal(answer);
}

function sendBatch(body: ImportRow[], { client, importId, isDryRun }: Sending) {
  const headers = isDryRun ? { prefer: "dry-run" } : {};
  return client.POST("/imports/{importId}/rows", { params: { path: { importId } }, body, headers });
}

type Placed = { row: ImportRow; index: number };

/** Rejects the rows that an error names and returns the rest to send again; if it names none, halves the batch to find them. */
function withoutRefused(batch: Placed[], answer: Refused, { reject, advance }: Sending): Placed[][] {
  const named = refusedElements(refusal(answer).details ?? [], batch.length);
  if (named.size === 0 && batch.length > 1) return batchesOf(batch, Math.ceil(batch.length / 2));
  if (named.size === 0) named.set(0, reasonOf(answer));
  for (const [at, reason] of named) reject(batch[at]!.index, reason);
  advance(named.size);
  return batchesOf(batch.filter((_, at) => !named.has(at)));
}

/** Why the service refuses a request, in words. */
function reasonOf(answer: Refused): string {
  const { message, details = [] } = refusal(answer);
  return details.length === 0 ? message : details.map((detail) => `${detail.path.replace(/^body\./, "")} ${detail.message}`).join("; ");
}
