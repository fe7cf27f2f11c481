import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { factNames } from "../src/store/pets/facts.ts";
import { foldNames } from "../src/store/pets/folded-names.store.ts";
import { valuesOfFact } from "../src/store/pets/pet-facts.store.ts";
import { settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure, Pet } from "./support/models.ts";
import { pathOf, type Profile } from "./support/profiles.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { openStorefront, visitSite } from "./support/storefront.ts";
import { until } from "./support/until.ts";

let service: TestService;
let key: string;
let accountId: number;
let dogs: number;
let cats: number;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** An empty shop with two categories, whose key the helpers below use. */
async function openShop(): Promise<void> {
  ({ id: accountId, key } = await service.newAccount());
  dogs = (await newCategory(service, "Dogs", key)).id;
  cats = (await newCategory(service, "Cats", key)).id;
}

const ask = <T>(method: "GET" | "PUT" | "PATCH" | "DELETE" | "POST", path: string, body?: unknown) =>
  service.ask<T>(method, path, { key, ...(body !== undefined && { body }) });

async function petWith(facts: object, fields: Partial<Pet> = {}): Promise<number> {
  const { id } = await newPet(service, dogs, fields, key);
  assert.equal((await ask("PUT", pathOf(id), { facts })).status, 201);
  return id;
}

