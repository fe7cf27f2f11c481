import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv } from "ajv";
import fc from "fast-check";
import { Type, type TSchema } from "typebox";
import { anyText } from "../../../test/support/any-text.ts";
import { detailsMax, type Detail } from "../problem.ts";
import { parseDateTime } from "./dates.ts";
import { DateTime, Id, Nullable, Text } from "./schemas.ts";
import { checkOf } from "./value-checks.ts";

const closed = { additionalProperties: false };
const Item = Type.Object(
  {
    name: Text("", 1, 20),
    note: Type.Optional(Nullable(Text("", 0, 5))),
    id: Type.Optional(Id("")),
    count: Type.Optional(Type.Integer({ minimum: -3, maximum: 10, format: "int32" })),
    hours: Type.Optional(Type.Number({ minimum: 0 })),
    at: Type.Optional(DateTime("")),
    done: Type.Optional(Type.Boolean({ default: false })),
    kind: Type.Optional(Nullable(Type.Unsafe<"dog" | "cat">({ type: "string", enum: ["dog", "cat"] }))),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 3 }), { minItems: 1, maxItems: 2 })),
    inner: Type.Optional(Nullable(Type.Object({ to: Type.Optional(Type.String({ minLength: 2 })) }, closed))),
    form: Type.Optional(Type.Unsafe<unknown>({ anyOf: [Type.Object({ to: Type.String() }, closed), { const: "dog" }] })),
    counts: Type.Optional(Type.Unsafe<object>({ type: "object", additionalProperties: Type.Integer() })),
  },
  closed,
);
const Items = Type.Array(Item, { minItems: 1, maxItems: 1_000 });

function found(schema: TSchema, value: unknown): Detail[] {
  const problems: Detail[] = [];
  checkOf(schema)(value, "body", problems);
  return problems;
}

const ajv = new Ajv({ strict: false, useDefaults: true });
ajv.addFormat("int64", { type: "number", validate: (value: number) => value >= -(2 ** 63) && value < 2 ** 63 });
ajv.addFormat("int32", { type: "number", validate: (value: number) => value >= -(2 ** 31) && value < 2 ** 31 });
ajv.addFormat("date-time", { type: "string", validate: (text: string) => parseDateTime(text) !== undefined });

