import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { anyPath, anyText } from "../../test/support/any-text.ts";
import { parseState, readState } from "./local-files.ts";
import { batchKey, checkBelongs, hashOf, type BatchElement, type State } from "./memory.ts";
import type { Pet } from "./pets.ts";

const folder = await mkdtemp(join(tmpdir(), "petstore-state-"));
after(() => rm(folder, { recursive: true }));

const anElement = fc.record(
  {
    sourceId: fc.string(),
    hash: fc.string(),
    replaces: fc.option(fc.integer({ min: 1 })),
    pet: fc.record(
      { name: fc.string(), categoryId: fc.integer({ min: 1 }), status: fc.constantFrom("available", "pending", "sold") },
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
);
const aState: fc.Arbitrary<State> = fc.record(
  {
    server: fc.tuple(fc.domain(), anyPath).map(([host, path]) => `https://${host}${path}`),
    account: fc.option(fc.integer({ min: 1 })),
    batch: fc.option(
      fc.record({ sentAt: fc.nat(), elements: fc.array(anElement, { minLength: 1, maxLength: 3 }) }, { noNullPrototype: true }),
    ),
    animals: fc
      .uniqueArray(fc.tuple(fc.oneof(fc.constant("__proto__"), anyText()), fc.integer({ min: 1 })), {
        selector: ([id]) => id,
      })
      .map((pairs) => new Map(pairs.map(([id, petId]) => [id, { petId, hash: "0123456789abcdef" }]))),
  },
  { noNullPrototype: true },
);

/** A state as earlier releases wrote it. */
const formatState = ({ animals, ...state }: State) => JSON.stringify({ version: 1, ...state, animals: Object.fromEntries(animals) });

test("a state is read back unchanged, whatever its source ids are", () => {
  fc.assert(
    fc.property(aState, (state) => {
      assert.deepEqual(parseState(formatState(state), "s.json"), state);
    }),
  );
});

test("a file that is not a state is refused, and a missing file means that there is no state yet", async () => {
  for (const text of [
    "",
    "{",
    "[]",
    '{"version":2}',
    '{"version":1,"server":"http://x","account":null,"batch":null,"animals":{"a":{"petId":"1"}}}',
  ])
    assert.throws(() => parseState(text, "s.json"), { code: "invalid_request", message: /s\.json is not a state file/ });
  assert.equal(await readState(join(folder, "none.json")), undefined);
});

test("a state of another server or account is refused; a state is accepted if the account is unknown", () => {
  const state: State = { server: "http://x", account: 1, batch: null, animals: new Map() };
  assert.throws(() => checkBelongs(state, "s.json", "http://y", 1), { message: /belongs to the server http:\/\/x/ });
  assert.throws(() => checkBelongs(state, "s.json", "http://x", 2), { message: /belongs to another account/ });
  checkBelongs(state, "s.json", "http://x", 1);
  checkBelongs(state, "s.json", "http://x", null);
});

test("a batch's key is the same for the same rows, and differs for any others", () => {
  const element: BatchElement = { sourceId: "A1", hash: "", replaces: null, pet: { name: "Rex", categoryId: 1, status: "sold" } };
  const others: BatchElement[][] = [
    [],
    [element, element],
    [{ ...element, sourceId: "A2" }],
    [{ ...element, replaces: 7 }],
    [{ ...element, pet: { ...element.pet, name: "Max" } }],
    [{ ...element, pet: { ...element.pet, categoryId: 2 } }],
    [{ ...element, pet: { ...element.pet, status: "pending" } }],
  ];
  assert.equal(batchKey([element]), batchKey([structuredClone(element)]));
  assert.equal(new Set([[element], ...others].map(batchKey)).size, others.length + 1);
  assert.ok(batchKey([element]).length <= 255);
});

test("a category in another case is no change", () => {
  const pet: Pet = { sourceId: "1", name: "Rex", category: "Dog", status: "sold" };
  assert.equal(hashOf(pet), hashOf({ ...pet, category: "dog" }));
});
