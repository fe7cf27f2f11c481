import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { PetStatus } from "../src/importing/mapping-schema.ts";
import { batchKey, hashOf } from "../src/importing/memory.ts";
import { systemClock } from "../src/platform/clock.ts";
import { deleteAll, exported, fileOf, importing, importOf, nameless, openShop, petstore, refusal, type Pet } from "./support/importing.ts";

type Shop = Awaited<ReturnType<typeof openShop>>;

function post(shop: Shop, path: string, body: object, more: object = {}): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${shop.key}`, ...more };
  return fetch(`${shop.url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

const newCategory = async (shop: Shop): Promise<number> => ((await (await post(shop, "/categories", { name: "dog" })).json()) as Pet).id;

/** A state file of an earlier release, for pets that the shop has. */
async function remember(shop: Shop, pets: Pet[], more: object = {}): Promise<void> {
  const animals = pets.map(({ id, name, status }) => {
    const pet = { sourceId: name, name, category: "dog", status: status as PetStatus };
    return [name, { petId: id, hash: hashOf(pet) }];
  });
  const state = { version: 1, server: shop.url, account: null, batch: null, animals: Object.fromEntries(animals) as object, ...more };
  await writeFile(join(shop.folder, "state.json"), JSON.stringify(state));
}

/** Creates animals as an earlier release did. */
async function createPets(shop: Shop, categoryId: number, names: string[], idempotencyKey = ""): Promise<Pet[]> {
  const pets = names.map((name) => ({ name, categoryId, status: "available" }));
  const answer = await post(shop, "/pets/batch", pets, idempotencyKey === "" ? {} : { "idempotency-key": idempotencyKey });
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Pet[];
}

test("what a state file of an earlier release knows is handed to the service once, and nothing is created twice", async (t) => {
  const shop = await openShop(t);
  const [rex, tom, max] = await createPets(shop, await newCategory(shop), ["A1", "A2", "A3"]);
  assert.ok(rex && tom && max);
  await remember(shop, [rex, tom, max]);
  await deleteAll(shop, [max]);
  const file = await fileOf(shop, ["A1,,dog,", "A2,Tomcat,dog,", "A3,,dog,", "A4,,dog,"]);
  assert.partialDeepStrictEqual(await importing(shop, file, "--dry-run"), { created: 1, updated: 0, unchanged: 3 });
  assert.partialDeepStrictEqual(await importing(shop, file), { created: 1, updated: 1, unchanged: 2 });
  assert.deepEqual((await readdir(shop.folder)).toSorted(), ["animals.csv", "rejects.csv", "state.json.adopted"]);
  const pets = await exported<Pet>(shop, "pets");
  assert.deepEqual(
    pets.map(({ id, name }) => [id, name]),
    [
      [rex.id, "A1"],
      [tom.id, "Tomcat"],
      [pets[2]?.id, "A4"],
    ],
  );
  assert.partialDeepStrictEqual(await importing(shop, file), { created: 0, updated: 0, unchanged: 4 });
});

test("a batch to which an earlier release got no answer is not created twice, and one that is too old stops the import", async (t) => {
  const shop = await openShop(t);
  const file = await fileOf(shop, ["A1,,dog,", "A2,,dog,"]);
  const categoryId = await newCategory(shop);
  const elements = ["A1", "A2"].map((name) => {
    const pet = { name, categoryId, status: "available" as const };
    return { sourceId: name, hash: hashOf({ sourceId: name, name, category: "dog", status: "available" }), replaces: null, pet };
  });
  const [rex] = await createPets(shop, categoryId, ["A1", "A2"], batchKey(elements));
  await remember(shop, [], { batch: { sentAt: systemClock() - 24 * 3_600_000, elements } });
  const { code, error } = await petstore(shop, ...importOf(shop, file));
  assert.deepEqual([code, /2 animals, beginning with “A1” .*Delete them in the shop/.test(error)], [2, true], error);
  await remember(shop, [], { batch: { sentAt: systemClock(), elements } });
  assert.partialDeepStrictEqual(await importing(shop, file), { created: 0, unchanged: 2 });
  assert.equal((await exported<Pet>(shop, "pets"))[0]?.id, rex?.id);
});

test("a state of an earlier release is not used with another account or another server", async (t) => {
  const shop = await openShop(t);
  const file = await fileOf(shop, nameless(1));
  const args = importOf(shop, file).filter((arg) => arg !== "--json");
  await remember(shop, [], { server: "http://elsewhere:1" });
  assert.match(await refusal(shop, ...args), /belongs to the server http:\/\/elsewhere/);
  await remember(shop, [], { account: 987_654 });
  assert.match(await refusal(shop, ...args), /belongs to another account/);
  assert.deepEqual(await exported(shop, "pets"), []);
});
