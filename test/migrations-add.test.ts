import assert from "node:assert/strict";
import { test } from "node:test";
import { migrationsFor } from "../src/platform/db/migrate.ts";

/** The last migration of release 1.1.0, from which on a node of one release runs beside a node of the next. */
const lastOf110 = 24;

/** Why the previous release could not use the schema that a migration makes; undefined if it can. */
function breaking(script: string): string | undefined {
  const text = script.replaceAll(/--[^\n]*/g, "");
  const statements = text.split(";").map((statement) => statement.trim());
  const forms: [RegExp, string][] = [
    [/\b(DROP|RENAME|TRUNCATE)\b/i, "takes away what earlier code uses"],
    [/\bALTER COLUMN\b.*\b(TYPE|SET NOT NULL|DROP DEFAULT)\b/is, "changes a column that earlier code writes"],
    [/^ALTER TABLE\b.*\bADD (CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b/is, "refuses what earlier code may write"],
    [/^ALTER TABLE\b.*\bADD COLUMN\b(?=.*\bNOT NULL\b)(?!.*\bDEFAULT\b)/is, "adds a column that earlier code leaves empty"],
    [/^ALTER TABLE domains ADD COLUMN\b/i, "changes `SELECT *`, which 1.1.0 has prepared on PostgreSQL for this table"],
  ];
  return statements.flatMap((statement) => forms.filter(([form]) => form.test(statement)).map(([, reason]) => reason))[0];
}

/**
 * One process at a time uses a folder, and an earlier release refuses its newer data. So on SQLite a migration may drop an index that only earlier
 * code reads, and a table or trigger that the script creates again.
 */
function withoutReplaced(script: string): string {
  const created = new Set([...script.matchAll(/^CREATE (?:TABLE|TRIGGER) (\w+) /gm)].map(([, name]) => name));
  return script.replaceAll(/^DROP (INDEX|TABLE|TRIGGER) (\w+);$/gm, (drop, type: string, name: string) =>
    type === "INDEX" || created.has(name) ? "" : drop,
  );
}

test("migrations after release 1.1.0 only add, so that its nodes work while they are replaced one by one", () => {
  for (const engine of ["sqlite", "postgres"] as const)
    for (const { number, name, script } of migrationsFor(engine)) {
      const text = engine === "sqlite" ? withoutReplaced(script) : script;
      if (number > lastOf110) assert.equal(breaking(text), undefined, `${engine}: ${number} ${name}`);
    }
  assert.equal(breaking(withoutReplaced("DROP INDEX a_b;\n")), undefined);
  for (const script of [
    "DROP INDEX a_b;",
    withoutReplaced("DROP TABLE a;\nCREATE TABLE ab (id BIGINT);"),
    withoutReplaced("DROP INDEX a_b; DROP TABLE a;"),
    withoutReplaced("DROP TRIGGER a;\n"),
  ])
    assert.notEqual(breaking(script), undefined, script);
  for (const script of [
    "CREATE TABLE a (id BIGINT); DROP TABLE b",
    "ALTER TABLE a RENAME COLUMN b TO c",
    "alter table a\n  add column b text not null",
    "ALTER TABLE a ALTER COLUMN b TYPE TEXT",
    "ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0)",
    "ALTER TABLE domains ADD COLUMN note TEXT",
  ])
    assert.notEqual(breaking(script), undefined, script);
  for (const script of [
    "-- No DROP here.\nCREATE TABLE a (id BIGINT)",
    "ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX a_b ON a (b)",
  ])
    assert.equal(breaking(script), undefined, script);
});
