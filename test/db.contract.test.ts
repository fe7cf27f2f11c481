import assert from "node:assert/strict";
import { suite, test } from "node:test";
import sql from "sql-template-tag";
import { breaks, type Transaction, type Database } from "../src/platform/db/database.ts";
import { addShelf, engines, insertShelf, openShelves, schemaFor, shelfById, shelves, shelvesInOrder } from "./support/shelves.ts";

for (const engine of Object.keys(engines) as Database["engine"][]) {
  suite(`the storage port on ${engine}`, () => {
    const schema = schemaFor(engine);
    const placeFor = engines[engine];

    test("it says which engine it is", async (t) => {
      const { db } = await openShelves(t, engine);
      assert.equal(db.engine, engine);
    });

    test("a write resolves with what its body returned, and every query sees it from then on", async (t) => {
      const { db } = await openShelves(t, engine);
      const given = await db.write(async (tx) => {
        await addShelf(tx, 1);
        return "done";
      });
      assert.equal(given, "done");
      assert.deepEqual(await shelves(db), [1]);
    });

    test("a body that starts over changes what one run of it changes, and holds no lock of the run before", async (t) => {
      const { db } = await openShelves(t, engine);
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
      const { db } = await openShelves(t, engine);
      let outside: number[] = [];
      const inside = await db.write(async (tx) => {
        await addShelf(tx, 1);
        outside = await shelves(db);
        return tx.query(sql`SELECT id FROM shelves`);
      });
      assert.deepEqual([inside.length, outside], [1, []]);
    });

    test("a body that throws changes nothing, and its error reaches the caller", async (t) => {
      const { db } = await openShelves(t, engine);
      const error = new Error("changed my mind");
      const thrown = db.write(async (tx) => {
        await addShelf(tx, 1);
        throw error;
      });
      await assert.rejects(thrown, (given) => given === error);
      assert.deepEqual(await shelves(db), []);
    });

    test("of concurrent writes, each one that fails rolls back only its own changes", async (t) => {
      const { db } = await openShelves(t, engine);
      const writes = Array.from({ length: 90 }, (_, id) =>
        db.write(async (tx) => {
          await addShelf(tx, id);
          if (id % 3 === 0) throw new Error("refused");
          if (id % 3 === 1) await addShelf(tx, id + 1_000);
        }),
      );
      const outcomes = await Promise.allSettled(writes);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        Array.from({ length: 90 }, (_, id) => (id % 3 === 0 ? "rejected" : "fulfilled")),
      );
      const kept = Array.from({ length: 90 }, (_, id) => id).filter((id) => id % 3 !== 0);
      assert.deepEqual(await shelves(db), [...kept, ...kept.filter((id) => id % 3 === 1).map((id) => id + 1_000)]);
    });

    test("a conditional statement holds under concurrency: a single unit is taken once", async (t) => {
      const { db } = await openShelves(t, engine);
      await db.write((tx) => addShelf(tx, 1, "stock", 10));
      const take = () => db.write((tx) => tx.query(sql`UPDATE shelves SET size = size - 1 WHERE id = 1 AND size >= 1 RETURNING size`));
      const taken = (await Promise.all(Array.from({ length: 50 }, take))).filter((rows) => rows.length === 1);
      assert.equal(taken.length, 10);
    });

    test("a broken constraint raises its kind, and the other statements of the body are rolled back with it", async (t) => {
      const { db } = await openShelves(t, engine);
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

    test("a dry run returns its body's result or throws its error, and changes nothing", async (t) => {
      const { db } = await openShelves(t, engine);
      const body = async (tx: Transaction) => {
        await addShelf(tx, 1);
        return (await tx.query(sql`SELECT id FROM shelves WHERE id = 1`)).length;
      };
      const error = new Error("refused");
      const [counted, , refused] = await Promise.allSettled([
        db.write(body, { isDryRun: true }),
        db.write((tx) => addShelf(tx, 2)),
        db.write(async (tx) => Promise.reject((await addShelf(tx, 3), error)), { isDryRun: true }),
      ]);
      assert.deepEqual(
        [counted, refused],
        [
          { status: "fulfilled", value: 1 },
          { status: "rejected", reason: error },
        ],
      );
      assert.deepEqual(await shelves(db), [2]);
    });

    test("inputs of one kind end as if each had been written alone, whichever of them are written as one batch", async (t) => {
      const { db } = await openShelves(t, engine);
      let isFailing = false;
      const runs: number[][] = [];
      const kind = async (tx: Transaction, inputs: readonly { id: number }[]) => {
        if (inputs.length > 1) runs.push(inputs.map(({ id }) => id));
        const written = inputs.filter(({ id }) => inputs.length === 1 || id % 2 === 0);
        for (const { id } of written) await addShelf(tx, id);
        if (inputs.length > 1 ? isFailing : written[0]!.id % 5 === 0) throw new Error("refused");
        return inputs.map((input) => (written.includes(input) ? `${input.id} of ${inputs.length}` : undefined));
      };
      const add = (id: number) => db.batch(kind, { id });
      const outcomesOf = (ids: number[]) => Promise.all(ids.map((id) => add(id).catch((error: Error) => error.message)));

      assert.deepEqual(await outcomesOf([1, 2, 3, 5]), ["1 of 1", "2 of 4", "3 of 1", "refused"]);
      isFailing = true;
      const between = db.write((tx) => addShelf(tx, 20));
      assert.deepEqual(await outcomesOf([12, 14, 15]), ["12 of 1", "14 of 1", "refused"]);
      await between;
      assert.deepEqual(await shelves(db), [1, 2, 3, 12, 14, 20]);
      assert.equal(await add(16), "16 of 1"); // nothing waits beside it
      assert.deepEqual(runs, [
        [1, 2, 3, 5],
        [12, 14, 15],
      ]);
    });

    test("other work has turns of the event loop between the pages of long reads, however many run at once", async (t) => {
      const { db } = await openShelves(t, engine);
      const readers = Array.from({ length: 20 }, (_, i) => db.as({ caller: i % 2 }));
      let isOver = false;
      let turns = 0;
      const count = () => void (isOver || ((turns += 1), setImmediate(count)));
      setImmediate(count);
      const readTen = async (reader: Database) => {
        for (let page = 0; page < 10; page++) assert.deepEqual(await reader.scan(() => reader.rows(shelfById, [page])), []);
      };
      await Promise.all(readers.map(readTen));
      isOver = true;
      assert.ok(turns >= 10, `${turns} turns`);
    });

    test("other work has turns of the event loop between the statements of a long body", async (t) => {
      const { db } = await openShelves(t, engine);
      const long = sql`WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 100000) SELECT MAX(n) FROM counted`;
      const seen: number[] = [];
      let turns = 0;
      await db.write(async (tx) => {
        const counting = setInterval(() => (turns += 1), 1);
        for (let i = 0; i < 8; i++) seen.push(turns, (await tx.query(long)).length);
        clearInterval(counting);
      });
      assert.ok(seen.at(-2)! >= 2, seen.join());
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
      await assert.rejects(async () => first.rows(shelfById, [1]), { code: "unavailable" });
      await Promise.all([...begun, closed]);
      await assert.rejects(shelves(first), { code: "unavailable" });
      const second = await place.open();
      t.after(() => second.close());
      assert.equal((await shelves(second)).length, 50);
    });

    test("a transaction cannot be used after its body has ended", async (t) => {
      const { db } = await openShelves(t, engine);
      let kept: Transaction | undefined;
      await db.write(async (tx) => {
        kept = tx;
      });
      await assert.rejects(async () => kept && addShelf(kept, 1));
      await assert.rejects(async () => kept?.query(sql`DELETE FROM shelves`));
      await assert.rejects(async () => kept?.rows(shelfById, [1]));
      await assert.rejects(async () => kept?.run(insertShelf, [1, "shelf", 1]));
      await assert.rejects(async () => kept?.insert(shelvesInOrder, [["shelf", 1]]));
      assert.deepEqual(await shelves(db), []);
    });
  });
}
