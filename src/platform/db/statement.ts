/**
 * A value of a prepared statement; a boolean is written as 0 or 1. SQLite binds every number as REAL, which equals the integer in
 * comparisons with numeric columns and becomes it when such a column stores it. So a number is never compared with or stored in a column
 * of text.
 */
export type BoundValue = string | number | null | Uint8Array;

/** A statement whose text never changes: each connection prepares it once. `R` has the types of its columns. */
export type Statement<R extends unknown[] = unknown[]> = {
  /** Its place among all statements, by which a connection finds what it has prepared. */
  readonly place: number;
  readonly sqlite: string;
  readonly postgres: string;
  readonly row?: R;
};

/** A statement with the values of one request. */
export type Bound<R extends unknown[] = unknown[]> = { statement: Statement<R>; values: BoundValue[] };

let count = 0;

/**
 * Makes a statement, with `?` in place of each value, or `?1`, `?2` where one occurs twice. Make each text's statement once and keep it,
 * because connections keep what they prepare.
 *
 * @param postgres the text for PostgreSQL, if it differs
 */
export function statement<R extends unknown[] = unknown[]>(sqlite: string, postgres = sqlite): Statement<R> {
  let values = 0;
  const numbered = postgres.replaceAll(/\?(\d*)/g, (_all, place: string) => `$${place || ++values}`);
  return { place: count++, sqlite, postgres: numbered };
}

/**
 * An INSERT of rows whose key `id` gets the next identifier of a sequence. `statementFor` takes that many rows on SQLite, and one on PostgreSQL, where
 * `ofMany` takes any number (`statementOfRows`).
 */
export type Insertion = {
  readonly sequence: string;
  readonly statementFor: (rows: number) => Statement<[id: number]>;
  readonly ofMany: Statement<[id: number]>;
};

/** Columns of a new row that are copied from a row of another table: that whose key equals these columns of the new row, if there is one. */
type CopiedColumns = { from: string; key: readonly string[]; columns: readonly string[] };

/** Makes an insertion into a table. `columns` has the types of its columns, in the order of a row's values. */
export function insertion(
  table: string,
  sequence: string,
  columns: Readonly<Record<string, "BIGINT" | "TEXT" | "BOOLEAN">>,
  copied?: CopiedColumns,
): Insertion {
  const [names, types] = [Object.keys(columns), Object.values(columns)];
  const into = `INSERT INTO ${table} (id, ${[...names, ...(copied?.columns ?? [])].join(", ")})`;
  const row = `(${["id", ...names].map(() => "?").join(", ")})`;
  const typed = (valueOf: (place: number) => string): string =>
    types.map((type, place) => `CAST(${valueOf(place)} AS ${type}) AS ${names[place]}`).join(", ");
  const one = `SELECT ${typed(() => "?")}`;
  const many = `SELECT ${typed((place) => `made.value ->> ${place}`)} FROM ROWS AS made`;
  const onServer = (made: string): string =>
    `${into} SELECT nextval('${sequence}'), made.*${copied ? ", copied.*" : ""} FROM (${made}) AS made ${copied ? joinedInOrder(copied) : ""} RETURNING id`;
  return {
    sequence,
    ofMany: statementOfRows(onServer(many)),
    statementFor: cachedByRows((rows) => {
      const values = `VALUES ${Array.from({ length: rows }, () => row).join(", ")}`;
      return statement(`${into} ${copied ? joinedValues(values, names, copied) : values}`, onServer(one));
    }),
  };
}

/** A join costs SQLite little; a subquery in each row of VALUES would add a third to the INSERT of an order (decision 0121). */
function joinedValues(values: string, names: readonly string[], { from, key, columns }: CopiedColumns): string {
  const on = key.map((name) => `${from}.${name} = made.column${names.indexOf(name) + 2}`).join(" AND ");
  return `SELECT made.*, ${columns.map((name) => `${from}.${name}`).join(", ")} FROM (${values}) AS made LEFT JOIN ${from} ON ${on}`;
}

