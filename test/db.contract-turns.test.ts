import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { openBounds } from "../src/platform/bounds.ts";
import type { Database, Transaction } from "../src/platform/db/database.ts";
import type { ShareLimits } from "../src/platform/jobs/fair-share.ts";
import { Problem } from "../src/platform/problem.ts";
import { addShelf, engines, openShelves, shelves } from "./support/shelves.ts";

/** With one place for transactions, PostgreSQL shows the order of the turns too. The waits of tests do not depend on the machine. */
const limitsOf: Record<Database["engine"], ShareLimits> = {
  sqlite: { waitMs: 600_000 },
  postgres: { waitMs: 600_000, max: 1, reserved: 0, maxPerKey: 1 },
};
/** A time (ms) that is too long for one body while another caller waits. */
const tooLongMs: Record<Database["engine"], number> = { sqlite: 251, postgres: 5_001 };

type Caller = number | "background";

/** A database whose bodies take time only if a test says so. `order` has the callers whose bodies have begun. */
async function openScene(t: TestContext, engine: Database["engine"], limits: ShareLimits = {}) {
  const clock = { ms: 0 };
  const timer = { now: () => clock.ms, cpu: () => clock.ms };
  const own = { ...limitsOf[engine], ...limits };
  const bounds = openBounds(engine === "sqlite" ? { writer: own } : { connections_writes: own }, timer.now);
  const ends: (() => void)[] = [];
  t.after(() => ends.forEach((end) => end())); // before the database closes, which waits for its writes
  const { db } = await openShelves(t, engine, { bounds, timer });
  const order: Caller[] = [];
  let shelf = 0;
  const of = (caller: Caller): Database => (caller === "background" ? db : db.as({ caller }));

  /** A write of one shelf, whose body takes so long (ms). Calls `meanwhile` in it. */
  function write(
    caller: Caller,
    ms = 0,
    { from = of(caller), meanwhile }: { from?: Database; meanwhile?: (() => void) | undefined } = {},
  ): Promise<unknown> {
    const id = ++shelf;
    return from.write(async (tx) => {
      order.push(caller);
      await addShelf(tx, id);
      clock.ms += ms;
      meanwhile?.();
    });
  }

  /** A write of the first account that has its turn until the returned function is called. */
  async function hold(): Promise<() => Promise<void>> {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    ends.push(end.resolve);
    const held = of(1).write(async () => {
      begun.resolve();
      await end.promise;
      clock.ms += 1;
    });
    await begun.promise;
    return async () => {
      end.resolve();
      await held;
    };
  }
  return { db, clock, order, of, write, hold, bounds };
}

/** Resolves to the refusal of a write. */
const refusalOf = (write: Promise<unknown>) =>
  write.then(
    () => "done" as const,
    (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      const { code, isOverload, headers } = error;
      return { code, isOverload, headers };
    },
  );

const overload = { code: "unavailable", isOverload: true, headers: { "retry-after": "1" } };

