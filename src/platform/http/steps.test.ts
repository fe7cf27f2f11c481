import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import type { Database, Transaction } from "../db/database.ts";
import { openSqlite } from "../db/sqlite.ts";
import { overloaded, type Problem } from "../problem.ts";
import { changeInSteps, openSteps } from "./steps.ts";

type Result = string | number;
const items = Array.from({ length: 7 }, (_, i) => i);

/** Inserts three items in each step. */
async function insert(tx: Transaction, left: readonly number[]): Promise<Result[]> {
  for (const item of left.slice(0, 3)) await tx.query(sql`INSERT INTO items VALUES (${item})`);
  return left.slice(0, 3);
}
const refused = (item: number, { code }: Problem): Result => `${item} ${code}`;

/** A database with a table of items, whose write with this number (from 1) fails with `error`. */
async function openItems(t: TestContext, failsAt = 0, error?: unknown) {
  const real = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => real.close());
  await real.write((tx) => tx.script("CREATE TABLE items (item INTEGER PRIMARY KEY)"));
  let writes = 0;
  const db: Database = {
    ...real,
    write: (body, options) =>
      real.write(async (tx) => {
        const value = await body(tx);
        writes += 1;
        if (writes === failsAt) throw error;
        return value;
      }, options),
  };
  const errors: unknown[] = [];
  return {
    steps: (isDryRun = false) =>
      openSteps({ db, isDryRun, transact: (step) => db.write(step, { isDryRun }), onError: (failure) => errors.push(failure) }),
    stored: async () => (await db.query<{ item: number }>(sql`SELECT item FROM items ORDER BY item`)).map(({ item }) => item),
    errors,
  };
}

test("many changes run in steps, whose results come in order", async (t) => {
  const { steps, stored } = await openItems(t);
  assert.deepEqual(await changeInSteps(steps(), items, { change: insert, refused }), { status: 200, body: { results: items } });
  assert.deepEqual(await stored(), items);
});

test("a later step that gets no turn leaves the earlier ones, and its changes and those after it are refused as unavailable", async (t) => {
  const { steps, stored, errors } = await openItems(t, 2, overloaded("Too many changes wait."));
  const { status, body } = await changeInSteps(steps(), items, { change: insert, refused });
  const rest = [3, 4, 5, 6].map((item) => `${item} unavailable`);
  assert.deepEqual([status, body], [200, { results: [0, 1, 2, ...rest] }]);
  assert.deepEqual([await stored(), errors], [[0, 1, 2], []]);
});

test("if the first step gets no turn, the call is refused, and nothing is done", async (t) => {
  const { steps, stored } = await openItems(t, 1, overloaded("Too many changes wait."));
  await assert.rejects(changeInSteps(steps(), items, { change: insert, refused }), { code: "unavailable" });
  assert.deepEqual(await stored(), []);
});

test("an unexpected error of a later step is reported, and its text is not shown", async (t) => {
  const failure = new Error("secret");
  const { steps, stored, errors } = await openItems(t, 3, failure);
  const { body } = await changeInSteps(steps(), items, { change: insert, refused });
  assert.deepEqual(body, { results: [0, 1, 2, 3, 4, 5, "6 internal"] });
  assert.deepEqual([await stored(), errors], [[0, 1, 2, 3, 4, 5], [failure]]);
});

test("a dry run runs every step, and changes nothing", async (t) => {
  const { steps, stored } = await openItems(t);
  assert.deepEqual((await changeInSteps(steps(true), items, { change: insert, refused })).body, { results: items });
  assert.deepEqual(await stored(), []);
});
