import assert from "node:assert/strict";
import { suite, test } from "node:test";
import sql from "sql-template-tag";
import { andThen, breaks, type Awaitable, type Transaction, type Database } from "../src/platform/db/database.ts";
import {
  addShelf,
  engines,
  growShelves,
  insertBox,
  insertShelf,
  lockedShelf,
  openShelves,
  schemaFor,
  shelfById,
  shelves,
  shelvesInOrder,
} from "./support/shelves.ts";

for (const engine of Object.keys(engines) as Database["engine"][]) {
  suite(`values and statements of the storage port on ${engine}`, () => {
    const schema = schemaFor(engine);
    const placeFor = engines[engine];

    test("text, whole numbers up to 2^53, booleans, nulls and bytes come back as they went in", async (t) => {
      const { db } = await openShelves(t, engine);
      const bytes = db.engine === "sqlite" ? "BLOB" : "BYTEA";
      await db.write((tx) => tx.script(`CREATE TABLE kinds (whole BIGINT, words TEXT, truth BOOLEAN, raw ${bytes})`));
      const rows = [
        { whole: Number.MAX_SAFE_INTEGER, words: "🐶 'quoted' \"text\" \\ %", truth: true, raw: Uint8Array.of(0, 1, 255) },
        { whole: -Number.MAX_SAFE_INTEGER, words: "", truth: false, raw: new Uint8Array() },
        { whole: null, words: null, truth: null, raw: null },
      ];
      for (const { whole, words, truth, raw } of rows) {
        await db.write((tx) => tx.query(sql`INSERT INTO kinds (whole, words, truth, raw) VALUES (${whole}, ${words}, ${truth}, ${raw})`));
      }
      type Kinds = { whole: number | null; words: string | null; truth: boolean | number | null; raw: Uint8Array | null };
      const read = await db.query<Kinds>(sql`SELECT * FROM kinds`);
      assert.deepEqual(
        read.map(({ whole, words, truth, raw }) => ({
          whole,
          words,
          truth: truth === null ? null : Boolean(truth),
          raw: raw && new Uint8Array(raw),
        })),
        rows,
      );
    });

    test("whole numbers are compared as such: a filter by number finds its row", async (t) => {
      const { db } = await openShelves(t, engine);
      await db.write((tx) => addShelf(tx, 4_503_599_627_370_497));
      assert.equal((await db.query(sql`SELECT id FROM shelves WHERE id = ${4_503_599_627_370_497}`)).length, 1);
      assert.equal((await db.query(sql`SELECT id FROM shelves WHERE id = ${4_503_599_627_370_496}`)).length, 0);
    });

    test("a value that may not be bound is refused, and never read as another one", async (t) => {
      const { db } = await openShelves(t, engine);
      for (const value of [undefined, new Date(0), { a: 1 }, [1]]) {
        await assert.rejects(db.query(sql`SELECT id FROM shelves WHERE id = ${value}`), TypeError);
      }
    });

    test("text sorts and compares bytewise", async (t) => {
      const { db } = await openShelves(t, engine);
      const labels = ["b", "B", "a", "é", "z", "🐶", "\uffee", "Ä", " ", "_", "%"];
      for (const [id, label] of labels.entries()) await db.write((tx) => addShelf(tx, id, label));
      const rows = await db.query<{ label: string }>(sql`SELECT label FROM shelves ORDER BY label`);
      const bytewise = labels.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(
        rows.map(({ label }) => label),
        bytewise,
      );
      assert.equal((await db.query(sql`SELECT id FROM shelves WHERE label > ${"z"} AND label < ${"\uffee"}`)).length, 2);
    });

    const next = (tx: Transaction, name: "shelf" | "box") =>
      tx
        .query<{ id: number }>(name === "shelf" ? sql`SELECT nextval('shelf') AS id` : sql`SELECT nextval('box') AS id`)
        .then(([row]) => Number(row?.id));

    test("a sequence never returns a value twice: not after a failure, nor after the database was closed", async (t) => {
      const place = await placeFor(t);
      const seen = new Set<number>();
      for (let opening = 0; opening < 3; opening++) {
        const db = await place.open();
        await db.write(async (tx) => {
          if (opening === 0 && db.engine !== "sqlite") await tx.script("CREATE SEQUENCE shelf; CREATE SEQUENCE box");
        });
        for (let i = 0; i < 3; i++) {
          const given = await db.write((tx) => next(tx, "shelf"));
          assert.ok(Number.isSafeInteger(given) && given > 0 && !seen.has(given));
          seen.add(given);
          await assert.rejects(
            db.write(async (tx) => {
              await next(tx, "shelf");
              throw new Error("refused");
            }),
          );
        }
        await db.close();
      }
    });

    test("concurrent writes get different values, and each sequence counts separately", async (t) => {
      const place = await placeFor(t);
      const db = await place.open();
      t.after(() => db.close());
      await db.write(async (tx) => {
        if (db.engine !== "sqlite") await tx.script("CREATE SEQUENCE shelf; CREATE SEQUENCE box");
      });
      const values = await Promise.all(Array.from({ length: 100 }, () => db.write((tx) => next(tx, "shelf"))));
      assert.equal(new Set(values).size, 100);
      assert.equal(await db.write((tx) => next(tx, "box")), 1);
    });

    test("an insert returns the identifiers of its rows, in their order, after a failure and after a restart too", async (t) => {
      const place = await placeFor(t);
      const db = await place.open();
      await db.write((tx) => tx.script(db.engine === "sqlite" ? schema : `${schema}CREATE SEQUENCE shelf`));
      const add = (labels: string[]) => (tx: Transaction) =>
        tx.insert(
          shelvesInOrder,
          labels.map((label) => [label, 1]),
        );
      const labels = ["upper", "middle", "lower"];
      const first = await db.write(add(labels));
      await assert.rejects(db.write(add(["other", "upper"])), (error) => breaks("unique", error));
      await db.close();
      const reopened = await place.open();
      t.after(() => reopened.close());
      const [last] = await reopened.write(add(["last"]));
      const rows = await reopened.query<{ id: number; label: string }>(sql`SELECT id, label FROM shelves ORDER BY id`);
      assert.deepEqual(
        rows.map(({ id, label }) => [id, label]),
        [...first, last].map((id, i) => [id, [...labels, "last"][i]]),
      );
    });

    test("a prepared statement returns rows as arrays and counts of changed rows, at once if the engine is embedded", async (t) => {
      const { db } = await openShelves(t, engine);
      const changed = await db.write((tx) =>
        andThen(tx.run(insertShelf, [1, "½ 'shelf' ?", 2 ** 53 - 1]), () =>
          andThen(tx.run(insertShelf, [2, "shelf 2", 5]), () => tx.run(growShelves, [-5, 5])),
        ),
      );
      assert.equal(changed, 2);
      const read = db.rows(shelfById, [1]);
      assert.equal(Array.isArray(read), engine === "sqlite");
      assert.deepEqual([...(await read)[0]!], [1, "½ 'shelf' ?", 2 ** 53 - 6]);
      assert.deepEqual(await db.rows(shelfById, [9]), []);
      const [locked] = await db.write((tx) => tx.rows(lockedShelf, [2]));
      assert.deepEqual([...locked!], [0]);
      const [kinds] = await db.query<{ id: string; size: string }>(
        engine === "sqlite"
          ? sql`SELECT typeof(id) AS id, typeof(size) AS size FROM shelves WHERE id = 1`
          : sql`SELECT 'integer' AS id, 'integer' AS size`,
      );
      assert.deepEqual({ ...kinds }, { id: "integer", size: "integer" });
    });

    test("a prepared statement that breaks a constraint raises its kind, and its body changes nothing", async (t) => {
      const { db } = await openShelves(t, engine);
      const broken: [Parameters<typeof breaks>[0], (tx: Transaction) => Awaitable<number>][] = [
        ["unique", (tx) => tx.run(insertShelf, [1, "again", 1])],
        ["check", (tx) => tx.run(insertShelf, [9, "too small", -1])],
        ["foreign_key", (tx) => tx.run(insertBox, [1, 99])],
      ];
      await db.write((tx) => addShelf(tx, 1));
      for (const [kind, body] of broken) {
        const write = db.write((tx) => andThen(tx.run(insertShelf, [2, "shelf 2", 1]), () => body(tx)));
        await assert.rejects(write, (error) => breaks(kind, error));
      }
      assert.deepEqual(await shelves(db), [1]);
    });
  });
}
