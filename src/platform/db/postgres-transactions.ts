import type pg from "pg";
import sql, { raw, type Sql } from "sql-template-tag";
import { systemClock, type Clock } from "../clock.ts";
import { recordedEvent, systemOrigin, type Origin, type RecordedEvent } from "../events.ts";
import { unavailable, type Awaitable, type Transaction, type WriteOptions } from "./database.ts";
import { bound, fixedStatementOf, statementOf, type Rows, type Statement } from "./postgres-connections.ts";
import { breaksConnection, isCollision, StartOver, translate } from "./postgres-errors.ts";
import { silenceMs } from "./postgres-sessions.ts";
import type { BoundValue, Insertion, RowUpdate, Statement as FixedStatement } from "./statement.ts";

const forUpdate = sql` FOR UPDATE`;

type Outcome<T> = { isBroken: boolean } & (
  | { isCommitted: true; value: T; accountIds: readonly number[] }
  | { isCommitted: false; error: unknown; collided: boolean }
);

/** What a transaction offers besides its statements. */
const withoutStatements: Pick<Transaction, "giveTurn" | "reportDamage"> = {
  giveTurn: () => undefined,
  reportDamage: (what) => unavailable(new Error(what)),
};

const tryLockOf = (name: string): Sql => sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS got`;

/**
 * Runs a body in a transaction, and never rejects. Sends BEGIN together with the first statement, which saves a round trip: if
 * BEGIN failed, the statement would too, because outside a transaction connections can only read.
 *
 * @param options.origin who makes the changes. Default: the system
 * @param options.clock the time of events whose origin has none. Default: the system's clock
 * @param refusal called before each statement of the body, which fails with the error that it returns
 */
export async function transact<T>(
  client: pg.Client,
  body: (tx: Transaction) => Awaitable<T>,
  options: WriteOptions & { origin?: Origin; clock?: Clock } = {},
  refusal: () => Error | undefined = () => undefined,
): Promise<Outcome<T>> {
  const { statementMs, lockMs = statementMs, isDryRun = false, origin = systemOrigin, clock = systemClock } = options;
  const patience = statementMs === undefined ? {} : { query_timeout: statementMs + silenceMs };
  const run = (statement: Statement): Promise<Rows> => client.query({ ...statement, ...patience });
  let isOpen = true;
  let failure: Error | undefined;
  const recorded: RecordedEvent[] = [];

  async function step(start: () => Statement): Promise<Rows> {
    if (!isOpen) throw new Error("the transaction is over");
    const late = refusal();
    if (late) throw (failure ??= late);
    try {
      return await run(start());
    } catch (error) {
      failure ??= error as Error; // from now on PostgreSQL refuses every statement but ROLLBACK
      throw translate(error);
    }
  }
  const query = async <R>(text: Sql): Promise<R[]> => (await step(() => statementOf(text))).rows as R[];
  const fixedRows = async <R extends unknown[]>(fixed: FixedStatement, values: readonly BoundValue[]) =>
    (await step(() => fixedStatementOf(fixed, values))).rows as R[];

  const begun = begin(run, statementMs, lockMs);
  try {
    const value = await body({
      forUpdate,
      skipLocked: (table) => raw(` FOR UPDATE OF ${table} SKIP LOCKED`),
      query,
      insert: (insertion, rows) => insertRows(fixedRows, insertion, rows),
      updateEach: (update, rows) => updateRows(fixedRows, update, rows),
      rows: fixedRows,
      run: async (fixed, values) => (await step(() => fixedStatementOf(fixed, values))).rowCount ?? 0,
      record: (event, of) => void recorded.push(recordedEvent(event, origin, clock, of)),
      script: async (text) => void (await step(() => ({ text, values: [] }))),
      lock: async (name) => void (await query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`)),
      tryLock: async (name) => (await query<{ got: boolean }>(tryLockOf(name)))[0]?.got === true,
      ...withoutStatements,
      startOver,
    });
    isOpen = false;
    await begun;
    if (failure !== undefined) throw failure;
    if (isDryRun) return { isCommitted: true, value, isBroken: !(await rollBack(run)), accountIds: [] };
    if (recorded.length > 0) await run(outboxInsert(recorded));
    const { command } = await run({ text: "COMMIT", values: [] });
    if (command !== "COMMIT") throw unavailable(new Error(`COMMIT ended as ${command}`));
    return { isCommitted: true, value, isBroken: false, accountIds: accountsOf(recorded) };
  } catch (error) {
    isOpen = false;
    const cause = error instanceof StartOver ? error : (failure ?? error);
    const isBroken = breaksConnection(cause) || !(await rollBack(run));
    return { isCommitted: false, error: translate(error), collided: isCollision(cause), isBroken };
  }
}

function startOver(): never {
  throw new StartOver();
}

function accountsOf(events: readonly RecordedEvent[]): number[] {
  return [...new Set(events.map(({ accountId }) => accountId))];
}

/** One statement with hundreds of values would be parsed and planned each time, which costs more than its rows. */
async function insertRows(
  query: Transaction["rows"],
  { statementFor, ofMany }: Insertion,
  rows: readonly BoundValue[][],
): Promise<number[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const inserted = await (rows.length === 1
    ? query(statementFor(1), first)
    : query(ofMany, [JSON.stringify(rows.map((row) => row.map(bound)))]));
  return inserted.map(([id]) => id).toSorted((a, b) => a - b);
}

/** Sends each update without waiting for the one before. */
async function updateRows<R extends unknown[]>(
  query: Transaction["rows"],
  { one }: RowUpdate<R>,
  rows: readonly BoundValue[][],
): Promise<R[]> {
  return (await Promise.all(rows.map(async (values) => query(one, values)))).flat();
}

/** Sends the statements that begin a transaction, without waiting for them. */
function begin(
  run: (statement: Statement) => Promise<Rows>,
  statementMs: number | undefined,
  lockMs: number | undefined,
): Promise<unknown> {
  const texts = ["BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"];
  if (statementMs !== undefined) texts.push(`SET LOCAL statement_timeout = ${statementMs}`);
  if (lockMs !== undefined) texts.push(`SET LOCAL lock_timeout = ${lockMs}`);
  const begun = Promise.all(texts.map((text) => run({ text, values: [] })));
  begun.catch(() => undefined); // reported when it is awaited, unless a statement fails first
  return begun;
}

function rollBack(run: (statement: Statement) => Promise<Rows>): Promise<boolean> {
  return run({ text: "ROLLBACK", values: [] }).then(
    () => true,
    () => false,
  );
}

const outboxColumns = {
  account_id: "BIGINT",
  type: "TEXT",
  at: "BIGINT",
  resource: "TEXT",
  actor: "TEXT",
  request_id: "TEXT",
  version: "BIGINT",
  head: "TEXT",
  tail: "TEXT",
};
const names = Object.keys(outboxColumns).join(", ");
const typed = Object.entries(outboxColumns).map(([name, type]) => `${name} ${type}`);
const outboxText = `
  INSERT INTO event_outbox (id, ${names})
  SELECT nextval('event_outbox_ids'), ${names} FROM json_to_recordset(CAST($1 AS JSON)) AS recorded (${typed.join(", ")})`;

/** The statement that stores a transaction's events until they get their positions. It is the transaction's last one (decision 0074). */
function outboxInsert(events: readonly RecordedEvent[]): Statement {
  const rows = events.map(({ accountId, requestId, ...event }) => ({ account_id: accountId, request_id: requestId, ...event }));
  return { name: "event_outbox", text: outboxText, values: [JSON.stringify(rows)] };
}