for (const engine of Object.keys(engines) as Database["engine"][]) {
  suite(`turns of writes on ${engine}`, () => {
    test("a write waits for the body in progress only, however many heavy ones of another account wait", async (t) => {
      const { order, write, hold } = await openScene(t, engine);
      const end = await hold();
      const heavy = Array.from({ length: 1_000 }, () => write(1, 100));
      const light = write(2);
      await end();
      await light;
      assert.equal(order[0], 2);
      await Promise.all(heavy);
      assert.equal(order.length, 1_001);
    });

    test("the same between the writes of five heavy accounts", async (t) => {
      const { order, write, hold } = await openScene(t, engine);
      const end = await hold();
      const lights: { next: number; done: Promise<unknown> }[] = [];
      const addLight = (): void => void lights.push({ next: order.length, done: write(9) });
      const heavy = Array.from({ length: 50 }, (_, i) => write((i % 5) + 1, 100, { meanwhile: i % 10 === 0 ? addLight : undefined }));
      await end();
      await Promise.all(heavy);
      await Promise.all(lights.map(({ done }) => done));
      const places = order.flatMap((caller, i) => (caller === 9 ? [i] : []));
      assert.equal(places.length, 5);
      assert.deepEqual(
        places,
        lights.map(({ next }) => next),
      );
    });

    test("accounts that use the same take turns, whatever the number of their writes", async (t) => {
      const { order, write, hold } = await openScene(t, engine);
      const end = await hold();
      const writes = [...Array.from({ length: 20 }, () => write(2, 10)), write(3, 10), write(3, 10), write(3, 10)];
      await end();
      await Promise.all(writes);
      assert.deepEqual(order.slice(0, 6).filter((caller) => caller === 3).length, 3);
    });

    test("work of no caller goes first", async (t) => {
      const { order, write, hold } = await openScene(t, engine);
      const end = await hold();
      const writes = [...Array.from({ length: 20 }, (_, i) => write(i + 2)), write("background"), write("background")];
      await end();
      await Promise.all(writes);
      assert.deepEqual(order.slice(0, 2), ["background", "background"]);
    });

    test("when too many wait, the newest write of the account with most is refused, and did nothing", async (t) => {
      const { db, order, write, hold } = await openScene(t, engine, { waitingMax: 4 });
      const end = await hold();
      const many = Array.from({ length: 4 }, () => refusalOf(write(2)));
      const other = write(3);
      assert.deepEqual(await many[3], overload);
      assert.deepEqual(await refusalOf(write(2)), overload);
      await end();
      assert.deepEqual(await Promise.all(many.slice(0, 3)), ["done", "done", "done"]);
      await other;
      assert.deepEqual(order.filter((caller) => caller === 2).length, 3);
      assert.deepEqual(await shelves(db), [1, 2, 3, 5]);
    });

    test("a write whose turn does not come in time is refused, and did nothing", async (t) => {
      const { db, order, write, hold, bounds } = await openScene(t, engine, { waitMs: 1 });
      const end = await hold();
      assert.deepEqual(await refusalOf(write(2)), overload);
      await end();
      await write(3);
      assert.deepEqual([order, await shelves(db)], [[3], [2]]);
      const refused = bounds.metrics().find(({ name }) => name === "petstore_turns_refused_total");
      assert.deepEqual(
        refused?.samples.filter(({ value }) => value > 0).map(({ labels, value }) => [labels?.["of"], value]),
        [[engine === "sqlite" ? "writer" : "connections_writes", 1]],
      );
    });

    test("a write whose client has gone before its turn does nothing; one that has begun is committed", async (t) => {
      const { db, order, of, write, hold } = await openScene(t, engine);
      const client = { isGone: false };
      const from = of(2).as({ isGone: () => client.isGone });
      await write(2, 0, { from, meanwhile: () => void (client.isGone = true) });
      client.isGone = false;
      const end = await hold();
      const kind = (_tx: Transaction, inputs: readonly object[]) => inputs.map(() => order.push(2));
      const dropped = [write(2, 0, { from }), from.batch(kind, {}), from.batch(kind, {})].map(refusalOf);
      client.isGone = true;
      const kept = write(2);
      await end();
      for (const refusal of await Promise.all(dropped)) assert.deepEqual(refusal, overload);
      await kept;
      assert.deepEqual(
        [order, await shelves(db)],
        [
          [2, 2],
          [1, 3],
        ],
      );
    });

    test("a body that takes too long while another caller waits is rolled back, whatever it does with the error", async (t) => {
      const { db, clock, of, write } = await openScene(t, engine);
      for (const caught of [false, true]) {
        let other: Promise<unknown> | undefined;
        const long = of(1).write(async (tx) => {
          await addShelf(tx, 100);
          clock.ms += tooLongMs[engine];
          other = write(2);
          const late = addShelf(tx, 101);
          await (caught ? late.catch(() => undefined) : late);
        });
        assert.deepEqual(await refusalOf(long), overload);
        await other;
      }
      assert.deepEqual(await shelves(db), [1, 2]);
    });

    test("a body that delays no other caller may take longer, and so may one of no caller", async (t) => {
      const { db, clock, of, write } = await openScene(t, engine);
      const meanwhile: Promise<unknown>[] = [];
      const long = (caller: Caller, id: number, waiting: Caller) =>
        of(caller).write(async (tx) => {
          clock.ms += tooLongMs[engine];
          meanwhile.push(write(waiting));
          await addShelf(tx, id);
        });
      await long(1, 100, "background");
      await long(1, 101, 1);
      await long("background", 102, 2);
      await Promise.all(meanwhile);
      assert.deepEqual(await shelves(db), [1, 2, 3, 100, 101, 102]);
    });
  });
}