test("a check refuses exactly what JSON Schema refuses, and fills in the same defaults", () => {
  const texts = fc.oneof(
    fc.constantFrom("", "Rex", "x".repeat(20), "🐕".repeat(20), "🐕".repeat(21), "a\0", "2026-12-24T10:00:00Z", "dog", "dogs"),
    anyText({ maxLength: 24 }),
  );
  const scalar = fc.oneof(
    texts,
    fc.constantFrom(null, true, 0, -4, 11, 1.5, 2 ** 31, 2 ** 63, -(2 ** 63), 1e300),
    fc.integer({ min: -5, max: 12 }),
  );
  const names = fc.constantFrom(...Object.keys(Item.properties), "to", "colour", "__proto__", "constructor");
  const any = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(names, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  })).value;
  const near = fc.tuple(texts, fc.array(fc.tuple(names, fc.oneof(scalar, any)), { maxLength: 2 })).map(([name, entries]) => ({
    name,
    ...Object.fromEntries(entries),
  }));
  const schema = Nullable(Items);
  const [check, validate] = [checkOf(schema), ajv.compile(schema)];
  let [accepted, refused] = [0, 0];
  fc.assert(
    fc.property(fc.oneof(any, fc.array(near, { minLength: 1, maxLength: 3 })), (value) => {
      // JSON Schema does not trim text, or check that it is well-formed
      const json = JSON.stringify(value, (_key, member: unknown) => (typeof member === "string" ? member.toWellFormed().trim() : member));
      const [ours, theirs] = [JSON.parse(json) as unknown, JSON.parse(json) as unknown];
      const problems: Detail[] = [];
      const checked = check(ours, "body", problems);
      const fits = validate(theirs);
      assert.equal(problems.length === 0, fits, `${json} ${JSON.stringify(problems)} ${JSON.stringify(validate.errors)}`);
      if (fits) assert.deepEqual(checked, theirs);
      if (fits) accepted += 1;
      else refused += 1;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(accepted > 100 && refused > 1_000, `${accepted} accepted, ${refused} refused`);
});

test("text is trimmed before it is measured, in characters, and half of a surrogate pair is refused", () => {
  const value = { name: `  ${"🐕".repeat(20)}\u2003` };
  assert.deepEqual(checkOf(Item)(value, "body", []), { name: "🐕".repeat(20), done: false });
  assert.deepEqual(found(Item, { name: " \t" }), [{ path: "body.name", message: "must have at least 1 character" }]);
  assert.deepEqual(found(Item, { name: "🐕".repeat(21) }), [{ path: "body.name", message: "must have at most 20 characters" }]);
  assert.deepEqual(found(Item, { name: "\ud800" }), [{ path: "body.name", message: "must be well-formed text" }]);
  assert.deepEqual(found(Item, { name: "a\0" }), [{ path: "body.name", message: "must not hold a NUL character" }]);
});

test("where null counts as absent, an optional field that is null is removed, at any depth, before defaults are filled in", () => {
  const check = checkOf(Items, { nullIsAbsent: true });
  const nulls = { id: null, count: null, hours: null, at: null, done: null, tags: null };
  const problems: Detail[] = [];
  assert.deepEqual(check([{ name: "Rex", ...nulls, inner: { to: null } }], "body", problems), [{ name: "Rex", done: false, inner: {} }]);
  assert.deepEqual(problems, []);
  // null is not removed from a required field, an unknown field or an array
  assert.ok(check([{ name: null, colour: null }, null], "body", problems));
  assert.deepEqual(
    problems.map(({ path }) => path),
    ["body[0].colour", "body[0].name", "body[1]"],
  );
});

test("where null counts as absent, a field whose schema allows null keeps it", () => {
  const kept = { name: "Rex", note: null, kind: null, inner: null };
  assert.deepEqual(checkOf(Item, { nullIsAbsent: true })({ ...kept }, "body", []), { ...kept, done: false });
});

test("a refusal names each value once, and at most 20 problems", () => {
  const wrong = { name: 1, note: "too long", id: 0.5, colour: "red", tags: [] };
  assert.deepEqual(
    found(Items, [wrong]).map(({ path }) => path),
    ["body[0].colour", "body[0].name", "body[0].note", "body[0].id", "body[0].tags"],
  );
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field${i}`, i]));
  for (const value of [unknown, { name: "Rex", ...unknown }]) assert.equal(found(Item, value).length, detailsMax);
  assert.equal(
    found(
      Items,
      Array.from({ length: 1_000 }, () => ({})),
    ).length,
    detailsMax,
  );
});

test("too many items are refused before any item is checked, and a text that is too long before its pattern is matched", () => {
  const touched = new Proxy({}, { ownKeys: () => assert.fail("an item was looked at") });
  assert.deepEqual(
    found(
      Items,
      Array.from({ length: 1_001 }, () => touched),
    ),
    [{ path: "body", message: "must have at most 1000 items" }],
  );
  const costly = Type.String({ maxLength: 10, pattern: "^(a+)+$" });
  assert.deepEqual(found(costly, `${"a".repeat(1_000)}!`), [{ path: "body", message: "must have at most 10 characters" }]);
});

test("a check stops at the 20th problem and does not read the rest of the value", () => {
  let looked = 0;
  const item = (): object => new Proxy({}, { ownKeys: () => ((looked += 1), []) });
  found(Items, Array.from({ length: 1_000 }, item));
  assert.ok(looked <= detailsMax, `${looked} items were looked at`);
});

test("a keyword without its own message is refused with a general one that names it", () => {
  const refusals: [schema: object, accepted: unknown, wrong: unknown, message: string][] = [
    [{ type: "object", minProperties: 1 }, { a: 1 }, {}, "must fit minProperties: 1"],
    [{ type: "object", maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }, "must fit maxProperties: 1"],
    [
      { type: "array", items: { type: "object" }, uniqueItems: true },
      [{ a: 1 }, {}],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "must fit uniqueItems: true",
    ],
    [{ type: "number", exclusiveMinimum: 0 }, 0.1, 0, "must fit exclusiveMinimum: 0"],
    [{ type: "integer", exclusiveMaximum: 9, nullable: true }, null, 9, "must fit exclusiveMaximum: 9"],
    [{ type: "number", multipleOf: 0.5 }, 1.5, 1.2, "must fit multipleOf: 0.5"],
  ];
  for (const [schema, accepted, wrong, message] of refusals) {
    assert.deepEqual(found(schema, accepted), [], message);
    assert.deepEqual(found(schema, wrong), [{ path: "body", message }]);
    assert.equal(found(schema, "another type").length, 1, "the type is checked first");
  }
});

test("a schema with an unknown keyword, type or format is refused", () => {
  const unknown = [{ type: "string", minimum: 1, oneOf: [] }, { type: "null" }, { type: "string", format: "email" }, { type: "array" }];
  for (const schema of unknown) assert.throws(() => checkOf(schema), TypeError, JSON.stringify(schema));
});
