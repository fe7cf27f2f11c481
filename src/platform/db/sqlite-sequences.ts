import type { DatabaseSync } from "node:sqlite";

/**
 * Gives SQLite the `nextval('name')` of PostgreSQL. Counts in memory, and `save()` saves the counts inside the transaction that
 * used them, so an identifier that a client has seen is never returned again, and costs no statement.
 */
export function openSequences(connection: DatabaseSync): { load(): void; save(): void } {
  connection.exec("CREATE TABLE IF NOT EXISTS sequences (name TEXT PRIMARY KEY, value BIGINT NOT NULL)");
  const values = new Map<string, number>();
  const select = connection.prepare("SELECT name, value FROM sequences");
  const upsert = connection.prepare(
    "INSERT INTO sequences (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const used = new Set<string>();

  connection.function("nextval", (name) => {
    const sequence = String(name);
    const value = (values.get(sequence) ?? 0) + 1;
    values.set(sequence, value);
    used.add(sequence);
    return value;
  });

  /** Loads the counts of the table that are higher. */
  function load(): void {
    for (const row of select.all()) {
      const name = String(row["name"]);
      values.set(name, Math.max(values.get(name) ?? 0, Number(row["value"])));
    }
  }

  load();
  return {
    load,
    save() {
      for (const name of used) upsert.run(name, BigInt(values.get(name) ?? 0));
      used.clear();
    },
  };
}
