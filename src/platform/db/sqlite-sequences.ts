import type { DatabaseSync } from "node:sqlite";

type Counts = { values: Map<string, number>; used: Set<string> };

export type Sequences = {
  next(name: string): number;
  load(): void;
  save(): void;
  /** The present counts, for `restore` after a body whose identifiers nothing has stored. */
  counts(): Counts;
  restore(counts: Counts): void;
};

/**
 * Gives SQLite the `nextval('name')` of PostgreSQL. Counts in memory, and `save()` saves the counts inside the transaction that
 * used them, so an identifier that a client has seen is never returned again, and costs no statement.
 */
export function openSequences(connection: DatabaseSync): Sequences {
  connection.exec("CREATE TABLE IF NOT EXISTS sequences (name TEXT PRIMARY KEY, value BIGINT NOT NULL)");
  let values = new Map<string, number>();
  const select = connection.prepare("SELECT name, value FROM sequences");
  const upsert = connection.prepare(
    "INSERT INTO sequences (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  let used = new Set<string>();

  function next(name: string): number {
    const value = (values.get(name) ?? 0) + 1;
    values.set(name, value);
    used.add(name);
    return value;
  }

  connection.function("nextval", (name) => next(String(name)));

  /** Loads the counts that are higher in the table. */
  function load(): void {
    for (const row of select.all()) {
      const name = String(row["name"]);
      values.set(name, Math.max(values.get(name) ?? 0, Number(row["value"])));
    }
  }

  load();
  return {
    next,
    load,
    save() {
      for (const name of used) upsert.run(name, BigInt(values.get(name) ?? 0));
      used.clear();
    },
    counts: () => ({ values: new Map(values), used: new Set(used) }),
    restore(counts) {
      ({ values, used } = counts);
    },
  };
}
