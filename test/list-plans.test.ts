import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { test, type TestContext } from "node:test";
import pg from "pg";
import { raw } from "sql-template-tag";
import { apiOperations } from "../src/app/operations.ts";
import { listKeys } from "../src/callers/keys/keys.store.ts";
import { listMembers } from "../src/callers/members/members.store.ts";
import { listSessions } from "../src/callers/members/sessions.store.ts";
import { openBounds } from "../src/platform/bounds.ts";
import type { Database } from "../src/platform/db/database.ts";
import { migrate } from "../src/platform/db/migrate.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { Problem } from "../src/platform/problem.ts";
import { createDns } from "../src/publishing/dns/lookup.ts";
import { someOf } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { accountId, many, fillEvenly, fill, fillAccess } from "./support/list-rows.ts";
import { combinationsOf, listsOf, shareOf, textOf, type ListOperation, type ListQuery } from "./support/lists.ts";
import { newDatabase } from "./support/postgres.ts";
import { type RecordedStatement, record } from "./support/recorded-statements.ts";

/*
 * The engines count what a page reads: SQLite the steps of its virtual machine, PostgreSQL the rows that it
 * looked at and the blocks that it touched. The rows are skewed: nearly all animals have one category, one status and one
 * of few names, rare values come last, and another account has as many rows.
 */
const limit = 20;
const samples = { integers: [1, 7, 999_999_999], texts: ["rex", "zz", "2", "rex1"] };
const lists = listsOf(apiOperations);
const dns = createDns({ servers: ["127.0.0.1"] }, openBounds().queue("dns"));
/** What lists of keys, projects, deployments and domains need besides their rows; they look up nothing in DNS. */
const services = {
  limiter: { strikeStatus: () => ({ strikes: 0, strikesRemaining: 0, bannedUntil: undefined }) },
  urlOfDeployment: () => undefined,
  namesOf: async () => [],
  checks: {
    dns,
    quickDns: dns,
    own: { platformDomain: "petstore.localhost", publicHost: "localhost" },
    proofSecret: () => Buffer.alloc(0),
    authority: null,
  },
};

/**
 * An endpoint keeps few deliveries that failed or wait: with statistics of other data PostgreSQL may look for a request among them, in place of
 * using the index of both.
 */
const keptAnyway: Record<string, number> = { listWebhookDeliveries: 500 };

/** Two statements of a page read again where names descend; a third of the look-ups of an index is its own. */
const slack = 4;
/**
 * A list by a fact reads a walk for each status, and the pet of each row. A search reads names and then later words, one walk for each length of beginnings that words share (here two), and the pet of each; where both
 * descend it is six statements.
 */
const searchSlack = 10;

type Cost = { work: number; plans: unknown };
type Place = {
  db: Database;
  /** Runs statements again, and returns what the engine did for them. */
  costOf: (statements: RecordedStatement[]) => Promise<Cost>;
  /** The most work for so many rows. */
  mostFor: (rows: number, plain: number, times: number) => number;
  /** The combinations to look at. */
  some: (all: ListQuery[]) => ListQuery[];
};

test("the lists under test are all lists of the description", () => {
  const names = [
    "listPets",
    "listCategories",
    "listOrders",
    "listReservations",
    "listInventory",
    "listImports",
    "listKeys",
    "listProjects",
    "listDeployments",
    "listDomains",
    "listWebhooks",
    "listWebhookDeliveries",
  ];
  assert.deepEqual(
    lists.map(({ operationId }) => operationId),
    names,
  );
  assert.ok(lists.some((list) => combinationsOf(list, samples).length > 500));
});

test("a filter of an unknown kind fails this test until it is added here", () => {
  const query = { properties: { price: { type: "number" }, cursor: {} } };
  assert.throws(() => combinationsOf({ query } as unknown as ListOperation, samples), /price/);
});

test("on SQLite, every combination of filters and sorts reads only the rows of its page", async (t) => {
  const file = join(temporaryFolder(t), "test.db");
  const db = openSqlite(file);
  t.after(() => db.close());
  await migrate(db, 0);
  await fill(db);
  const engine = new DatabaseSync(file, { readOnly: true });
  t.after(() => engine.close());
  const costOf: Place["costOf"] = async (statements) => {
    const costs = statements.map((statement) => stepsOf(engine, statement));
    return { work: costs.reduce((sum, cost) => sum + cost, 0), plans: statements.map(({ sql: text }) => text) };
  };
  const place: Place = {
    db,
    costOf,
    mostFor: (rows, plain, times) => (times * plain * rows) / limit,
    some: (all) => [...all.filter((query) => !asksForOrigin(query)), ...someOf(all.filter(asksForOrigin), 50)],
  };
  for (const list of lists) await t.test(list.operationId, () => requireBounded(list, place));
});

test("on PostgreSQL too, with stale and fresh statistics, and with custom and generic plans", async (t) => {
  const db = await openEmpty(t);
  await fillEvenly(db);
  await db.write((tx) => tx.script("ANALYZE"));
  await fill(db);
  for (const age of ["old", "new"]) {
    if (age === "new") await db.write((tx) => tx.script("ANALYZE"));
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      const place: Place = {
        db,
        costOf: (statements) => explained(db, statements, mode),
        mostFor: (rows, _plain, times) => times * rows + 24,
        some: (all) => (all.length > 50 ? someOf(all, 10) : all), // each takes the server several milliseconds
      };
      for (const list of lists) await t.test(`${list.operationId}, ${age} statistics, ${mode}`, () => requireBounded(list, place));
    }
  }
});

