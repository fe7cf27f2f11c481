import assert from "node:assert/strict";
import { test } from "node:test";
import sql from "sql-template-tag";
import type { Database, Transaction } from "../src/platform/db/database.ts";
import type { Problem } from "../src/platform/problem.ts";
import { addShelf, openShelves, shelves } from "./support/shelves.ts";

/** Adds shelves in batches, and counts those of several and those of one. */
function shelfWriter(db: Database) {
  const runs = { together: 0, alone: 0 };
  const kind = async (tx: Transaction, inputs: readonly { id: number }[]) => {
    const run = inputs.length > 1 ? "together" : "alone";
    runs[run] += 1;
    for (const { id } of inputs) await addOrGrow(tx, id);
    return inputs.map(({ id }) => `${run} ${id}`);
  };
  const add = (id: number): Promise<string> => db.batch(kind, { id }).catch((error: Problem) => error.code);
  return { runs, add };
}

const addOrGrow = (tx: Transaction, id: number) =>
  tx.query(sql`
    INSERT INTO shelves (id, label, size) VALUES (${id}, ${`shelf ${id}`}, 1) ON CONFLICT (id) DO UPDATE SET size = shelves.size + 1`);

test("a group whose connection is lost in its commit is refused, and no write of it runs again", async (t) => {
  const { db } = await openShelves(t, "postgres");
  await db.write((tx) =>
    tx.script(`
      CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON shelves DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lose()`),
  );
  const { runs, add } = shelfWriter(db);
  assert.deepEqual(await Promise.all([add(1), add(2), add(3)]), ["unavailable", "unavailable", "unavailable"]);
  assert.deepEqual(runs, { together: 1, alone: 0 });
  assert.deepEqual(await shelves(db), []);
});

test("a row that another transaction keeps locked refuses its own write, and no other of the group", async (t) => {
  const { db } = await openShelves(t, "postgres");
  await db.write((tx) => addShelf(tx, 2));
  const { runs, add } = shelfWriter(db);
  const holding = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = db.write(async (tx) => {
    await tx.query(sql`SELECT id FROM shelves WHERE id = 2${tx.forUpdate}`);
    locked.resolve();
    await holding.promise;
  });
  await locked.promise;
  const outcomes = await Promise.all([add(1), add(2), add(3)]);
  holding.resolve();
  await holder;
  assert.deepEqual(outcomes, ["alone 1", "unavailable", "alone 3"]);
  assert.deepEqual(runs, { together: 1, alone: 3 });
});