/** The identifiers of a list, read page by page. */
async function found(query: string): Promise<number[]> {
  const ids: number[] = [];
  for (let path: string | undefined = `/pets?${query}`; path !== undefined;) {
    const { status, body, headers }: { status: number; body: Pet[]; headers: Headers } = await ask<Pet[]>("GET", path);
    assert.equal(status, 200, JSON.stringify(body));
    ids.push(...body.map(({ id }) => id));
    path = /<\/v1(\S+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
  return ids;
}

test("a profile has facts, which PUT replaces and PATCH merges, and its events show them", async () => {
  await openShop();
  const own = [{ name: "House-trained", value: "Yes" }];
  const facts = { species: " Dog ", breed: "Beagle", sex: "Female", born: "2024-02-29", colour: "Black and white", size: "Small", own };
  const id = await petWith(facts);
  const read = async () => (await ask<Profile>("GET", pathOf(id))).body.facts;
  const whole = { ...facts, species: "Dog" };
  assert.deepEqual(await read(), whole);
  assert.deepEqual(Object.keys((await read())!), [...factNames, "own"]);
  const { body, headers } = await ask<Profile>("GET", pathOf(id));
  const same = await ask("PUT", pathOf(id), body);
  assert.equal(same.headers.get("etag"), headers.get("etag"), "a PUT of what a GET returned changes nothing");
  await ask("PATCH", pathOf(id), { facts: { breed: null, born: "2023", own: null } });
  const { breed: _breed, own: _own, ...rest } = whole;
  assert.deepEqual(await read(), { ...rest, born: "2023" });
  await ask("PATCH", pathOf(id), { description: "Calm" });
  assert.deepEqual(await read(), { ...rest, born: "2023" }, "what a patch leaves out stays");
  const events = (await ask<{ type: string; data: Profile; previous: object }[]>("GET", "/events?types=pet.profile_updated")).body;
  assert.deepEqual([events[0]!.data.facts, events[1]!.previous], [whole, { facts: whole }]);
  await ask("PATCH", pathOf(id), { facts: null });
  assert.equal(await read(), undefined);
  await ask("PUT", pathOf(id), { facts: { sex: "Male" } });
  await ask("PUT", pathOf(id), {});
  assert.deepEqual([await read(), await found("fact=sex:male")], [undefined, []]);
});

test("facts outside their bounds are refused by name, and change nothing", async () => {
  await openShop();
  const id = await petWith({ breed: "Beagle" });
  const named = (name: string) => ({ name, value: "x" });
  const wrong: [object, string][] = [
    [{ breed: "" }, "body.facts.breed"],
    [{ breed: "x".repeat(101) }, "body.facts.breed"],
    [{ colour: "a\u0000b" }, "body.facts.colour"],
    [{ age: "3" }, "body.facts.age"],
    [{ born: "17.05.2024" }, "body.facts.born"],
    [{ born: "2023-02-29" }, "body.facts.born"],
    [{ born: "2024-05" }, "body.facts.born"],
    [{ own: [{ name: "Chip" }] }, "body.facts.own[0].value"],
    [{ own: Array.from({ length: 11 }, (_, i) => named(`${i}`)) }, "body.facts.own"],
    [{ own: [named("Chip"), named("CHIP")] }, "body.facts.own[1].name"],
  ];
  for (const method of ["PUT", "PATCH"] as const)
    for (const [facts, path] of wrong) {
      const { status, body } = await ask<Failure>(method, pathOf(id), { facts });
      assert.deepEqual([status, body.details?.[0]?.path], [400, path], JSON.stringify(facts));
    }
  assert.deepEqual((await ask<Profile>("GET", pathOf(id))).body.facts, { breed: "Beagle" });
});

test("a list has the pets with one fact, whatever its case, with category and status, in pages of both orders", async () => {
  await openShop();
  const ids: number[] = [];
  for (let i = 0; i < 9; i++)
    ids.push(await petWith({ breed: i % 2 === 0 ? "Münsterländer" : "MÜNSTERLÄNDER", born: `20${20 + (i % 3)}-05-17` }));
  await ask("PATCH", `/pets/${ids[1]}`, { categoryId: cats });
  await ask("PATCH", `/pets/${ids[2]}`, { status: "sold" });
  await petWith({ breed: "Beagle", own: [{ name: "Breed", value: "Münsterländer" }] });
  await newPet(service, dogs, {}, key);
  const breed = `fact=${encodeURIComponent("breed: mu\u0308nsterla\u0308nder ")}`;
  assert.deepEqual(await found(breed), ids);
  assert.deepEqual(await found(`${breed}&limit=2&sort=-id`), ids.toReversed());
  assert.deepEqual(await found(`${breed}&limit=2&categoryId=${dogs}`), ids.toSpliced(1, 1));
  assert.deepEqual(await found(`${breed}&limit=2&status=available&status=pending`), ids.toSpliced(2, 1));
  assert.deepEqual(await found(`${breed}&status=sold&categoryId=${dogs}`), [ids[2]]);
  assert.deepEqual(await found(`${breed}&status=sold&categoryId=${cats}`), []);
  assert.deepEqual(await found("fact=born:2021"), [ids[1], ids[4], ids[7]]);
  assert.deepEqual(await found("fact=size:large"), []);
  const other = await service.newAccount();
  assert.deepEqual((await service.ask("GET", `/pets?${breed}`, { key: other.key })).body, []);
  for (const query of [
    "breed=x",
    "fact=breed",
    "fact=breed:",
    "fact=age:3",
    "fact=breed:x&fact=sex:y",
    "fact=breed:x&q=re",
    "fact=breed:x&sort=name",
    "fact=breed:x&id=1",
    "fact=breed:x&import=1",
  ]) {
    const { status, body } = await ask<Failure>("GET", `/pets?${query}`);
    assert.deepEqual([status, body.code], [400, "invalid_request"], query);
  }
});

test("a list by a fact follows the stock, the deletion of profiles and pets, and the end of the account", async () => {
  await openShop();
  const [id, gone, bare] = [await petWith({ sex: "Female" }), await petWith({ sex: "Female" }), await petWith({ sex: "Female" })];
  await made(service, "PUT", `/store/inventory/${id}`, { quantity: 1 }, key);
  await made(service, "POST", "/store/orders", { petId: id }, key);
  await ask("DELETE", `/pets/${gone}`);
  await ask("DELETE", pathOf(bare));
  assert.deepEqual([await found("fact=sex:female&status=pending"), await found("fact=sex:female")], [[id], [id]]);
  assert.deepEqual(await rowsOf(), [{ pet_id: id, status: "pending" }]);
  await service.administration["accounts.delete"]({ id: accountId });
  assert.deepEqual(await rowsOf(), []);
});

const rowsOf = async () =>
  (await service.db.query(sql`SELECT pet_id, status FROM facts WHERE account_id = ${accountId} ORDER BY pet_id`)).map((row) => ({
    ...row,
  }));

test("an import adds its facts to those of the shop, writes only what its source says anew, and its undo gives the earlier ones back", async () => {
  await openShop();
  const { id } = await made<{ id: number }>(service, "POST", "/imports", { source: "Register", fileName: "1.csv" }, key);
  const row = (facts: object) => [{ sourceId: "A1", pet: { name: "Rex", categoryId: dogs }, profile: { facts } }];
  const send = (importId: number, facts: object) =>
    ask<{ petId: number; outcome: string }[]>("POST", `/imports/${importId}/rows?last=true`, row(facts));
  const [{ petId } = { petId: 0 }] = (await send(id, { breed: "Beagle", sex: "Male" })).body;
  await ask("PATCH", pathOf(petId), { facts: { size: "Small", sex: "Female" } });
  const shops = { breed: "Beagle", sex: "Female", size: "Small" };
  const read = async () => (await ask<Profile>("GET", pathOf(petId))).body.facts;
  const again = async (facts: object) => {
    const next = await made<{ id: number }>(service, "POST", "/imports", { source: "Register", fileName: "2.csv" }, key);
    return { id: next.id, outcome: (await send(next.id, facts)).body[0]?.outcome };
  };
  assert.equal((await again({ sex: "Male", breed: "Beagle" })).outcome, "unchanged");
  assert.deepEqual(await read(), shops);
  const changed = await again({ breed: "Boxer", sex: "Male" });
  assert.deepEqual([changed.outcome, await read()], ["updated", { ...shops, breed: "Boxer", sex: "Male" }]);
  assert.deepEqual(await found("fact=breed:boxer"), [petId]);
  await ask("POST", `/imports/${changed.id}/undo`);
  await until(async () => (await made<{ status: string }>(service, "GET", `/imports/${changed.id}`, undefined, key)).status === "undone");
  assert.deepEqual(await read(), shops);
  assert.deepEqual([await found("fact=breed:boxer"), await found("fact=breed:beagle")], [[], [petId]]);
  const refused = await send((await made<{ id: number }>(service, "POST", "/imports", { source: "Register", fileName: "3.csv" }, key)).id, {
    born: "2023-02-29",
  });
  assert.partialDeepStrictEqual(refused, { status: 400, body: { details: [{ path: "body[0].profile.facts.born" }] } });
});

test("the values to choose from are those of animals that are not sold, each once", async () => {
  await openShop();
  for (const breed of ["Boxer", "boxer", "Beagle", "Pug"])
    await petWith({ breed, born: "2024-05-17" }, breed === "Pug" ? { status: "sold" } : {});
  await petWith({ born: "2019" });
  await petWith({ breed: "Siamese" }, { categoryId: cats });
  const valuesOf = (name: "breed" | "born" | "size", most: number, categoryId?: number) =>
    valuesOfFact(service.db, accountId, { name, categoryId }, most);
  assert.deepEqual(await valuesOf("breed", 10), { values: ["Beagle", "Boxer", "Siamese"], isComplete: true });
  assert.deepEqual(await valuesOf("breed", 10, cats), { values: ["Siamese"], isComplete: true });
  assert.deepEqual(await valuesOf("breed", 1), { values: ["Beagle"], isComplete: false });
  assert.deepEqual(await valuesOf("born", 10), { values: ["2019", "2024"], isComplete: true });
  assert.deepEqual(await valuesOf("size", 10), { values: [], isComplete: true });
});

test("a storefront shows the facts of an animal, and lists the animals with one of them", async () => {
  await openShop();
  const own = [{ name: "House-trained", value: "<b>Yes</b>" }];
  const rex = await petWith({ breed: "Münsterländer", born: "2024-05-17", own }, { name: "Rex" });
  for (let i = 0; i < 30; i++) await petWith({ breed: "Beagle" }, { name: `Bo ${i}` });
  await petWith({ breed: "Beagle" }, { name: "Gone", status: "sold" });
  const { url } = await openStorefront(service, "facts", {}, { key });
  const page = (await visitSite(url, `/animals/${rex}`)).body;
  for (const text of [
    "<dt>Breed</dt>",
    "<dd>Münsterländer</dd>",
    "<dd>May 17, 2024</dd>",
    "<dt>House-trained</dt>",
    "<dd>&#60;b&#62;Yes&#60;/b&#62;</dd>",
  ])
    assert.ok(page.includes(text), text);
  const names = (body: string): string[] => Array.from(body.matchAll(/<a href="\/animals\/\d+">([^<]+)<\/a>/g), ([, name]) => name!);
  assert.deepEqual(names((await visitSite(url, "/?breed=m%C3%BCnsterl%C3%A4nder")).body), ["Rex"]);
  const first = (await visitSite(url, `/?breed=beagle&category=${dogs}`)).body;
  const next = /rel="next"\s+href="([^"]+)"/.exec(first)![1]!.replaceAll("&#38;", "&");
  const both = [...names(first), ...names((await visitSite(url, next)).body)];
  assert.deepEqual(
    both,
    Array.from({ length: 30 }, (_, i) => `Bo ${29 - i}`),
  );
  assert.ok(first.includes('content="noindex"'));
  assert.match((await visitSite(url, `/?breed=beagle&category=${cats}`)).body, /No animal for sale is like this/);
  assert.equal((await visitSite(url, "/?breed=%00%ff&sex=x")).status, 200);
});

