import type { DatabaseSync } from "node:sqlite";

/**
 * Gives SQLite the `nextval('name')` that PostgreSQL has. Values are counted in memory and saved by `save()` inside the
 * transaction that used them, so an identifier that a client has seen is never given again, and costs no statement.
 */
export function openSequences(connection: DatabaseSync): { save(): void } {
  connection.exec("CREATE TABLE IF NOT EXISTS sequences (name TEXT PRIMARY KEY, value BIGINT NOT NULL)");
  const values = new Map<string, number>();
  for (const row of connection.prepare("SELECT name, value FROM sequences").all()) values.set(String(row["name"]), Number(row["value"]));
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

  return {
    save() {
      for (const name of used) upsert.run(name, BigInt(values.get(name) ?? 0));
      used.clear();
    },
  };
}
