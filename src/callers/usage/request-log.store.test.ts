import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sql } from "sql-template-tag";
import type { Transaction } from "../../platform/db/database.ts";
import { insertRequests, type LoggedRequest } from "./request-log.store.ts";

test("rows are inserted by account and position, whatever order requests were answered in, so that nodes cannot deadlock", async () => {
  const inserted: unknown[] = [];
  const query = ({ text, values }: Sql): Promise<unknown[]> => {
    if (!text.includes("INSERT")) return Promise.resolve([{ id: 1 }, { id: 2 }]);
    for (let i = 0; i < values.length; i += 6) inserted.push(values.slice(i, i + 2));
    return Promise.resolve([]);
  };
  const answered = [
    [2, 7],
    [1, 9],
    [2, 5],
    [1, 8],
  ] as const;
  const requests = answered.map(([accountId, position]): LoggedRequest => {
    return { accountId, position, keyId: 1, method: "GET", route: "/pets", status: 200 };
  });
  await insertRequests({ query } as unknown as Transaction, requests);
  assert.deepEqual(inserted, [
    [1, 8],
    [1, 9],
    [2, 5],
    [2, 7],
  ]);
});
