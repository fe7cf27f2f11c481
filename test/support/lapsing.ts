import type { Database, Transaction } from "../../src/platform/db/database.ts";
import { lapseReservations } from "../../src/store/reservations/reservation-answers.store.ts";
import { openAt } from "./databases.ts";

/*
 * Lets the due reservations of a database lapse, and kills its own process just before one of the steps: lapsing.ts PLACE NOW STEP.
 * Each call of the transaction is a step; so are the commit, and the return from it.
 */
const [place = "", now = "", wanted = ""] = process.argv.slice(2);
const db = openAt(place);
let steps = 0;

function step(): void {
  if (++steps === Number(wanted)) process.kill(process.pid, "SIGKILL");
}

/** Wraps a transaction so that each of its calls is a step. */
function inSteps(tx: Transaction): Transaction {
  return new Proxy(tx, {
    get(_, name) {
      const value = Reflect.get(tx, name) as unknown;
      if (typeof value !== "function") return value;
      return (...words: unknown[]): unknown => {
        step();
        return Reflect.apply(value, tx, words);
      };
    },
  });
}

const write: Database["write"] = async (body, options) => {
  const result = await db.write(async (tx) => {
    const done = await body(inSteps(tx));
    step();
    return done;
  }, options);
  step();
  return result;
};
const stepping: Database = { ...db, write, as: () => stepping };
await lapseReservations(stepping, Number(now), (error) => {
  throw error;
});
await db.close();
