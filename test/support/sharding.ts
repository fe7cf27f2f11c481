import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import pg from "pg";
import { acrossAccounts, globalTables } from "../sharding.ts";
import { sharedServer } from "./postgres.ts";

/*
 * Every service that a test starts on PostgreSQL has its statements recorded here. When it closes, the planner says which tables of shops each of them
 * reads without a condition that limits it to accounts which the statement names.
 */

const missingDatabase = "3D000";
const recorded = new Map<string, Set<string>>();
const checked = new Set<string>();

const query = Reflect.get(pg.Client.prototype, "query") as (this: pg.Client, ...given: unknown[]) => unknown;
Reflect.set(pg.Client.prototype, "query", function (this: pg.Client, ...given: unknown[]) {
  recordStatement(this, given[0]);
  return query.apply(this, given);
});

/** Records a statement of the service, whose connections have its name. */
function recordStatement(client: pg.Client, given: unknown): void {
  const { application_name: name } = Reflect.get(client, "connectionParameters") as { application_name?: string };
  const text = typeof given === "string" ? given : (given as { text: string }).text;
  if (name !== "petstore" || checked.has(text) || !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) return;
  const texts = recorded.get(client.database!) ?? new Set();
  recorded.set(client.database!, texts.add(text));
}

/** Fails if a statement that was recorded in this database reads shops' tables across accounts, and is not in the list of those. */
export async function requireNamedAccounts(url: string): Promise<void> {
  const { host } = new URL(process.env[sharedServer] ?? "postgres://none");
  if (!url.includes(`@${host}/`)) return; // a test's own server may be older, or not be there any more
  const database = new URL(url).pathname.slice(1);
  const texts = [...(recorded.get(database) ?? [])].filter((text) => !checked.has(text));
  recorded.delete(database);
  const faults: string[] = [];
  await using opened = new AsyncDisposableStack();
  const client = new pg.Client(url);
  try {
    await client.connect();
  } catch (error) {
    if ((error as pg.DatabaseError).code === missingDatabase) return; // the test has dropped it
    throw error;
  }
  opened.defer(() => client.end());
  await client.query("SET enable_seqscan = off"); // or a condition that a hashed subquery lacks would be missed
  for (const text of texts) {
    checked.add(text);
    const flat = flattened(text);
    if (acrossAccounts.some(({ parts }) => parts.some((part) => flat.includes(part))) || isOfTests(flat)) continue;
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
    // a subquery that compares its account with the outer row's is hashed by the planner where its table is small
    const isOfOuterRow = (table: string) => new RegExp(`\\b${table}\\.account_id = \\w+\\.account_id\\b`).test(flat);
    const tables = readAcross(rows[0]!["QUERY PLAN"][0].Plan).filter((table) => !isOfOuterRow(table));
    if (tables.length > 0) faults.push(`${tables.join(", ")}: ${flat}`);
  }
  assert.deepEqual(faults, [], "these statements name no account: test/sharding.ts lists those of all accounts");
}

/** A statement, or the source of one, in one line with `$` in place of each value. */
export function flattened(text: string): string {
  return text
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\d+/g, "$")
    .replaceAll(/\s+/g, " ")
    .trim();
}

let ofTests: string | undefined;

/** Whether a statement is a test's own, which looks at rows or changes them: it is in a test, or reads each table or column. */
function isOfTests(flat: string): boolean {
  ofTests ??= [...globSync("test/**/*.ts"), ...globSync("src/**/*.test.ts")]
    .map((path) => flattened(readFileSync(path, "utf8")))
    .join("\n");
  return /^SELECT (?:\* FROM \w+$|CAST\(")/.test(flat) || ofTests.includes(flat.replace(/ FOR UPDATE$/, ""));
}

/** A node of a plan, as EXPLAIN gives it. */
type PlanNode = { "Node Type": string; "Relation Name"?: string; Alias?: string; Plans?: PlanNode[] } & Record<string, unknown>;

const conditions = ["Index Cond", "Recheck Cond", "Filter", "Hash Cond", "Merge Cond", "Join Filter"];
const equality = /([\w."]+|\$\d+|'[^']*')(?:\)?::\w+)?\)? = (?:ANY )?\(*([\w."]+|\$\d+|'[^']*')/g;

/** Returns the tables of shops that a plan reads without a condition by which their accounts are those that the statement names. */
export function readAcross(plan: PlanNode): string[] {
  const nodes = nodesOf(plan);
  const isShops = (table: string | undefined) => table !== undefined && !globalTables[table] && !table.startsWith("pg_");
  const scans = nodes.filter(({ "Relation Name": table, "Node Type": type }) => isShops(table) && type !== "ModifyTable");
  const columns = new Map(scans.map(({ Alias: alias, "Relation Name": table }) => [`${alias}.${accountColumn(table!)}`, table!]));
  const pairs = nodes.flatMap(equalitiesOf);
  const named = new Set<string>();
  for (let before = -1; before < named.size;) {
    before = named.size;
    for (const [one, other] of pairs) if (columns.has(one) && (!columns.has(other) || named.has(other))) named.add(one);
  }
  return [...columns].flatMap(([column, table]) => (named.has(column) ? [] : [table]));
}

function accountColumn(table: string): string {
  return table === "accounts" ? "id" : "account_id";
}

/** The sides of each equality in the conditions of a node, in both orders; the node's own columns have its alias. */
function equalitiesOf(node: PlanNode): [string, string][] {
  const sideOf = (side: string): string => (/^[a-z_]+$/.test(side) && node.Alias !== undefined ? `${node.Alias}.${side}` : side);
  return conditions.flatMap((name) =>
    [...JSON.stringify(node[name] ?? "").matchAll(equality)].flatMap(([, left, right]): [string, string][] => [
      [sideOf(left!), sideOf(right!)],
      [sideOf(right!), sideOf(left!)],
    ]),
  );
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
