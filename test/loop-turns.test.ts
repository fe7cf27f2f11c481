import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loopsWithoutTurns } from "./loop-turns.ts";

const root = new URL("../", import.meta.url);

/** Functions whose loops are so short that they need no turn, each with the reason. */
const short: Record<string, string> = {
  "src/administration/encrypted-columns.store.ts#usedKeyIds": "one look-up for each key that encrypted something, of which there are a few",
  "src/administration/encrypted-columns.store.ts#countEncrypted": "one count for each encrypted column",
  "src/events/log/order-history.routes.ts#placingOf": "a binary search: at most 50 reads of one row",
  "src/events/webhooks/session.ts#readRetries": "at most 20 retries, which are one page of a scan",
  "src/publishing/certificates/budget.ts#listUses": "one read for each of four limits",
  "src/publishing/projects/shared-bytes.ts#listSizes": "files are in the database only on PostgreSQL, where each read waits for the server",
  "src/publishing/projects/shared-bytes.ts#read": "the same",
};

test("every loop that reads from the database gives turns", () => {
  // Backups, restores, checks and commands run in processes of their own.
  const paths = globSync("src/**/*.ts", {
    cwd: root,
    exclude: ["src/backup/**", "src/commands/**", "src/importing/**", "src/**/*.test.ts"],
  });
  const files = paths.map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(new URL(path, root), "utf8") }));
  const found = loopsWithoutTurns(files);
  const wrong = found.filter(({ within }) => short[within] === undefined);
  assert.deepEqual(wrong, [], "read through `db.scan`, or call the function of `openTurns` in each step");
  assert.deepEqual(
    Object.keys(short).filter((name) => !found.some(({ within }) => within === name)),
    [],
    "exceptions that nothing needs",
  );
});

const store = `export async function findPet(db, id) { return first(db, id); }
const first = async (db, id) => (await db.rows(one, [id]))[0];
export async function pagesOf(db) { return db.scan(() => db.query(all)); }`;
const found = (text: string) =>
  loopsWithoutTurns([
    { path: "src/pets.store.ts", text: store },
    { path: "src/a.ts", text: `import { findPet as look, pagesOf } from "./pets.store.ts";\n${text}` },
  ]).map(({ place, within, read }) => `${place} ${within} ${read}`);

for (const [text, loop] of [
  ["async function all(db) {\n  for (;;) await db.query(next);\n}", "src/a.ts:3 src/a.ts#all query"],
  ["const all = async (db) => { while (await look(db, 1)) step(); };", "src/a.ts:2 src/a.ts#all look"],
  ["async function each({ db }, ids) { for (const id of ids) keep(await attempt(() => look(db, id))); }", "src/a.ts:2 src/a.ts#each look"],
  ["const each = (db, ids) => Promise.all(ids.map((id) => db.rows(pet, [1, id])));", "src/a.ts:2 src/a.ts#each rows"],
  ["async function* all(db) { do { yield await rest.db.rows(next, []); } while (isMore); }", "src/a.ts:2 src/a.ts#all rows"],
] as const) {
  test(`a loop that reads and gives no turn is found: ${text}`, () => assert.deepEqual(found(text), [loop]));
}

for (const text of [
  "async function all(db) { for (;;) await db.scan(() => db.query(next)); }",
  "async function all(db) { const turn = openTurns(); for (;;) { await db.query(next); await turn(); } }",
  "async function all(db) { for (;;) await pagesOf(db); }",
  "async function all(db) { for (const id of ids) await db.write((tx) => tx.query(change(id))); }",
  "async function all(tx) { for (const id of ids) await look(tx, id); }",
  "const shown = (db, rows) => rows.map((row) => () => look(db, row.id));",
]) {
  test(`a loop that gives turns is not: ${text}`, () => assert.deepEqual(found(text), []));
}
