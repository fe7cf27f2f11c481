import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import { andThen, type Batch, type Database, type Transaction } from "../../src/platform/db/database.ts";
import { openSqlite, type SqliteOptions } from "../../src/platform/db/sqlite.ts";
import type { BoundValue, RowUpdate, Statement } from "../../src/platform/db/statement.ts";
import { hashAfter, recordedEvent, systemOrigin, type EventDraft, type Origin } from "../../src/platform/events.ts";
import { measureServer, requestSteps, sendRound, type Requests } from "./requests.ts";
import { operationOn, requestText, type OwnService } from "./service.ts";
import { copyDatabase, kindsOf, recordStatements, replay } from "./statements.ts";
import { asParts, cpuUsEach, type Measure, type Named, type Whole } from "./whole.ts";

/** The pets that orders are for. */
const ordered = 1_000;
const order = () => ({ petId: 1 + Math.floor(Math.random() * ordered), quantity: 1 });

type AnyBatch = Batch<object, unknown>;
type Recorded = { event: EventDraft; origin: Partial<Origin> | undefined };

/** The budget of an order. */
export async function orderWhole(service: OwnService): Promise<Whole> {
  const path = "/store/orders";
  const next = (): string => requestText(service, "POST", path, order());
  const requests: Requests = { method: "POST", path, body: { petId: 1, quantity: 1 }, operationId: "createOrder", next };
  const us = measureServer(service.app.server, requests);
  const { steps, parts, measureWith } = await requestSteps(service, requests);
  await us();
  const opened = openCopies(service, 4);
  const recorded: Recorded[] = [];
  const measureOn = (db: Database): Measure => measureWith(operationOn(db, service.settings, requests.operationId));
  const [queued, placed, logged, unflushed] = opened.databases as [Database, ...Database[]];
  const written: Named[] = [
    {
      what: "the queue of writes, with a transaction and a savepoint of each group",
      us: measureOn(replacing(service.db, queued, nothing)),
    },
    { what: "placing the orders, without their statements", us: measureOn(replacing(service.db, placed!, withFirstRows())) },
    {
      what: "their events: text, hash, INSERT, commit",
      us: measureOn(
        replacing(
          service.db,
          logged!,
          withFirstRows((event, origin) => recorded.length < ordered && recorded.push({ event, origin })),
        ),
      ),
    },
    { what: "the other statements, and what they add to the commit", us: measureOn(replacing(service.db, unflushed!, (write) => write)) },
    { what: "the flush", us: measureOn(service.db) },
  ];
  for (const { us: measure } of written) await measure();
  const own = await partsOf(service, requests, recorded, opened.folder);
  const shared = asParts(parts);
  return {
    name: "order of one of 1,000 pets, durable, 64 at once: `POST /store/orders`",
    us,
    steps: [...steps, ...written],
    parts: {
      what: [...shared.what, ...own.what],
      measure: async () => [...(await shared.measure()), ...(await own.measure())],
    },
    rounds: 40,
    close: () => opened.close(),
  };
}

/** Opens copies of the service's database that flush nothing. */
function openCopies({ folder: { dataDir } }: OwnService, count: number) {
  const folder = mkdtempSync(join(tmpdir(), "copies-"));
  const unflushed: SqliteOptions = { flush: async () => undefined };
  const databases = Array.from({ length: count }, (_, i) => {
    const copy = join(folder, String(i));
    mkdirSync(copy);
    copyDatabase(dataDir, copy);
    return openSqlite(join(copy, "petstore.db"), unflushed);
  });
  const close = async (): Promise<void> => {
    for (const db of databases) await db.close();
    rmSync(folder, { recursive: true });
  };
  return { folder, databases, close };
}

/** A database whose batches are written on another one, and in another way. */
function replacing(db: Database, other: Database, replace: (write: AnyBatch) => AnyBatch): Database {
  const replaced = new Map<unknown, AnyBatch>();
  const wrap = (mine: Database, theirs: Database): Database => ({
    ...mine,
    as: (handle) => wrap(mine.as(handle), theirs.as(handle)),
    async batch<Input extends object, Result>(write: Batch<Input, Result>, input: Input): Promise<Result> {
      const kind = write as AnyBatch;
      if (!replaced.has(kind)) replaced.set(kind, replace(kind));
      return (await theirs.batch(replaced.get(kind)!, input)) as Result;
    },
  });
  return wrap(db, other);
}

/** Writes the first group, and then answers all others like its first input. */
function nothing(write: AnyBatch): AnyBatch {
  let first: { result: unknown } | undefined;
  return async (tx, inputs) => {
    if (first) return inputs.map(() => first!.result);
    const results = await write(tx, inputs);
    first = { result: results[0] };
    return results;
  };
}

/**
 * Writes the first group, and gives the others the rows that it got, and the first update of each pet, so that they take only what the batch itself takes. They have no events,
 * unless `onEvent` is given, which is called with each.
 */
function withFirstRows(onEvent?: (...recorded: Parameters<Transaction["record"]>) => void) {
  return (write: AnyBatch): AnyBatch => {
    const known = new Map<string, unknown[][]>();
    const updated = new Map<string, unknown[][]>();
    let hasBegun = false;
    return (tx, inputs) => {
      const noting: Transaction = {
        ...tx,
        rows: (statement, values) =>
          andThen(tx.rows(statement, values), (rows) => {
            known.set(statement.sqlite, rows);
            return rows;
          }),
      };
      if (!hasBegun) {
        hasBegun = true;
        return write(noting, inputs);
      }
      const canned: Transaction = {
        ...tx,
        rows: <R extends unknown[]>({ sqlite }: Statement<R>) => known.get(sqlite) as R[],
        async updateEach<R extends unknown[]>(update: RowUpdate<R>, all: readonly BoundValue[][]) {
          const found: R[] = [];
          for (const values of all) {
            const key = values.join(" ");
            if (!updated.has(key)) updated.set(key, await tx.updateEach(update, [values]));
            found.push(...(updated.get(key) as R[]));
          }
          return found;
        },
        run: () => 1,
        insert: (_insertion, rows) => rows.map((_row, i) => i + 1),
        record: (event, origin) => {
          if (!onEvent) return;
          onEvent(event, origin);
          tx.record(event, origin);
        },
      };
      return write(canned, inputs);
    };
  };
}

/** The parts of an order that can be measured alone: the texts and hashes of its events, and its statements. */
async function partsOf({ folder, app }: OwnService, requests: Requests, recorded: Recorded[], copies: string) {
  const from = join(copies, "replay");
  mkdirSync(from);
  copyDatabase(folder.dataDir, from);
  const recording = await recordStatements(() => sendRound(app.server, requests));
  const kinds = kindsOf(recording);
  const textsOf = () => recorded.map(({ event, origin }) => recordedEvent(event, { ...systemOrigin, ...origin }, systemClock));
  const texts = textsOf().map(({ head, tail }) => head + tail);
  const events = new Set(recorded.map(({ event }) => event.type)).size;
  const each = async (work: () => unknown): Promise<number> => ((await cpuUsEach(5, work)) / recorded.length) * events;
  return {
    what: ["the text of its events", "their hashes", ...kinds.map((kind) => `\`${kind}\``)],
    measure: async () => [
      await each(textsOf),
      await each(() => texts.map((text) => hashAfter("0".repeat(64), text))),
      ...(await replay(recording, from, kinds)),
    ],
  };
}
