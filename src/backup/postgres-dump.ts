import pg from "pg";
import { optionsOf, serverOf } from "../platform/db/postgres-connections.ts";
import { translateConnecting } from "../platform/db/postgres-errors.ts";
import {
  DumpError,
  inOrderOfReferences,
  leftOut,
  pageLength,
  pageRows,
  type Column,
  type Dump,
  type MigrationName,
  type Table,
  type Value,
} from "./dump.ts";

const patience = { connectMs: 5_000, statementMs: 600_000 };

/** A named blob: `<hash>`, `<hash>.br` or `<hash>.gz` for published files, `upload/<name>` for archives that wait to be unpacked. */
type StoredBlob = { id: string; name: string; bytes: number; sha256: string };
export type PostgresDump = Dump & {
  client: pg.Client;
  /** Lists the complete blobs by name. */
  blobs(): AsyncIterable<StoredBlob>;
  /** Reads the bytes of a blob, a piece at a time. */
  bytesOf(blob: StoredBlob): AsyncIterable<Uint8Array>;
};

/** Connects for work that takes longer than a request. @throws Problem `unavailable`, whose message does not repeat the password */
export async function connectForLong(url: string): Promise<pg.Client> {
  const client = new pg.Client({ ...optionsOf(url, patience), application_name: "petstore backup" });
  client.on("error", () => undefined); // its statements fail with the same error
  try {
    await client.connect();
    await client.query(`SET statement_timeout = ${patience.statementMs}; SET idle_in_transaction_session_timeout = ${patience.statementMs};
      SET client_min_messages = warning`);
    return client;
  } catch (error) {
    client.end().catch(() => undefined);
    throw translateConnecting(error, serverOf(url));
  }
}

