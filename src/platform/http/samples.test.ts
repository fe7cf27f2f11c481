import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Type } from "typebox";
import type { DescribedOperation } from "./operation.ts";
import { codeSamples } from "./samples.ts";

const body = { name: `It's "true": \\ null`, tags: ["a", "b"], isNew: true, price: null };
const operation = { method: "POST", path: "/pets", body: Type.Object({}), example: { body }, answers: { 201: { description: "" } } };
const sources = Object.fromEntries(codeSamples(operation as unknown as DescribedOperation).map(({ label, source }) => [label, source]));

test("each sample has a field of the body on each line", () => {
  for (const [label, source] of Object.entries(sources)) {
    for (const name of Object.keys(body)) assert.match(source, new RegExp(`^ +"${name}": `, "m"), label);
  }
});

test("a shell passes the body of the curl sample on unchanged", () => {
  const passed = execFileSync("sh", ["-c", `curl() { for last; do :; done; printf %s "$last"; }; ${sources["curl"]}`], {
    encoding: "utf8",
  });
  assert.deepEqual(JSON.parse(passed), body);
});

test("the Python sample has Python's words for true and null, and leaves strings as they are", () => {
  const python = sources["Python"] ?? "";
  assert.ok(python.includes(`"name": ${JSON.stringify(body.name)},`), python);
  assert.ok(python.includes(`"isNew": True,\n        "price": None\n    },`), python);
});
