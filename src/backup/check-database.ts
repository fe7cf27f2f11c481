import { encryptedColumns } from "../platform/encrypted-columns.ts";
import { attempt } from "../platform/parse.ts";
import { namedMax, numbered, rules, type Rule } from "./check-rules.ts";
import type { Ask, Dump, Table, Value } from "./dump.ts";

/** Collects faults, one line each. */
export type Faults = { add(fault: string): void; lines: string[] };

/** How many faults a check reports in all. */
const linesMax = 1_000;

/** The ids of the keys that are known; undefined if only the nodes of the service know them. */
export type KeyIds = readonly string[] | undefined;

export function openFaults(): Faults {
  const lines: string[] = [];
  return { lines, add: (fault) => void (lines.length < linesMax && lines.push(fault.replaceAll("\n", " "))) };
}

/** Runs a check. Data that it cannot read is a fault too. */
export async function attemptCheck(faults: Faults, what: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    faults.add(`${what}: cannot be read (${(error as Error).message})`);
  }
}

/** Checks the rows of a snapshot: that the engine can read them, references, stock, counts, sequences, answers kept for an Idempotency-Key, and secrets. */
export async function checkDatabase(dump: Dump, keyIds: KeyIds, faults: Faults): Promise<void> {
  const { ask } = dump;
  if (dump.engine === "sqlite") await attemptCheck(faults, "the database", () => checkPages(ask, faults));
  await attemptCheck(faults, "references", () => checkReferences(dump, faults));
  await checkRows(dump, keyIds, faults);
  if (dump.tables.some(({ name }) => name === "idempotency"))
    await attemptCheck(faults, "answers kept for an Idempotency-Key", () => checkAnswers(dump, faults));
}

/** Checks that rows agree with each other: stock, counts, sequences and secrets. */
export async function checkRows(
  dump: Pick<Dump, "migrations" | "tables" | "sequences" | "ask">,
  keyIds: KeyIds,
  faults: Faults,
): Promise<void> {
  const { ask } = dump;
  const tables = new Set(dump.tables.map(({ name }) => name));
  for (const group of rules) {
    if (!tables.has(group.table) || (group.unless !== undefined && tables.has(group.unless))) continue;
    if (group.since !== undefined && !dump.migrations.some(({ number }) => number === group.since)) continue;
    for (const rule of group.rules) await attemptCheck(faults, rule.what, () => checkRule(rule, ask, faults));
  }
  await attemptCheck(faults, "sequences", () => checkSequences(dump, tables, faults));
  if (keyIds) await attemptCheck(faults, "secrets", () => checkSecrets(dump, keyIds, faults));
}

async function checkRule({ query, say, what }: Rule, ask: Ask, faults: Faults): Promise<void> {
  const rows = await ask(`${query} LIMIT ${namedMax + 1}`);
  for (const row of rows.slice(0, namedMax)) faults.add(say(row));
  if (rows.length > namedMax) faults.add(`more rows break the rule that ${what}`);
}

async function checkPages(ask: Ask, faults: Faults): Promise<void> {
  for (const row of await ask(`PRAGMA integrity_check(${namedMax})`)) {
    const text = String(row["integrity_check"]);
    if (text !== "ok") faults.add(`the database is damaged: ${text}`);
  }
}

/** A foreign key: the columns of a table, and those of the table that they refer to. */
type Reference = { from: string; to: string; columns: string[]; keys: string[] };

/**
 * Checks that each foreign key finds its row. SQLite enforces them for each connection that asks for it; PostgreSQL by triggers, which a superuser can
 * switch off and a damaged index can mislead.
 */
async function checkReferences({ engine, tables, ask }: Dump, faults: Faults): Promise<void> {
  for (const { from, to, columns, keys } of await (engine === "sqlite" ? referencesOfSqlite(ask) : referencesOfPostgres(ask))) {
    const names = tables.find(({ name }) => name === from)?.key ?? columns;
    const isSame = columns.map((column, at) => `target."${keys[at]}" = source."${column}"`).join(" AND ");
    const isSet = columns.map((column) => `source."${column}" IS NOT NULL`).join(" AND ");
    const rows = await ask(`
      SELECT ${names.map((name) => `source."${name}"`).join(", ")} FROM "${from}" source
      WHERE ${isSet} AND NOT EXISTS (SELECT 1 FROM "${to}" target WHERE ${isSame}) LIMIT ${namedMax + 1}`);
    for (const row of rows.slice(0, namedMax)) {
      const place = names.map((name) => `${name} ${String(row[name])}`).join(", ");
      faults.add(`the row of ${from} with ${place} refers to a row of ${to} that is not there`);
    }
    if (rows.length > namedMax) faults.add(`more rows of ${from} refer to rows of ${to} that are not there`);
  }
}

