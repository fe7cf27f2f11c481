/**
 * The baseline for a batch: inserts the same rows into the same table and indexes with a prepared statement, a thousand in each durable
 * transaction. Prints how many rows it inserts in a second of CPU.
 */
import { DatabaseSync } from "node:sqlite";

const { file, accountId, batches, size } = JSON.parse(process.env["INSERTS"] ?? "") as {
  file: string;
  accountId: number;
  batches: number;
  size: number;
};
const database = new DatabaseSync(file);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
const insert = database.prepare(
  "INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) VALUES (?, ?, ?, ?, 1, 'available', 1)",
);
const last = database.prepare("SELECT max(id) AS id FROM pets WHERE account_id = ?").get(accountId) as { id: number | null };
let id = last.id ?? 0;
const before = process.cpuUsage();
for (let batch = 0; batch < batches; batch++) {
  database.exec("BEGIN IMMEDIATE");
  for (let row = 0; row < size; row++) {
    const name = `Animal ${++id}`;
    insert.run(accountId, id, name, name.toLowerCase());
  }
  database.exec("COMMIT");
}
const { user, system } = process.cpuUsage(before);
console.log((batches * size * 1e6) / (user + system));
database.close();
