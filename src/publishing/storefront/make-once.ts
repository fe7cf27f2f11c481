import { setImmediate as nextTurn } from "node:timers/promises";
import { type Sharing } from "../../platform/jobs/runs.ts";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";

/** What `makeOnce` makes, and in whose turn. */
type Making<V> = {
  key: string;
  turn: string;
  places: FairShare<string>;
  /** What is being made, by key. */
  running: Sharing<string, V>;
  /** Returns the value if it was made before and can still be used. */
  kept: () => V | undefined;
  make: () => Promise<V>;
};

/**
 * Returns the kept value, or makes one in the visitor's turn. Concurrent requests share a value that is being made, but not one that still waits
 * for its turn, which may be long in coming if its visitor has much waiting. Each begins in a turn of the event loop, because with an embedded
 * database nothing else would run between a page and the next.
 *
 * @throws Problem `unavailable` if it gets no turn
 */
export async function makeOnce<V>({ key, turn, places, running, kept, make }: Making<V>): Promise<V> {
  const found = (): V | Promise<V> | undefined => kept() ?? running.get(key);
  const inTurn = async (): Promise<V> => {
    await nextTurn();
    return kept() ?? running.run(key, make);
  };
  return found() ?? runInTurn(places, turn, inTurn);
}
