import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pageOf, positionOf } from "./paging.ts";

const value = fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean());
const queries = fc.record(
  { limit: fc.constant(2), status: fc.array(value, { maxLength: 3 }), q: value, sort: value },
  { requiredKeys: ["limit"] },
);
const rows = [{ id: 1 }, { id: 2 }, { id: 3 }];

test("the link to the next page has the parameters of this one, as URLSearchParams writes them, and its cursor continues there", () => {
  fc.assert(
    fc.property(queries, (query) => {
      const page = pageOf("/pets", query, rows, ({ id }) => [id]);
      const text = /^<\/v1\/pets\?(.*)>; rel="next"$/.exec(page.headers["link"] ?? "")?.[1] ?? "";
      const cursor = new URLSearchParams(text).get("cursor") ?? "";
      const parameters = Object.entries(query).flatMap(([name, given]) => [given].flat().map((item) => [name, String(item)]));
      assert.equal(text, new URLSearchParams([...parameters, ["cursor", cursor]]).toString());
      assert.deepEqual(positionOf({ ...query, cursor }, 1), [2]);
      assert.throws(() => positionOf({ ...query, cursor, petId: 7 }, 1), { code: "invalid_request" });
    }),
  );
});
