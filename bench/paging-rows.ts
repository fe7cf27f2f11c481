import type { DatabaseSync } from "node:sqlite";

export const rows = 1_000_000;
const few = 1_000;

/** Values for filters: integers and texts that match most of the million rows, a few of them, and none. */
export const samples = { integers: [1, 7, 999_999_999], texts: ["rex", "name 77", "zz"] };

/**
 * Puts a million animals, orders, entries and categories into an empty shop. The values are skewed: two thirds of the animals have one
 * category, half have one name, and rare values come last.
 */
export function fillSkewed(database: DatabaseSync, accountId: number): void {
  const rare = `i > ${rows - few}`;
  const name = `CASE WHEN i % 2 = 0 THEN 'Rex' ELSE 'Name ' || (i * 7919 % 200000) END`;
  const category = `CASE WHEN ${rare} THEN 7 WHEN i % 3 = 0 THEN 1 + i % 50 ELSE 1 END`;
  const status = `CASE WHEN ${rare} THEN 'pending' WHEN i % 25 = 0 THEN 'sold' ELSE 'available' END`;
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  database.exec(`
    PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN;
    ${numbers} INSERT INTO categories SELECT ${accountId}, i, 'Kind ' || i, 'kind ' || i, NULL, 1 FROM n;
    ${numbers}, made AS (SELECT i, ${name} AS name FROM n)
      INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) SELECT ${accountId}, i, name, lower(name), ${category}, ${status}, 1 FROM made;
    ${numbers} INSERT INTO inventory (account_id, pet_id, quantity, held, status, version)
      SELECT ${accountId}, i, 1, 0, ${status}, 1 FROM n;
    ${numbers} INSERT INTO orders (account_id, id, pet_id, quantity, held, complete, version)
      SELECT ${accountId}, i, ${category}, 1, 0, ${rare}, 1 FROM n;
    COMMIT;`);
}
