import type { Database, Transaction } from "../db/database.ts";
import type { Problem } from "../problem.ts";
import { problemOf } from "./answers.ts";
import { isReplay, replayed } from "./idempotency.ts";
import type { Answer, Step, Steps } from "./operation.ts";

/** What the steps of a call run with. */
type StepContext = {
  db: Database;
  isDryRun: boolean;
  /** Runs the transaction of a step. `place` tells the steps of the call apart. */
  transact: (step: Step, place: string) => Promise<Answer>;
  onError: (error: unknown) => void;
};

export function openSteps({ db, isDryRun, transact, onError }: StepContext): Steps {
  return {
    db,
    isDryRun,
    // The first step has the call's own place, so a call that has one step keeps its answer as any other write does.
    run: (from, step) => transact(step, from === 0 ? "" : ` ${from}`),
    problemOf(error) {
      const problem = problemOf(error);
      if (problem.code === "internal") onError(error);
      return problem;
    },
  };
}

/** How a call changes many items: one at a time, several in a step. */
type ManyChanges<I, R> = {
  /** Changes the first items, at least one, and returns their results. */
  change: (tx: Transaction, items: readonly I[]) => Promise<R[]>;
  /** Makes the result of an item that a problem kept from being changed. */
  refused: (item: I, problem: Problem) => R;
};

/**
 * Changes items in steps, in their order, and answers with a result for each. Each step waits for its turn as any write does. What earlier steps
 * changed stays when a step fails; the items that are left then have the problem's result.
 *
 * @throws the error of the first step: then nothing has changed
 */
export async function changeInSteps<I, R>(steps: Steps, items: readonly I[], { change, refused }: ManyChanges<I, R>): Promise<Answer> {
  const results: R[] = [];
  let isReplayed = true;
  while (results.length < items.length) {
    const left = items.slice(results.length);
    try {
      const answer = await steps.run(results.length, async (tx) => ({
        status: 200,
        body: { results: await change(tx, left) },
      }));
      results.push(...(answer.body as { results: R[] }).results);
      isReplayed &&= isReplay(answer);
    } catch (error) {
      if (results.length === 0) throw error;
      const problem = steps.problemOf(error);
      for (const item of left) results.push(refused(item, problem));
      isReplayed = false;
    }
  }
  return { status: 200, body: { results }, ...(isReplayed && { headers: { [replayed]: "true" } }) };
}
