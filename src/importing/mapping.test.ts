import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parseMapping } from "./local-files.ts";
import { checkColumns } from "./mapping.ts";
import { petOf } from "./pets.ts";

const example = await readFile(new URL("../../examples/longbeach.mapping.json", import.meta.url), "utf8");
const small = { id: "no", name: { columns: ["name"] }, category: { columns: ["kind"] } };
const parse = (mapping: unknown) => parseMapping(JSON.stringify(mapping), "m.json");

test("the mapping in the examples is valid", () => {
  assert.equal(parseMapping(example, "m.json").id, "animal_id");
});

const wrong: [string, unknown, RegExp][] = [
  ["an unknown field", { ...small, colour: { columns: ["c"] } }, /wrong: colour is not a known field/],
  ["an unknown field inside a field", { ...small, name: { columns: ["name"], from: "x" } }, /name\.from is not a known field/],
  ["a missing field", { id: "no", name: { columns: ["name"] } }, /category is required/],
  [
    "a status that does not exist",
    { ...small, status: { columns: ["s"], values: { adopted: "gone" } } },
    /status\.values\.adopted must be one of available, pending, sold/,
  ],
  [
    "an unknown transform",
    { ...small, name: { columns: ["name"], transforms: ["shout"] } },
    /name\.transforms\[0\] must be one of strip-stars/,
  ],
  ["a field without a column", { ...small, name: { columns: [] } }, /name\.columns/],
  [
    "a value that is named twice",
    { ...small, status: { columns: ["s"], values: { Foster: "sold", foster: "sold" } } },
    /names “foster” twice/,
  ],
  ["a list in place of the object", [], /must be object/],
];
for (const [what, mapping, message] of wrong) {
  test(`a mapping with ${what} is refused with a line that says so`, () => {
    assert.throws(() => parse(mapping), { name: "Problem", code: "invalid_request", message });
  });
}

test("a mapping that is not JSON is refused in one line", () => {
  assert.throws(
    () => parseMapping('{\n"id": }', "m.json"),
    (error: Error) => error.message.startsWith("The mapping m.json is not JSON") && !error.message.includes("\n"),
  );
});

test("a missing column is named, with the columns that the file has", () => {
  assert.throws(() => checkColumns(parse(small), ["no", "name"], "a.csv"), {
    message: /a\.csv has no column “kind”\. Its columns are: no, name\./,
  });
});

test("a name that is empty or only stars falls back to the next column", () => {
  const header = ["animal_id", "animal_name", "animal_type", "outcome_type"];
  const toPet = petOf(parseMapping(example, "m.json"), header);
  const names = ["*charlien", "***chanticleer**", "* humu", "*", "", "a633462*haygar"].map((name) => toPet(["A1", name, "bird", ""]));
  assert.deepEqual(
    names.map((pet) => "name" in pet && pet.name),
    ["charlien", "chanticleer", "humu", "A1", "A1", "a633462*haygar"],
  );
});

test("a status value is compared regardless of case and outer spaces; an unmapped value is rejected unless there is a default", () => {
  const status = { columns: ["s"], values: { "": "available", Adoption: "sold" } };
  const statusOf = (mapping: unknown, value: string) => petOf(parse(mapping), ["no", "name", "kind", "s"])(["1", "Rex", "dog", value]);
  assert.deepEqual(statusOf({ ...small, status }, " ADOPTION "), { sourceId: "1", name: "Rex", category: "dog", status: "sold" });
  assert.deepEqual(statusOf({ ...small, status }, "eloped"), { reason: "unknown status value “eloped” in s" });
  assert.partialDeepStrictEqual(statusOf({ ...small, status: { ...status, default: "pending" } }, "eloped"), { status: "pending" });
  assert.partialDeepStrictEqual(statusOf({ ...small, status: { columns: ["s"] } }, "Pending"), { status: "pending" });
  assert.partialDeepStrictEqual(statusOf(small, "anything"), { status: "available" });
});

test("status values such as __proto__ and constructor are values like any others", () => {
  const status = JSON.parse('{"columns":["s"],"values":{"__proto__":"sold"}}') as object;
  const toPet = petOf(parse({ ...small, status }), ["no", "name", "kind", "s"]);
  assert.partialDeepStrictEqual(toPet(["1", "Rex", "dog", "__proto__"]), { status: "sold" });
  assert.partialDeepStrictEqual(toPet(["1", "Rex", "dog", "constructor"]), { reason: "unknown status value “constructor” in s" });
});

test("a name of 200 characters is accepted and one of 201 is rejected, however many bytes they have", () => {
  const toPet = petOf(parse(small), ["no", "name", "kind"]);
  assert.partialDeepStrictEqual(toPet(["1", "🐕".repeat(200), "dog"]), { sourceId: "1" });
  assert.deepEqual(toPet(["1", "🐕".repeat(201), "dog"]), { reason: "the name is over 200 characters" });
});
