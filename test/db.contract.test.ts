import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { breaks, type Database, type Transaction } from "../src/platform/db/database.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";

/** A place in which a database can be opened again and again, and which is gone when the test ends. */
type Place = { open(): Promise<Database> };

/** Every engine of the storage port: a new one is held to the same promises by a line here. */
const engines: Record<Database["engine"], (t: TestContext) => Promise<Place>> = {
  sqlite: async (t) => {
    const file = join(temporaryFolder(t), "test.db");
    return { open: async () => openSqlite(file) };
  },
  postgres: async (t) => {
    const { url, drop } = await newDatabase();
    t.after(drop);
    return { open: async () => openPostgres(url, { onError: () => undefined }) };
  },
};

const schemaFor = (engine: string) => `
  CREATE TABLE shelves (id BIGINT PRIMARY KEY, label TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} NOT NULL UNIQUE, size BIGINT NOT NULL CHECK (size >= 0));
  CREATE TABLE boxes (id BIGINT PRIMARY KEY, shelf_id BIGINT NOT NULL REFERENCES shelves (id));`;

for (const [engine, placeFor] of Object.entries(engines)) {
  suite(`the storage port on ${engine}`, () => {
    const schema = schemaFor(engine);

    /** A new database with two tables, closed when the test ends. */
    async function openShelves(t: TestContext): Promise<{ db: Database; place: Place }> {
      const place = await placeFor(t);
      const db = await place.open();
      t.after(() => db.close());
      await db.write((tx) => tx.script(schema));
      return { db, place };
    }

    const addShelf = (tx: Transaction, id: number, label = `shelf ${id}`, size = 1) =>
      tx.query(sql`INSERT INTO shelves (id, label, size) VALUES (${id}, ${label}, ${size})`);
    const shelves = async (db: Database) => (await db.query<{ id: number }>(sql`SELECT id FROM shelves ORDER BY id`)).map(({ id }) => id);

    test("it says which engine it is", async (t) => {
      const { db } = await openShelves(t);
      assert.equal(db.engine, engine);
    });

    test("a write resolves with what its body gave, and is seen by every query from then on", async (t) => {
      const { db } = await openShelves(t);
      const given = await db.write(async (tx) => {
        await addShelf(tx, 1);
        return "done";
      });
      assert.equal(given, "done");
      assert.deepEqual(await shelves(db), [1]);
    });

    test("a body that starts over changes what one run of it changes, and holds no lock of the run before", async (t) => {
      const { db } = await openShelves(t);
      await db.write((tx) => addShelf(tx, 1));
      let runs = 0;
      await db.write(async (tx) => {
        runs++;
        await tx.query(sql`UPDATE shelves SET size = size + 1 WHERE id = 1`);
        if (runs === 1) tx.startOver();
      });
      const [row] = await db.query<{ size: number }>(sql`SELECT size FROM shelves`);
      assert.equal(row?.size, 2);
      assert.equal(runs, engine === "postgres" ? 2 : 1);
    });

    test("a body sees its own changes; a query never sees an open transaction", async (t) => {
      const { db } = await openShelves(t);
      let outside: number[] = [];
      const inside = await db.write(async (tx) => {
        await addShelf(tx, 1);
        outside = await shelves(db);
        return tx.query(sql`SELECT id FROM shelves`);
      });
      assert.deepEqual([inside.length, outside], [1, []]);
    });

    test("a body that throws changes nothing, and its error is the caller's", async (t) => {
      const { db } = await openShelves(t);
      const error = new Error("changed my mind");
      const thrown = db.write(async (tx) => {
        await addShelf(tx, 1);
        throw error;
      });
      await assert.rejects(thrown, (given) => given === error);
      assert.deepEqual(await shelves(db), []);
    });

    test("of writes made at once each that fails takes back its own changes alone", async (t) => {
      const { db } = await openShelves(t);
      const writes = Array.from({ length: 300 }, (_, id) =>
        db.write(async (tx) => {
          await addShelf(tx, id);
          if (id % 3 === 0) throw new Error("refused");
          if (id % 3 === 1) await addShelf(tx, id + 1_000);
        }),
      );
      const outcomes = await Promise.allSettled(writes);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        Array.from({ length: 300 }, (_, id) => (id % 3 === 0 ? "rejected" : "fulfilled")),
      );
      const kept = Array.from({ length: 300 }, (_, id) => id).filter((id) => id % 3 !== 0);
      assert.deepEqual(await shelves(db), [...kept, ...kept.filter((id) => id % 3 === 1).map((id) => id + 1_000)]);
    });

    test("a conditional statement holds under concurrency: what there is once is taken once", async (t) => {
      const { db } = await openShelves(t);
      await db.write((tx) => addShelf(tx, 1, "stock", 10));
      const take = () => db.write((tx) => tx.query(sql`UPDATE shelves SET size = size - 1 WHERE id = 1 AND size >= 1 RETURNING size`));
      const taken = (await Promise.all(Array.from({ length: 50 }, take))).filter((rows) => rows.length === 1);
      assert.equal(taken.length, 10);
    });

    test("a broken constraint raises its kind, and the other statements of the body are taken back with it", async (t) => {
      const { db } = await openShelves(t);
      await db.write((tx) => addShelf(tx, 1));
      const broken: [Parameters<typeof breaks>[0], (tx: Transaction) => Promise<unknown>][] = [
        ["unique", (tx) => addShelf(tx, 1, "same key")],
        ["unique", (tx) => addShelf(tx, 9, "shelf 1")],
        ["check", (tx) => addShelf(tx, 9, "too small", -1)],
        ["foreign_key", (tx) => tx.query(sql`INSERT INTO boxes (id, shelf_id) VALUES (1, 99)`)],
      ];
      for (const [kind, body] of broken) {
        const write = db.write(async (tx) => {
          await addShelf(tx, 2);
          await body(tx);
        });
        await assert.rejects(write, (error) => breaks(kind, error), kind);
      }
      await db.write((tx) => tx.query(sql`INSERT INTO boxes (id, shelf_id) VALUES (1, 1)`));
      await assert.rejects(
        db.write((tx) => tx.query(sql`DELETE FROM shelves WHERE id = 1`)),
        (error) => breaks("foreign_key", error),
      );
      assert.deepEqual(await shelves(db), [1]);
    });

    test("text, whole numbers up to 2^53, booleans, nulls and bytes come back as they went in", async (t) => {
      const { db } = await openShelves(t);
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
      const { db } = await openShelves(t);
      await db.write((tx) => addShelf(tx, 4_503_599_627_370_497));
      assert.equal((await db.query(sql`SELECT id FROM shelves WHERE id = ${4_503_599_627_370_497}`)).length, 1);
      assert.equal((await db.query(sql`SELECT id FROM shelves WHERE id = ${4_503_599_627_370_496}`)).length, 0);
    });

    test("what may not be bound is refused, and never taken for something else", async (t) => {
      const { db } = await openShelves(t);
      for (const value of [undefined, new Date(0), { a: 1 }, [1]]) {
        await assert.rejects(db.query(sql`SELECT id FROM shelves WHERE id = ${value}`), TypeError);
      }
    });

    test("text sorts and compares bytewise", async (t) => {
      const { db } = await openShelves(t);
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

    test("a sequence never gives a value twice: not after a failure, nor after the database was closed", async (t) => {
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

    test("values of writes made at once are different, and each sequence counts for itself", async (t) => {
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

    test("what was written is there after the database was closed and opened again", async (t) => {
      const place = await placeFor(t);
      const first = await place.open();
      await first.write((tx) => tx.script(schema));
      await first.write((tx) => addShelf(tx, 1));
      await first.close();
      const second = await place.open();
      t.after(() => second.close());
      assert.deepEqual(await shelves(second), [1]);
    });

    test("closing waits for the writes that were begun; later ones, and later queries, are refused as unavailable", async (t) => {
      const place = await placeFor(t);
      const first = await place.open();
      await first.write((tx) => tx.script(schema));
      const begun = Array.from({ length: 50 }, (_, id) => first.write((tx) => addShelf(tx, id)));
      const closed = first.close();
      await assert.rejects(
        first.write((tx) => addShelf(tx, 99)),
        { code: "unavailable" },
      );
      await assert.rejects(shelves(first), { code: "unavailable" });
      await Promise.all([...begun, closed]);
      await assert.rejects(shelves(first), { code: "unavailable" });
      const second = await place.open();
      t.after(() => second.close());
      assert.equal((await shelves(second)).length, 50);
    });

    test("a transaction cannot be used after its body has ended", async (t) => {
      const { db } = await openShelves(t);
      let kept: Transaction | undefined;
      await db.write(async (tx) => {
        kept = tx;
      });
      await assert.rejects(async () => kept && addShelf(kept, 1));
      assert.deepEqual(await shelves(db), []);
    });
  });
}
