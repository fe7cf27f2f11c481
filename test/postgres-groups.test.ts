import assert from "node:assert/strict";
import { test } from "node:test";
import sql from "sql-template-tag";
import type { Database, Transaction } from "../src/platform/db/database.ts";
import { Problem } from "../src/platform/problem.ts";
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

test("while the server has no room, one write every half a second is tried, alone or in a group, and the others are refused at once", async (t) => {
  let ms = 0;
  const { db } = await openShelves(t, "postgres", { timer: { now: () => ms, cpu: () => 0 } });
  const tried: number[] = [];
  let isFull = true;
  const put = async (tx: Transaction, id: number): Promise<void> => {
    tried.push(id);
    if (isFull) await tx.script("DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$");
    await addShelf(tx, id);
  };
  const kind = async (tx: Transaction, inputs: readonly { id: number }[]) => {
    for (const { id } of inputs) await put(tx, id);
    return inputs.map(() => "done");
  };
  const codeOf = (write: Promise<unknown>): Promise<string> =>
    write.then(
      () => "done",
      (error: Problem) => `${error.code} ${error.headers?.["retry-after"]}`,
    );
  const alone = (id: number): Promise<string> => codeOf(db.write((tx) => put(tx, id)));
  const group = (...ids: number[]): Promise<string[]> => Promise.all(ids.map((id) => codeOf(db.batch(kind, { id }))));
  assert.equal(await alone(1), "unavailable 1");
  assert.deepEqual([await alone(2), ...(await group(3, 4))], ["unavailable 1", "unavailable 1", "unavailable 1"]);
  assert.deepEqual(tried, [1]);
  ms += 500;
  assert.deepEqual([...(await group(5, 6)), await alone(7)], ["unavailable 1", "unavailable 1", "unavailable 1"]);
  assert.deepEqual(tried, [1, 5]);
  ms += 500;
  isFull = false;
  assert.deepEqual([await alone(8), await alone(9), ...(await group(10, 11))], ["done", "done", "done", "done"]);
  assert.deepEqual(await shelves(db), [8, 9, 10, 11]);
});

test("writes that store nothing for a reason of their own use up no try after a full disk, and a dry run does not end the refusals", async (t) => {
  let ms = 0;
  const { db } = await openShelves(t, "postgres", { timer: { now: () => ms, cpu: () => 0 } });
  const codeOf = (body: (tx: Transaction) => Promise<unknown>, isDryRun = false): Promise<string> =>
    db.write(body, { isDryRun }).then(
      () => "done",
      (error: Problem) => error.code,
    );
  const fail = async (): Promise<void> => {
    throw new Problem("not_found", "There is no such shelf.");
  };
  const fill = (tx: Transaction) => tx.script("DO $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$");
  assert.equal(await codeOf(fill), "unavailable");
  ms += 500;
  for (let i = 0; i < 3; i++) assert.equal(await codeOf(fail), "not_found");
  assert.equal(await codeOf((tx) => addShelf(tx, 1), true), "done");
  let meanwhile = "";
  const tried = await codeOf(async (tx) => {
    meanwhile = await codeOf(fail);
    await fill(tx);
  });
  assert.deepEqual([tried, meanwhile, await codeOf(fail)], ["unavailable", "unavailable", "unavailable"], "one write at a time is tried");
  ms += 500;
  assert.deepEqual([await codeOf(fail), await codeOf((tx) => addShelf(tx, 1))], ["not_found", "done"]);
});