test("a storefront offers the values of all animals that are not sold, those of the category alone, and the years of birth", async () => {
  await openShop();
  const breeds = Array.from({ length: 30 }, (_, i) => `Breed ${String(i).padStart(2, "0")}`);
  for (const breed of breeds) await petWith({ breed: `A gone ${breed}` }, { status: "sold" });
  for (const [i, breed] of breeds.entries()) await petWith({ breed, born: `${2000 + (i % 2)}-05-17` });
  await petWith({ breed: "Siamese" }, { categoryId: cats });
  await petWith({ breed: "Ragdoll" }, { categoryId: cats });
  const { url } = await openStorefront(service, "values", {}, { key });
  const offered = async (path: string, name: string) => {
    const { body } = await visitSite(url, path);
    return Array.from(body.matchAll(new RegExp(`<li><a href="[^"]*[?;]${name}=[^"]*"[^>]*>([^<]+)</a>`, "g")), ([, value]) => value!);
  };
  assert.deepEqual(await offered("/", "breed"), [...breeds, "Ragdoll", "Siamese"]);
  assert.deepEqual(await offered(`/?category=${cats}`, "breed"), ["Ragdoll", "Siamese"]);
  assert.deepEqual([await offered("/", "born"), await offered(`/?category=${cats}`, "born")], [["2000", "2001"], []]);
});

