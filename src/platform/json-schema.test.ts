import assert from "node:assert/strict";
import { test } from "node:test";
import { Type as Typebox } from "typebox";
import { Check } from "typebox/value";
import { Type } from "./json-schema.ts";

const nothing = {};
const options = { description: "A thing.", default: "a" };

function schemasBy(builders: typeof Type) {
  const optional = builders.Optional(builders.String(options));
  return {
    array: builders.Array(builders.Integer(), { maxItems: 3 }),
    boolean: builders.Boolean(options),
    enum: builders.Enum(["a", "b"], options),
    integer: builders.Integer({ minimum: 1 }),
    number: builders.Number({ maximum: 0.5 }),
    empty: builders.Object(nothing),
    optional: builders.Object({ optional }),
    object: builders.Object({ a: builders.Boolean(), optional, b: builders.Object({ optional }) }, { additionalProperties: false }),
    string: builders.String({ pattern: "^a", maxLength: 4 }),
    unsafe: builders.Unsafe<"a">({ type: "string", enum: ["a"] }),
    optionalCopy: builders.Object({ copy: { ...optional, description: "Copied." }, again: builders.Optional(optional) }),
  };
}

test("each builder makes the same JSON as typebox's, in the same order", () => {
  assert.equal(JSON.stringify(schemasBy(Type)), JSON.stringify(schemasBy(Typebox as typeof Type)));
});

test("an optional schema is a copy, and typebox checks values by these schemas", () => {
  const text = Type.String();
  Type.Optional(text);
  const schema = Type.Object({ text, note: Type.Optional(text) });
  assert.deepEqual((schema as { required?: string[] }).required, ["text"]);
  assert.deepEqual(
    [{ text: "a" }, { text: "a", note: "b" }, { note: "b" }, { text: 1 }].map((value) => Check(schema, value)),
    [true, true, false, false],
  );
});
