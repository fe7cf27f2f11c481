import assert from "node:assert/strict";
import { test } from "node:test";
import { eventTypes } from "../../src/platform/event-types.ts";
import { activitySearch, kinds, queryOf } from "./search.ts";

test("invalid filters in an address are dropped, and valid ones stay", () => {
  const wrong = { who: "me", kind: "none", from: "2026-02-30", to: "yesterday", request: "", event: -1 };
  assert.deepEqual(activitySearch(wrong), {});
  const right = { who: "member/3", kind: "key", from: "2026-02-28", to: "2026-03-01", request: "r1", event: 7 } as const;
  assert.deepEqual(activitySearch(right), right);
  for (const who of ["key/0", "key/", "system/1", "member/3 "]) assert.deepEqual(activitySearch({ who }), {}, who);
});

test("the last day is included to its end", () => {
  const query = queryOf({ from: "2026-11-23", to: "2026-11-23" });
  const [from, to] = [new Date(query.get("from")!), new Date(query.get("to")!)];
  assert.deepEqual([from.getDate(), from.getHours(), to.getDate(), to.getHours()], [23, 0, 24, 0]);
  assert.deepEqual(
    [...queryOf({ kind: "plan", who: "system" })],
    [
      ["types", "account.*,limit.*"],
      ["actor", "system"],
    ],
  );
});

test("the kind `everything` has every type of event, and so do the other kinds together", () => {
  const groups = new Set(eventTypes.map((type) => `${type.split(".")[0]}.*`));
  const { shop: _shop, everything, ...others } = kinds;
  assert.deepEqual(new Set(everything.split(",")), groups);
  assert.deepEqual(new Set(Object.values(others).flatMap((types) => types.split(","))), groups);
});