/** Opens a snapshot of a PostgreSQL database that services may be using: one transaction that reads and locks nothing. */
export async function openPostgresDump(url: string): Promise<PostgresDump> {
  const client = await connectForLong(url);
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const found = await client.query<{ table: string | null }>(`SELECT to_regclass('migrations') AS "table"`);
    if (!found.rows[0]?.table) throw new DumpError("the database of DATABASE_URL has no data of a pet store");
    const { rows: migrations } = await client.query<MigrationName>("SELECT number, name FROM migrations ORDER BY number");
    return {
      engine: "postgres",
      client,
      migrations,
      tables: await tablesOf(client),
      // read after the snapshot began, so no row of it has a higher identifier
      sequences: await sequencesOf(client),
      rows: (table) => rowsOf(client, table),
      blobs: () =>
        pagesOf<StoredBlob>(client, `SELECT id, name, bytes, sha256 FROM blobs WHERE name IS NOT NULL ORDER BY name COLLATE "C"`),
      bytesOf: (blob) => bytesOf(client, blob),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** The tables of a database, except those that are not copied. */
export async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<{ table: string; name: string; type: string; place: number | null }>(`
    SELECT class.relname AS "table", attribute.attname AS name, type.typname AS type,
      array_position(CAST(key.indkey AS SMALLINT[]), attribute.attnum) AS place
    FROM pg_class class
    JOIN pg_attribute attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
    JOIN pg_type type ON type.oid = attribute.atttypid
    LEFT JOIN pg_index key ON key.indrelid = class.oid AND key.indisprimary
    WHERE class.relkind = 'r' AND class.relnamespace = CAST(current_schema() AS REGNAMESPACE)
    ORDER BY class.relname COLLATE "C", attribute.attname COLLATE "C"`);
  const byTable = Map.groupBy(rows, ({ table }) => table);
  const tables = [...byTable].filter(([name]) => !leftOut.has(name)).map(([name, columns]) => tableOf(name, columns));
  const { rows: references } = await client.query<{ from: string; to: string }>(`
    SELECT source.relname AS "from", target.relname AS "to" FROM pg_constraint
    JOIN pg_class source ON source.oid = conrelid JOIN pg_class target ON target.oid = confrelid
    WHERE contype = 'f' AND source.relnamespace = CAST(current_schema() AS REGNAMESPACE)`);
  return inOrderOfReferences(tables, references);
}

function tableOf(name: string, rows: { name: string; type: string; place: number | null }[]): Table {
  const key = rows.filter(({ place }) => place !== null).toSorted((a, b) => a.place! - b.place!);
  return { name, columns: rows.map((row) => ({ name: row.name, type: typeOf(row.type) })), key: key.map((row) => row.name) };
}

function typeOf(type: string): Column["type"] {
  if (/^int[248]$/.test(type)) return "integer";
  if (type === "bool") return "boolean";
  return type === "bytea" ? "bytes" : "text";
}

async function sequencesOf(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; value: number | null }>(
    `SELECT sequencename AS name, last_value AS value FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL
      ORDER BY sequencename COLLATE "C"`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

async function* rowsOf(client: pg.Client, { name, columns, key }: Table): AsyncGenerator<Value[][]> {
  const quoted = (one: string): string => pg.escapeIdentifier(one);
  const chosen = columns.map((column) => (column.type === "bytes" ? `encode(${quoted(column.name)}, 'hex')` : quoted(column.name)));
  // by bytes, as the other engine orders text
  const typed = new Map(columns.map((column) => [column.name, column.type]));
  const order = key.map((one) => (typed.get(one) === "text" ? `${quoted(one)} COLLATE "C"` : quoted(one)));
  const rows = await rowsAtOnce(client, name, columns);
  yield* fetched<Value[]>(client, `SELECT ${chosen.join(", ")} FROM ${quoted(name)} ORDER BY ${order.join(", ")}`, rows, "array");
}

/** How many rows to read at once. Even the longest must be at most some MiB of text together, because a page is in memory as a whole. */
async function rowsAtOnce(client: pg.Client, table: string, columns: Column[]): Promise<number> {
  const texts = columns.filter(({ type }) => type === "text" || type === "bytes");
  if (texts.length === 0) return pageRows;
  const length = texts.map(({ name }) => `COALESCE(octet_length(${pg.escapeIdentifier(name)}), 0)`).join(" + ");
  const { rows } = await client.query<{ longest: number | null }>(`SELECT MAX(${length}) AS longest FROM ${pg.escapeIdentifier(table)}`);
  return Math.max(1, Math.min(pageRows, Math.floor((pageLength * pagesOfLongest) / ((rows[0]?.longest ?? 0) + 1))));
}

async function* pagesOf<R>(client: pg.Client, text: string): AsyncGenerator<R> {
  for await (const page of fetched<R>(client, text, pageRows)) yield* page;
}

async function* bytesOf(client: pg.Client, { id }: StoredBlob): AsyncGenerator<Uint8Array> {
  for (let piece = 0; ; piece++) {
    const { rows } = await client.query<{ content: Buffer }>({
      name: "piece",
      text: "SELECT content FROM blob_pieces WHERE blob_id = $1 AND piece = $2",
      values: [id, piece],
    });
    if (rows[0] === undefined) return;
    yield rows[0].content;
  }
}

/** A page whose rows were all as long as the longest would have this many times the usual length. */
const pagesOfLongest = 8;
let cursors = 0;

/** Reads the rows of a query through a cursor, so that the server sends no more than one page. */
async function* fetched<R>(client: pg.Client, text: string, rows: number, rowMode?: "array"): AsyncGenerator<R[]> {
  const cursor = `dump_${++cursors}`;
  await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`);
  for (;;) {
    const fetch = { text: `FETCH ${rows} FROM ${cursor}`, ...(rowMode && { rowMode }) };
    const page = (await client.query(fetch as { text: string })).rows as R[];
    if (page.length > 0) yield page;
    if (page.length < rows) break;
  }
  await client.query(`CLOSE ${cursor}`);
}
