import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import type { Operation } from "../description.ts";
import { curlOf, draftOf, missingIn, requestOf } from "./request.ts";

const operation: Operation = {
  id: "updatePet",
  method: "PATCH",
  path: "/pets/{petId}",
  group: "Pets",
  tag: "Animals",
  summary: "Update an animal",
  description: "",
  hasPanel: true,
  parameters: [
    { name: "petId", in: "path", required: true, example: 2, schema: { type: "integer" } },
    { name: "id", in: "query", schema: { type: "array", items: { type: "integer" } } },
    { name: "q", in: "query", example: "a b" },
    { name: "If-Match", in: "header" },
  ],
  body: [
    { type: "application/merge-patch+json", example: { status: "sold" } },
    { type: "application/json", example: { status: "sold" } },
  ],
  answers: [],
  errors: [],
  scopes: [],
  samples: [],
};
const baseUrl = "http://localhost:8080/v1";

test("the draft is the description's example", () => {
  const request = requestOf(operation, baseUrl, draftOf(operation));
  assert.deepEqual(request, {
    method: "PATCH",
    url: `${baseUrl}/pets/2?q=a+b`,
    headers: [["Content-Type", "application/merge-patch+json"]],
    body: '{\n  "status": "sold"\n}',
  });
});

test("each value is sent in its place, array values one by one, and empty values are omitted", () => {
  const values = { "path:petId": "1/2?", "query:id": "3, 4,", "query:q": "", "header:If-Match": '"v1"' };
  const { url, headers } = requestOf(operation, baseUrl, { values, mediaType: "application/json", body: "{}" });
  assert.equal(url, `${baseUrl}/pets/1%2F2%3F?id=3&id=4`);
  assert.deepEqual(headers, [
    ["If-Match", '"v1"'],
    ["Content-Type", "application/json"],
  ]);
});

test("a path parameter without a value is missing, a query parameter is not", () => {
  const draft = { ...draftOf(operation), values: {} };
  assert.deepEqual(
    missingIn(operation, draft).map(({ name }) => name),
    ["petId"],
  );
});

test("a file is sent unchanged, and the curl command names it", () => {
  const upload: Operation = { ...operation, method: "POST", path: "/files", parameters: [], body: [{ type: "application/gzip" }] };
  const file = new File(["x"], "site's.tar.gz");
  const request = requestOf(upload, baseUrl, { values: {}, mediaType: "application/gzip", body: "", file });
  assert.equal(request.body, file);
  assert.ok(curlOf(request).endsWith(`--data-binary '@site'\\''s.tar.gz'`));
});

test("the curl command never contains the key, only the variable that holds it", () => {
  assert.match(curlOf(requestOf(operation, baseUrl, draftOf(operation))), /-H "Authorization: Bearer \$API_KEY"/);
});

test("a shell passes every value of a request to curl unchanged", () => {
  const text = anyText({ maxLength: 40 }).filter((value) => !/[\0\uD800-\uDFFF]/.test(value));
  fc.assert(
    fc.property(text, text, (value, body) => {
      const command = curlOf({ method: "POST", url: `${baseUrl}/pets`, headers: [["X-Note", value]], body });
      const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
      const printed = execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8", env: { API_KEY: "psk_test" } }).split("\0");
      assert.deepEqual(printed, [
        "-X",
        "POST",
        `${baseUrl}/pets`,
        "-H",
        "Authorization: Bearer psk_test",
        "-H",
        `X-Note: ${value}`,
        "--data-raw",
        body,
        "",
      ]);
    }),
    { numRuns: 40 },
  );
});