async function referencesOfSqlite(ask: Ask): Promise<Reference[]> {
  const rows = await ask(`
    SELECT made.name AS "from", part.id, part."table" AS "to", part."from" AS "column", part."to" AS "key"
    FROM sqlite_schema made JOIN pragma_foreign_key_list(made.name) part WHERE made.type = 'table' ORDER BY 1, 2, part.seq`);
  return [...Map.groupBy(rows, ({ from, id }) => `${String(from)} ${String(id)}`).values()].map((parts) => ({
    from: String(parts[0]!["from"]),
    to: String(parts[0]!["to"]),
    columns: parts.map(({ column }) => String(column)),
    keys: parts.map(({ key }) => String(key)),
  }));
}

async function referencesOfPostgres(ask: Ask): Promise<Reference[]> {
  const rows = await ask(`
    SELECT source.relname AS "from", target.relname AS "to",
      ARRAY(SELECT attname FROM unnest(conkey) WITH ORDINALITY AS part (number, place)
        JOIN pg_attribute ON attrelid = conrelid AND attnum = number ORDER BY place)::TEXT[] AS columns,
      ARRAY(SELECT attname FROM unnest(confkey) WITH ORDINALITY AS part (number, place)
        JOIN pg_attribute ON attrelid = confrelid AND attnum = number ORDER BY place)::TEXT[] AS keys
    FROM pg_constraint JOIN pg_class source ON source.oid = conrelid JOIN pg_class target ON target.oid = confrelid
    WHERE contype = 'f' AND source.relnamespace = CAST(current_schema() AS REGNAMESPACE)`);
  return rows.map(({ from, to, columns, keys }) => ({
    from: String(from),
    to: String(to),
    columns: columns as string[],
    keys: keys as string[],
  }));
}

async function checkSequences({ sequences, ask }: Pick<Dump, "sequences" | "ask">, tables: Set<string>, faults: Faults): Promise<void> {
  for (const [sequence, table] of Object.entries(numbered)) {
    if (!tables.has(table)) continue;
    const [row] = await ask(`SELECT MAX(id) AS highest FROM ${table}`);
    const [highest, value] = [Number(row?.["highest"] ?? 0), sequences[sequence] ?? 0];
    if (highest > value) faults.add(`${sequence} is at ${value}, and ${table} has ${highest}: an identifier would be given twice`);
  }
}

async function checkAnswers(dump: Dump, faults: Faults): Promise<void> {
  const table = dump.tables.find(({ name }) => name === "idempotency")!;
  for await (const page of dump.rows(table)) checkAnswerPage(table, page, faults);
}

/** Checks rows of the answers that are kept for an Idempotency-Key. */
export function checkAnswerPage({ columns }: Table, page: Value[][], faults: Faults): void {
  const at = Object.fromEntries(columns.map(({ name }, place) => [name, place]));
  for (const row of page) {
    const status = Number(row[at["status"]!]);
    if (typeof attempt((): unknown => JSON.parse(String(row[at["headers"]!]))) === "object" && status >= 200 && status < 600) continue;
    faults.add(`the answer to the Idempotency-Key of a request of account ${String(row[at["account_id"]!])} cannot be read`);
  }
}

/** Checks that a known key opens each envelope, which begins with `v1.` and the id of its key. */
async function checkSecrets({ tables, ask }: Pick<Dump, "tables" | "ask">, keyIds: readonly string[], faults: Faults): Promise<void> {
  for (const { table, column } of encryptedColumns) {
    if (!tables.find(({ name }) => name === table)?.columns.some(({ name }) => name === column)) continue;
    const rows = await ask(
      `SELECT substr(${column}, 4, 8) AS id, COUNT(*) AS count FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1 ORDER BY 1`,
    );
    for (const { id, count } of rows) {
      if (!keyIds.includes(String(id)))
        faults.add(`key ${String(id)} is missing, which opens secrets in ${table} (rows: ${String(count)})`);
    }
  }
}