/** The LIMIT keeps PostgreSQL from a join that would change the order of the rows, and with it which row gets which identifier. */
function joinedInOrder({ from, key, columns }: CopiedColumns): string {
  const where = key.map((name) => `${from}.${name} = made.${name}`).join(" AND ");
  return `LEFT JOIN LATERAL (SELECT ${columns.join(", ")} FROM ${from} WHERE ${where} LIMIT 1) AS copied ON TRUE`;
}

/** The most rows of one statement. */
const rowsMax = 128;

/**
 * Cuts rows of `width` values into portions, each for one statement. A portion of more than eight rows has a multiple of eight, so that few different
 * statements are prepared.
 *
 * @param values those of the first row, then those of the second, and so on
 */
export function portionsOf(
  values: readonly BoundValue[],
  width: number,
  most = rowsMax,
): { rows: number; values: readonly BoundValue[] }[] {
  const portions: { rows: number; values: readonly BoundValue[] }[] = [];
  for (let from = 0; from < values.length;) {
    const left = Math.min((values.length - from) / width, most);
    const rows = left < 8 ? left : left - (left % 8);
    portions.push({ rows, values: values.slice(from, (from += rows * width)) });
  }
  return portions;
}

/**
 * An UPDATE by key, which `Transaction.updateEach` runs with many rows of values: `one` with each, or `statementFor` with several at once. In its
 * text, `?1` stands for the first value of a row, `?2` for the second.
 */
export type RowUpdate<R extends unknown[] = unknown[]> = {
  readonly one: Statement<R>;
  readonly statementFor: (rows: number) => Statement<R>;
};

/** Makes an UPDATE by key. `where` compares the whole key, the account too: otherwise SQLite would walk all rows of an account. */
export function rowUpdate<R extends unknown[]>(table: string, set: string, where: string, returning: string): RowUpdate<R> {
  const width = Math.max(...Array.from(`${set} ${where}`.matchAll(/\?(\d+)/g), ([, place]) => Number(place)));
  const row = `(${Array.from({ length: width }, () => "?").join(", ")})`;
  const ofRow = (text: string): string => text.replaceAll(/\?(\d+)/g, "changed.column$1");
  return {
    one: statement(`UPDATE ${table} SET ${set} WHERE ${where} RETURNING ${returning}`),
    statementFor: cachedByRows((rows) => {
      const values = Array.from({ length: rows }, () => row).join(", ");
      return statement(`UPDATE ${table} SET ${ofRow(set)} FROM (VALUES ${values}) AS changed WHERE ${ofRow(where)} RETURNING ${returning}`);
    }),
  };
}

/** Caches the statement for each number of rows, of which `portionsOf` makes few. */
export function cachedByRows<R extends unknown[]>(make: (rows: number) => Statement<R>): (rows: number) => Statement<R> {
  const made: (Statement<R> | undefined)[] = [];
  return (rows) => (made[rows] ??= make(rows));
}

/**
 * Makes a statement over many rows, which are its first value: the text of a JSON array of arrays. In its text, `ROWS` stands for their table: the
 * column `value` is one row, and `value ->> 0` its first value, as text on PostgreSQL. An UPDATE takes the whole key from the row, the account too:
 * SQLite would walk all rows of an account that is a parameter, once for each row.
 */
export function statementOfRows<R extends unknown[] = unknown[]>(text: string): Statement<R> {
  return statement(text.replaceAll("ROWS", "json_each(?1)"), text.replaceAll("ROWS", "jsonb_array_elements(CAST(?1 AS JSONB))"));
}

/** Makes a SELECT that locks its rows until the transaction ends, if the engine locks rows. */
export function lockingStatement<R extends unknown[]>(select: string): Statement<R> {
  return statement(select, `${select} FOR UPDATE`);
}
