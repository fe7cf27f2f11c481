import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import sql, { raw } from "sql-template-tag";
import type { Transaction } from "../src/platform/db/database.ts";
import { migrate } from "../src/platform/db/migrate.ts";
import { systemOrigin } from "../src/platform/events.ts";
import { placeOrders } from "../src/store/orders/orders.store.ts";
import { openEmpty } from "./support/databases.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The text of each statement that updates many rows at once, with NULL for the expressions that are put into it: values, which change no plan. */
const updates = globSync("src/**/*.ts", { cwd: root }).flatMap((file) =>
  Array.from(readFileSync(`${root}/${file}`, "utf8").matchAll(/statementOfRows\(`\s*(UPDATE [^`]+)`/g), ([, text = ""]) => ({
    file,
    text: text.replaceAll(/\$\{[^}]*\}/g, "NULL"),
  })),
);

test("an update of many rows finds each by its key, and does not walk the account's rows for it", async (t) => {
  const db = openEmpty(t);
  await migrate(db, 0);
  assert.ok(updates.length > 2);
  for (const { file, text } of updates) {
    const plan = await db.query<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${raw(text.replaceAll("ROWS", "json_each('[]')"))}`);
    const [first = "", second = ""] = plan.map(({ detail }) => detail);
    assert.match(first, /^SCAN \w+ VIRTUAL TABLE/, `${file}: ${text}`);
    assert.match(second, /^SEARCH \w+ USING ((COVERING )?INDEX \w+|PRIMARY KEY) \(account_id=\? AND \w+=\?/, `${file}: ${text}`);
  }
});

test("the update of stock for orders placed together finds entries by their key", async (t) => {
  const db = openEmpty(t);
  await migrate(db, 0);
  const texts: string[] = [];
  const order = { accountId: 1, fields: { petId: 1, quantity: 1, shipDate: null, complete: false }, origin: systemOrigin };
  await db.write((tx) => {
    const updateEach: Transaction["updateEach"] = (update, rows) => {
      texts.push(update.statementFor(8).sqlite);
      return tx.updateEach(update, rows);
    };
    return placeOrders({ ...tx, updateEach }, [order, { ...order }]);
  });
  assert.equal(texts.length, 1);
  const plan = await db.query<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${raw(texts[0]!)}`);
  const details = plan.map(({ detail }) => detail);
  assert.ok(
    details.some((detail) => /^SEARCH inventory USING .*\(account_id=\? AND pet_id=\?/.test(detail)),
    details.join(),
  );
  assert.ok(!details.some((detail) => detail.startsWith("SCAN inventory")), details.join());
});