const unpaged = {
  listKeys: (db: Database, account: number) => listKeys(db, account),
  listMembers: (db: Database, account: number) => listMembers(db, account),
  listSessions: (db: Database, account: number) => listSessions(db, account, account * many + 1, 1),
};

test("the lists without pages read nothing of other accounts, on both engines", async (t) => {
  const file = join(temporaryFolder(t), "test.db");
  const sqlite = openSqlite(file);
  t.after(() => sqlite.close());
  await migrate(sqlite, 0);
  const postgres = await openEmpty(t);
  for (const db of [sqlite, postgres]) await fillAccess(db);
  const engine = new DatabaseSync(file, { readOnly: true });
  t.after(() => engine.close());
  for (const [name, read] of Object.entries(unpaged)) {
    await t.test(name, async () => {
      for (const db of [sqlite, postgres]) {
        const recorder = record(db);
        assert.equal((await read(recorder.db, accountId)).length, 1);
        if (db === sqlite) assert.ok(recorder.statements.every((statement) => stepsOf(engine, statement) < 100));
        else assert.ok((await explained(db, recorder.statements, "force_generic_plan")).work < 20);
      }
    });
  }
});

/** There are very many combinations of the filters by origin, of which most are refused. */
const asksForOrigin = (query: ListQuery): boolean => ["import", "source", "sourceId"].some((name) => name in query);

/** Asks for the first page of each combination, and the one after it, and holds their cost against that of the plain list. */
async function requireBounded(list: ListOperation, { db, costOf, mostFor, some }: Place): Promise<void> {
  const plain = await costOf((await pageOf(db, list, {})).statements);
  let asked = 0;
  for (const query of some(combinationsOf(list, samples))) {
    const { rows, values } = shareOf(query, limit);
    if (asksForOrigin(query) && ("status" in query || "categoryId" in query) && !("id" in query)) continue; // it reads them all, in steps
    let page: Page | undefined;
    try {
      page = await pageOf(db, list, query);
    } catch (error) {
      if (error instanceof Problem && error.code === "invalid_request") continue; // filters that exclude each other
      throw error;
    }
    for (let depth = 1; page !== undefined && depth <= 2; depth++) {
      const { work, plans } = await costOf(page.statements);
      const most = Math.max(
        mostFor(rows * values, plain.work, "q" in query || "fact" in query ? searchSlack : slack),
        keptAnyway[list.operationId] ?? 0,
      );
      const what = `${list.operationId}?${textOf(query)}, page ${depth}`;
      if (work > most) assert.fail(`${what}: ${work} of work, where ${most} is the most: ${JSON.stringify(plans, undefined, 1)}`);
      asked++;
      page = page.cursor === undefined ? undefined : await pageOf(db, list, { ...query, cursor: page.cursor });
    }
  }
  assert.ok(asked > 0);
}

type Page = { statements: RecordedStatement[]; cursor: string | undefined };

async function pageOf(db: Database, list: ListOperation, query: ListQuery): Promise<Page> {
  const { db: recorded, statements } = record(db);
  const call = {
    accountId,
    keyId: undefined,
    params: { projectId: 1, webhookId: 1 },
    query: { ...query, limit },
    body: undefined,
    conditions: {},
    services,
    now: 1,
  };
  const { headers } = await list.read(recorded, call as never);
  const cursor = /cursor=([^&>]+)/.exec(headers?.["link"] ?? "")?.[1];
  return { statements, cursor };
}

/** Steps of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`). */
function stepsOf(engine: DatabaseSync, { sql: text, values }: RecordedStatement): number {
  const statement = engine.prepare(text);
  statement.all(...values.map((value) => (typeof value === "string" ? value : BigInt(value as number)) as SQLInputValue));
  return (statement as unknown as { stat(counter: "vmStep"): number }).stat("vmStep");
}

type Plan = Record<string, unknown> & { Plans?: Plan[] };

/** On a connection as the service has it for its reads. */
async function explained(db: Database, statements: RecordedStatement[], mode: string): Promise<Cost> {
  const plans: Plan[] = [];
  for (const { text, values } of statements) {
    const literals = values.map((value) => pg.escapeLiteral(String(value))).join(", ");
    await db.query(raw(`SET plan_cache_mode = ${mode}`));
    await db.query(raw(`PREPARE explained AS ${text}`));
    const [row] = await db.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      raw(`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE explained${literals && `(${literals})`}`),
    );
    await db.query(raw("DEALLOCATE explained"));
    plans.push(row!["QUERY PLAN"][0]!.Plan);
  }
  return { work: plans.reduce((sum, plan) => sum + Math.max(rowsRead(plan), blocksOf(plan) / 4), 0), plans };
}

/** Rows that were taken from tables, those that a filter took away again among them. */
function rowsRead({ Plans = [], ...plan }: Plan): number {
  const each = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"].map((name) => Number(plan[name] ?? 0));
  const own = "Relation Name" in plan ? each.reduce((sum, rows) => sum + rows, 0) * Number(plan["Actual Loops"]) : 0;
  return Plans.reduce((sum, inner) => sum + rowsRead(inner), own);
}

function blocksOf(plan: Plan): number {
  return Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
}

async function openEmpty(t: TestContext): Promise<Database> {
  const { url, drop } = await newDatabase(undefined, { migrated: true });
  const db = openPostgres(url, { onError: () => undefined });
  t.after(async () => {
    await db.close();
    await drop();
  });
  return db;
}