test("facts whose folding has changed are found again", async () => {
  await openShop();
  const id = await petWith({ breed: "Großspitz", size: "Groß" });
  await service.db.write(async (tx) => {
    await tx.query(sql`UPDATE facts SET value_key = 'old ' || fact WHERE account_id = ${accountId}`);
    await tx.query(sql`UPDATE folded_names SET folding = ''`);
  });
  await foldNames(service.db);
  assert.deepEqual([await found("fact=breed:grossspitz"), await found("fact=size:GROSS")], [[id], [id]]);
});

test("a backup keeps facts, and verify finds those that lists do not find, and those of a wrong category", async (t) => {
  await openShop();
  const id = await petWith({ breed: "Beagle", colour: 'A quote": and "size": too' });
  const file = join(temporaryFolder(t), "backup.tar.gz");
  const env = await settingsOf(service.dataDir);
  const run = async (...words: string[]) => {
    const { code, out, error } = await runCommand(words, env);
    return { code, out: out + error };
  };
  assert.equal((await run("verify")).code, 0);
  assert.equal((await run("backup", file)).code, 0);
  await service.db.write(async (tx) => {
    await tx.query(sql`DELETE FROM facts WHERE account_id = ${accountId} AND fact = 'breed'`);
    await tx.query(sql`UPDATE facts SET category_id = ${cats} WHERE account_id = ${accountId}`);
  });
  const { code, out } = await run("verify");
  assert.equal(code, 1);
  assert.match(out, new RegExp(`lists by breed do not agree with the profile of pet ${id} of account ${accountId}`));
  assert.match(out, new RegExp(`a list by colour finds pet ${id} of account ${accountId} under a wrong category or status`));
  assert.doesNotMatch(out, /by size/);
});

test("facts whose stored text was damaged are a 503 that names the fault, for reads and for writes", async () => {
  const own = await startService();
  try {
    const { id: category } = await newCategory(own, "Dogs");
    const { id } = await newPet(own, category);
    await made(own, "PUT", pathOf(id), { facts: { breed: "Beagle" } });
    for (const text of ['{"breed":"Bea', '{"breed":7}', "[]"]) {
      await own.db.write((tx) => tx.query(sql`UPDATE profiles SET facts = ${text}`)).catch(() => undefined);
      assert.equal((await own.ask("GET", pathOf(id))).status, 503, text);
      assert.equal((await own.ask("PATCH", pathOf(id), { body: { description: "x" } })).status, 503, text);
      if (engine === "sqlite") break; // a damaged database takes no more writes
    }
  } finally {
    await own.close();
  }
});
