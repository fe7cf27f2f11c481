import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import pg from "pg";
import sql from "sql-template-tag";
import { deleteExpiredPending } from "../src/callers/members/factors.store.ts";
import { deleteEndedSessions } from "../src/callers/members/sessions.store.ts";
import { expireRequests } from "../src/callers/usage/request-log.store.ts";
import { expireUsage } from "../src/callers/usage/usage.store.ts";
import { expireEvents } from "../src/events/log/retention.ts";
import { expireDeliveries } from "../src/events/webhooks/deliveries.store.ts";
import { migrate } from "../src/platform/db/migrate.ts";
import { forgetOldAnswers } from "../src/platform/http/idempotency.store.ts";
import { deleteExpiredChallenges } from "../src/publishing/certificates/certificates.store.ts";
import { expireBin } from "../src/store/bin/bin.store.ts";
import { foldNames } from "../src/store/pets/folded-names.store.ts";
import { acrossAccounts, globalTables, otherKeys, shardingTexts } from "./sharding.ts";
import { openEmptyOn } from "./support/databases.ts";
import { newDatabase } from "./support/postgres.ts";
import { startService } from "./support/service.ts";
import { flattened, readAcross } from "./support/sharding.ts";

/** A primary or unique key, or a foreign key with the table that it refers to. */
type Key = { table: string; kind: "key" | "reference"; columns: string[]; target: string | null; targetColumns: string[] | null };

async function catalogueOf(t: TestContext): Promise<{ tables: string[]; keys: Key[] }> {
  const db = await openEmptyOn("postgres", t);
  await migrate(db, 0);
  const tables = await db.query<{ name: string }>(sql`
    SELECT relname AS name FROM pg_class WHERE relnamespace = CAST(current_schema() AS REGNAMESPACE) AND relkind = 'r' ORDER BY relname`);
  const keys = await db.query<Key>(sql`
    WITH found AS (
      SELECT indrelid AS owner, 'key' AS kind, CAST(indkey AS SMALLINT[]) AS places, CAST(0 AS OID) AS target, NULL AS target_places
      FROM pg_index WHERE indisunique
      UNION ALL SELECT conrelid, 'reference', conkey, confrelid, confkey FROM pg_constraint WHERE contype = 'f'
    )
    SELECT owners.relname AS "table", kind, targets.relname AS target,
      ARRAY(SELECT CAST(attname AS TEXT) FROM unnest(places) WITH ORDINALITY AS at (place, nth)
        JOIN pg_attribute ON attrelid = owner AND attnum = place ORDER BY nth) AS columns,
      ARRAY(SELECT CAST(attname AS TEXT) FROM unnest(target_places) WITH ORDINALITY AS at (place, nth)
        JOIN pg_attribute ON attrelid = found.target AND attnum = place ORDER BY nth) AS "targetColumns"
    FROM found JOIN pg_class owners ON owners.oid = owner AND owners.relnamespace = CAST(current_schema() AS REGNAMESPACE)
    LEFT JOIN pg_class targets ON targets.oid = found.target`);
  return { tables: tables.map(({ name }) => name), keys };
}

/** What a database that is divided by account could not keep. */
function faultsOf(keys: readonly Key[]): string[] {
  return keys
    .filter(({ table }) => !globalTables[table])
    .filter(({ table, kind, columns, target, targetColumns }) => {
      if (kind === "key") return columns[0] !== (table === "accounts" ? "id" : "account_id");
      return columns[0] !== "account_id" || globalTables[target!] || targetColumns![0] !== (target === "accounts" ? "id" : "account_id");
    })
    .map(({ table, columns }) => `${table} (${columns.join(", ")})`);
}

test("the keys of a shop's table begin with its account, but for those in a list", async (t) => {
  const { tables, keys } = await catalogueOf(t);
  assert.deepEqual(
    Object.keys(globalTables).filter((table) => !tables.includes(table)),
    [],
  );
  assert.deepEqual(faultsOf(keys).toSorted(), Object.keys(otherKeys).toSorted());
  const reference: Key = { table: "pets", kind: "reference", columns: ["category_id"], target: "categories", targetColumns: ["id"] };
  assert.deepEqual(faultsOf([reference]), ["pets (category_id)"], "the check finds one");
});

test("docs/scaling.md has these lists", async (t) => {
  const page = readFileSync(new URL("../docs/scaling.md", import.meta.url), "utf8");
  for (const [name, text] of Object.entries(shardingTexts((await catalogueOf(t)).tables))) {
    const [, found] = new RegExp(`<!-- ${name} -->\n([^]*?)\n<!-- end of ${name} -->`).exec(page) ?? [];
    assert.equal(found, text, name);
  }
});

test("each statement in the list of those across accounts is in a source", () => {
  const sources = globSync("src/**/*.ts").map((path) => flattened(readFileSync(path, "utf8")));
  for (const part of acrossAccounts.flatMap(({ parts }) => parts)) {
    const escaped = part.replaceAll(/[$()*+.|\\[\]]/g, "\\$&").replaceAll(/\b(FROM|UPDATE|JOIN) \w+/g, String.raw`$1 (\w+|\$)`);
    assert.ok(
      sources.some((source) => new RegExp(escaped).test(source)),
      part,
    );
  }
});

test("a plan shows which tables are read without an account that the statement names", async (t) => {
  const { url, drop } = await newDatabase(undefined, { migrated: true });
  t.after(drop);
  await using opened = new AsyncDisposableStack();
  const client = new pg.Client(url);
  await client.connect();
  opened.defer(() => client.end());
  const across = async (text: string) => {
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Parameters<typeof readAcross>[0] }] }>(
      `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
    );
    return readAcross(rows[0]!["QUERY PLAN"][0].Plan);
  };
  for (const [text, tables] of [
    ["SELECT 1 FROM pets WHERE account_id = $1 AND id = $2", []],
    ["SELECT 1 FROM pets WHERE id = $1", ["pets"]],
    ["SELECT 1 FROM pets WHERE account_id > $1", ["pets"]],
    ["UPDATE pets SET name = 'Rex' WHERE id = $1", ["pets"]],
    ["SELECT 1 FROM orders o JOIN pets p ON p.account_id = o.account_id AND p.id = o.pet_id WHERE o.account_id = $1", []],
    ["SELECT 1 FROM orders o JOIN pets p ON p.account_id = o.account_id AND p.id = o.pet_id", ["orders", "pets"]],
    ["SELECT 1 FROM orders o JOIN pets p ON p.id = o.pet_id WHERE o.account_id = $1", ["pets"]],
    ["SELECT 1 FROM pets WHERE account_id = $1 UNION ALL SELECT 1 FROM pets WHERE id = $2", ["pets"]],
    ["SELECT 1 FROM nodes", []],
  ] as const)
    assert.deepEqual((await across(text)).toSorted(), tables, text);
});

test("what deletes old rows runs for all accounts, and is in the list", async (t) => {
  const { url, drop } = await newDatabase(undefined, { migrated: true });
  t.after(drop);
  const service = await startService({ env: { DATABASE_URL: url } });
  const { db } = service;
  await forgetOldAnswers(db, { earliest: 0, latest: 0 });
  await expireUsage(db, 0, 90);
  await expireRequests(db, 0);
  await expireEvents(db, 0, { eventDaysKept: 1, auditDaysKept: 1 });
  await deleteEndedSessions(db, 0);
  await deleteExpiredPending(db, 0);
  await deleteExpiredChallenges(db, 0);
  await expireDeliveries(db, 0);
  await expireBin(db, 0);
  await foldNames(db);
  await service.close(); // which compares the statements with the list
});
