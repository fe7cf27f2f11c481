import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "./queries.ts";
import { fieldsOf, whatOf, whoOf } from "./words.ts";

const entry: Entry = {
  position: 1,
  type: "project.updated",
  at: "2026-11-23T03:00:00.000Z",
  actor: { type: "member", id: 3, name: null },
  requestId: null,
  resource: { type: "project", id: 5 },
  data: { id: 5, name: "Rex", hsts: true, domains: { primary: "rex.example", redirects: [{ from: "www.rex.example" }] } },
  previous: { hsts: false, domains: { primary: null, redirects: [] } },
};

test("an event shows the name of its resource, or its number if there is no name", () => {
  assert.equal(whatOf(entry, new Map()), "Changed the project Rex");
  const revoked: Entry = { ...entry, type: "key.revoked", resource: { type: "key", id: 7 }, data: { id: 7 } };
  assert.equal(whatOf(revoked, new Map()), "Revoked the key “Key 7”");
  assert.equal(whatOf(revoked, new Map([["key/7", "Till"]])), "Revoked the key “Till”");
  assert.equal(whoOf(entry), "A former member");
});

test("only the fields that changed are shown, before and after, in words", () => {
  assert.deepEqual(fieldsOf(entry), [
    { name: "Only over HTTPS", before: "No", after: "Yes" },
    { name: "Domains", before: "Primary: None; Redirects: None", after: "Primary: rex.example; Redirects: From: www.rex.example" },
  ]);
});

test("a new resource shows every field except its id", () => {
  const fields = fieldsOf({ ...entry, previous: {}, data: { id: 5, types: ["*"], lowStock: 1_000, note: "" } });
  const after = fields.map(({ name, before, after: text }) => [name, before, text]);
  assert.deepEqual(after, [
    ["What it gets", undefined, "Everything"],
    ["Low stock", undefined, (1_000).toLocaleString()],
    ["Note", undefined, "None"],
  ]);
});

test("a domain's troubles are shown in words, not in codes", () => {
  const data = { troubles: ["plan_required", "dns_wrong", "certificate_missing", "certificate_not_renewed"] };
  const [field] = fieldsOf({ ...entry, type: "domain.attention", data, previous: { troubles: [] } });
  assert.deepEqual([field?.name, field?.before], ["What is wrong", "None"]);
  assert.match(field?.after ?? "", /includes no custom domains, Its DNS records/);
  assert.doesNotMatch(field?.after ?? "", /_/);
});
