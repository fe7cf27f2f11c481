import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { canonicalJson } from "../canonical-json.ts";
import type { NowRange } from "../clock.ts";
import type { Awaitable, Database, Transaction } from "../db/database.ts";
import { statusOf } from "../error-table.ts";
import { attempt } from "../parse.ts";
import { invalidAt, Problem } from "../problem.ts";
import { errorBody } from "./answers.ts";
import { etagOf } from "./conditions.ts";
import { findAnswer, keepAnswer, type KeptAnswer, type Slot } from "./idempotency.store.ts";
import type { Answer } from "./operation.ts";

/** Statuses of the refusals that are kept: the same request would be refused again (specification 1.8). */
export const keptStatuses = new Set([404, 409, 412, 422]);
export const replayed = "idempotent-replayed";
const keyPath = "header.Idempotency-Key";
export const idempotencyKeyForm = /^[\x20-\x7e]{1,255}$/;
/**
 * The pauses (ms) before a request asks again whether another one with its key still holds the lock of the key: 1.5 s in all. That one's node may be gone, and
 * its lock with it a moment later, while a balancer repeats the request at once.
 */
const pausesMs = [50, 100, 150, 200, 500, 500];

/**
 * The Idempotency-Key of a request.
 *
 * @throws Problem `invalid_request` unless it is 1–255 printable ASCII characters
 */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && idempotencyKeyForm.test(header)) return header;
  const message = "must be 1 to 255 printable ASCII characters";
  throw invalidAt(keyPath, message, `Idempotency-Key ${message}.`);
}

type Body = (tx: Transaction) => Awaitable<Answer>;
/** Whether the client of a request has closed its connection. */
type HasGone = () => boolean;

/** Runs requests that carry an Idempotency-Key, each at most once per account, method and path in `answersKeptMs`. */
export function idempotentRunner(answersKeptMs: number) {
  const begin = openTurns();

  /**
   * Does what `run` does, once; undefined if another node, or a request whose client has gone, still holds the key. It looks for a kept answer before it locks
   * anything, so a request that arrives after the first one has finished always gets its answer, however many arrive at once.
   */
  const attemptRun = async (
    db: Database,
    slot: Slot,
    bodyHash: string,
    since: number,
    now: number,
    body: Body,
    hasGone: HasGone,
  ): Promise<Answer | undefined> => {
    const name = nameOf(slot);
    const earlier = await findAnswer(db, slot, since);
    if (earlier) return replay(db, earlier, bodyHash);
    const end = begin(name, hasGone);
    const keptOrNew = (make: Body): Promise<Answer | undefined> =>
      db.write(async (tx) => {
        // Locks first, to find the answer of a request that another node finishes between the two steps.
        const [isOurs, kept] = await Promise.all([tx.tryLock(name), findAnswer(tx, slot, since)]);
        if (kept) return replay(db, kept, bodyHash);
        if (!isOurs) return undefined;
        const answer = await make(tx);
        await keepAnswer(tx, slot, keptForm(answer, bodyHash), now);
        return answer;
      });
    try {
      return await keptOrNew(body);
    } catch (error) {
      if (!(error instanceof Problem) || !isKept(error)) throw error;
      // The transaction released the lock, so another node may have kept the first answer meanwhile.
      const refusal = { status: statusOf(error.code), body: errorBody(error) };
      const answer = await keptOrNew(() => refusal);
      if (answer !== refusal) return answer;
      throw error;
    } finally {
      end();
    }
  };

  /**
   * Returns the kept answer, or runs `body` in a transaction that also keeps its answer.
   *
   * @throws Problem `idempotency_key_in_use` if the first request with the key is still running after `pausesMs`
   */
  const run = async (db: Database, slot: Slot, bodyHash: string, now: NowRange, body: Body, hasGone: HasGone): Promise<Answer> => {
    for (const pauseMs of [...pausesMs, undefined]) {
      const answer = await attemptRun(db, slot, bodyHash, now.earliest - answersKeptMs, now.latest, body, hasGone);
      if (answer) return answer;
      if (pauseMs !== undefined) await sleep(pauseMs);
    }
    throw inUse();
  };
  return { run, prepareOnce: preparer(answersKeptMs) };
}

function preparer(answersKeptMs: number) {
  const begin = openTurns();

  /**
   * Runs the whole of a request whose upload takes long to prepare, so that it counts as running before `run`.
   *
   * @throws Problem `idempotency_key_in_use` while another one with its key is being prepared
   */
  return async (db: Database, slot: Slot, now: NowRange, make: () => Promise<Answer>, hasGone: HasGone): Promise<Answer> => {
    if (await findAnswer(db, slot, now.earliest - answersKeptMs)) return make();
    const end = begin(nameOf(slot), hasGone);
    return make().finally(end);
  };
}

/**
 * Lets one request of a name run at a time, and returns what ends it. One whose client has gone does not keep others out: it may wait for its place among the
 * writes for seconds, and its client, or a balancer, has sent it again. The lock in the transaction still lets only one of them change anything.
 */
function openTurns() {
  const running = new Map<string, HasGone>();
  return (name: string, hasGone: HasGone): (() => void) => {
    if (running.get(name)?.() === false) throw inUse();
    running.set(name, hasGone);
    return () => void (running.get(name) === hasGone && running.delete(name));
  };
}

function nameOf({ accountId, target, key }: Slot): string {
  return JSON.stringify([accountId, target, key]);
}

function reused(): Problem {
  const details = [{ path: keyPath, message: "was used with another body: send a new key" }];
  return new Problem("idempotency_key_reused", "This Idempotency-Key was used with another body. Send a new key.", { details });
}

function inUse(): Problem {
  return new Problem("idempotency_key_in_use", "The first request with this Idempotency-Key is still running.");
}

function isKept({ code }: Problem): boolean {
  return keptStatuses.has(statusOf(code)) && code !== "idempotency_key_reused" && code !== "idempotency_key_in_use";
}

function keptForm({ status, headers, version, body }: Answer, bodyHash: string): KeptAnswer {
  return {
    bodyHash,
    status,
    headers: { ...headers, ...(version !== undefined && { etag: etagOf(version) }) },
    body: body === undefined ? null : JSON.stringify(body),
  };
}

/** Whether an answer was made for an earlier request with the same Idempotency-Key. */
export function isReplay({ headers }: Pick<Answer, "headers">): boolean {
  return headers?.[replayed] !== undefined;
}

function replay(db: Pick<Database, "reportDamage">, kept: KeptAnswer, bodyHash: string): Answer {
  if (kept.bodyHash !== bodyHash) throw reused();
  const body = kept.body === null ? undefined : attempt(() => JSON.parse(kept.body!) as unknown);
  if (kept.body !== null && body === undefined) throw db.reportDamage("the answer that is kept for an Idempotency-Key is damaged");
  return { status: kept.status, headers: { ...kept.headers, [replayed]: "true" }, body };
}

/** Returns the hash of a body, which is the same for equal bodies. */
export function hashOf(body: unknown): string {
  return createHash("sha256")
    .update(body === undefined ? "" : canonicalJson(body))
    .digest("base64url");
}
