import { createHash } from "node:crypto";
import type { Database, Transaction } from "../db/database.ts";
import { Problem } from "../problem.ts";
import { errorBody } from "./answers.ts";
import { etagOf } from "./conditions.ts";
import { findAnswer, keepAnswer, type KeptAnswer, type Slot } from "./idempotency.store.ts";
import type { Answer } from "./operation.ts";
import { statuses } from "./statuses.ts";

/** Refusals that are kept: those that the same request would meet again (decisions, part 1). */
export const keptStatuses = new Set([404, 409, 412, 422]);
const keyForm = /^[\x20-\x7e]{1,255}$/;

/**
 * The key of a request.
 *
 * @throws Problem `invalid_request` unless it is 1–255 printable ASCII characters
 */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && keyForm.test(header)) return header;
  throw new Problem("invalid_request", "Idempotency-Key must be 1 to 255 printable ASCII characters.", {
    details: [{ path: "header.Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" }],
  });
}

/** Runs requests that carry an Idempotency-Key, each at most once per account, method and path in 24 hours. */
export function idempotentRunner(db: Database) {
  const running = new Set<string>();

  /** Runs `body` in a transaction that also keeps its answer, or gives the answer that is kept. */
  return async (slot: Slot, input: unknown, now: number, body: (tx: Transaction) => Promise<Answer>): Promise<Answer> => {
    const name = JSON.stringify([slot.accountId, slot.target, slot.key]);
    if (running.has(name)) throw inUse();
    running.add(name);
    const bodyHash = createHash("sha256").update(canonical(input)).digest("base64url");
    const keptOrNew = (make: (tx: Transaction) => Promise<Answer>): Promise<Answer> =>
      db.write(async (tx) => {
        if (!(await tx.tryLock(name))) throw inUse(); // on another node
        const kept = await findAnswer(tx, slot, now);
        if (kept) return replay(kept, bodyHash);
        const answer = await make(tx);
        await keepAnswer(tx, slot, keptForm(answer, bodyHash), now);
        return answer;
      });
    try {
      return await keptOrNew(body);
    } catch (error) {
      if (!(error instanceof Problem) || !isKept(error)) throw error;
      // The lock went with the transaction: what another node has kept since then is the first answer.
      const refusal = { status: statuses[error.code], body: errorBody(error) };
      const answer = await keptOrNew(async () => refusal);
      if (answer !== refusal) return answer;
      throw error;
    } finally {
      running.delete(name);
    }
  };
}

function inUse(): Problem {
  return new Problem("idempotency_key_in_use", "The first request with this Idempotency-Key is still running.");
}

function isKept({ code }: Problem): boolean {
  return keptStatuses.has(statuses[code]) && code !== "idempotency_key_reused" && code !== "idempotency_key_in_use";
}

function keptForm({ status, headers, version, body }: Answer, bodyHash: string): KeptAnswer {
  return {
    bodyHash,
    status,
    headers: { ...headers, ...(version !== undefined && { etag: etagOf(version) }) },
    body: body === undefined ? null : JSON.stringify(body),
  };
}

function replay(kept: KeptAnswer, bodyHash: string): Answer {
  if (kept.bodyHash !== bodyHash) throw new Problem("idempotency_key_reused", "This Idempotency-Key was used with another body.");
  const body: unknown = kept.body === null ? undefined : JSON.parse(kept.body);
  return { status: kept.status, headers: { ...kept.headers, "idempotent-replayed": "true" }, body };
}

/** JSON with the members of each object in one order: two bodies that say the same are the same. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, member: unknown) =>
      member !== null && typeof member === "object" && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    ) ?? ""
  );
}
