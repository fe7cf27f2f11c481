import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { dayMs } from "../src/platform/clock.ts";
import { expireBin } from "../src/store/bin/bin.store.ts";
import { done, settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { newMember, type Browser } from "./support/dashboard.ts";
import { loggedEvents } from "./support/event-log.ts";
import type { Failure, Pet } from "./support/models.ts";
import { picture } from "./support/pictures.ts";
import { pathOf, upload, type Profile } from "./support/profiles.ts";
import { startService, statusesOf, unlimited, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { visitSite } from "./support/storefront.ts";
import { until } from "./support/until.ts";

const time = { now: Date.UTC(2026, 5, 15, 12) };
let service: TestService;
before(async () => void (service = await startService({ clock: () => time.now })));
after(() => service.close());

type Result = { id: number; outcome: string; name?: string; code?: string; message?: string };
type Binned = { id: number; name: string; stock: number | null; photo: { url: string } | null; deletedAt: string; goneAt: string };
type Page = { animals: Binned[]; next: string | null };
type Account = { records: { used: number }; publishedBytes: { used: number } };
type Shop = { account: number; key: string; member: Browser; dogs: number };

async function openShop(figures: { records?: number; publishedBytes?: number } = {}): Promise<Shop> {
  const { id: account, key } = await service.newAccount("enterprise", { ...unlimited, ...figures });
  const member = await newMember(service, { account, email: `member${account}@shop.example`, role: "member" });
  return { account, key, member, dogs: (await newCategory(service, "Dogs", key)).id };
}

async function results(member: Browser, path: string, changes: object[], headers?: Record<string, string>): Promise<Result[]> {
  const { status, body } = await member.ask<{ results: Result[] }>("POST", path, { changes }, headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body.results;
}

const bin = ({ member }: Shop, ...ids: number[]) =>
  results(
    member,
    "/pets/changes",
    ids.map((id) => ({ id, delete: true })),
  );
const change = ({ member }: Shop, action: "return" | "delete", ...ids: number[]) =>
  results(
    member,
    "/pets/bin/changes",
    ids.map((id) => ({ id, action })),
  );
const read = async ({ member }: Shop, query = "") => (await member.ask<Page>("GET", `/pets/bin${query}`)).body;
const use = async ({ key }: Shop) => {
  const { records, publishedBytes } = await made<Account>(service, "GET", "/account", undefined, key);
  return { records: records.used, bytes: publishedBytes.used };
};
const outcomes = (all: Result[]) => all.map(({ outcome, code }) => code ?? outcome);

let pictures = 0;

/** An animal with a stock, a profile with facts, and two photos in another order than they were added. */
async function newWholePet(shop: Shop, name = "Rex"): Promise<Pet> {
  const { key } = shop;
  const pet = await newPet(service, shop.dogs, { name }, key);
  for (const quantity of [4, 3]) await made(service, "PUT", `/store/inventory/${pet.id}`, { quantity }, key);
  const facts = { species: "Dog", breed: "Beagle", own: [{ name: "House-trained", value: "Yes" }] };
  await made(service, "PUT", pathOf(pet.id), { description: "Friendly.", price: { amount: 4_900, currency: "EUR" }, facts }, key);
  const photos = [];
  for (const colour of ["red", "blue"]) {
    const { status, body } = await upload(
      service,
      pet.id,
      await picture(colour, { width: 60 + pictures++, height: 40 }),
      {},
      key,
      `?alt=${colour}`,
    );
    assert.equal(status, 201);
    photos.unshift({ id: body.id, focus: { x: photos.length, y: 90 } });
  }
  await made(service, "PATCH", pathOf(pet.id), { photos }, key);
  return pet;
}

const visit = (url: string) => visitSite(new URL(url).origin, new URL(url).pathname);
const swept = () => until(async () => (await service.db.query(sql`SELECT 1 FROM unused_files LIMIT 1`)).length === 0);
const verified = async () => {
  const report = await done<{ whole: boolean; faults: string[] }>(await settingsOf(service.dataDir), "verify", "--events");
  assert.deepEqual([report.whole, report.faults], [true, []]);
};

test("an animal in the bin has left every list as a deletion does, and returns with all that it had", async () => {
  const shop = await openShop();
  const { key } = shop;
  const pet = await newWholePet(shop);
  const profile = await made<Profile>(service, "GET", pathOf(pet.id), undefined, key);
  const [standing, etag] = [await use(shop), (await service.ask("GET", `/pets/${pet.id}`, { key })).headers.get("etag")];
  assert.deepEqual(outcomes(await bin(shop, pet.id)), ["binned"]);
  for (const path of [`/pets/${pet.id}`, pathOf(pet.id), `/store/inventory/${pet.id}`])
    assert.equal((await service.ask("GET", path, { key })).status, 404, path);
  for (const path of ["/pets", "/pets?q=rex", "/pets?fact=breed:Beagle", "/store/inventory"])
    assert.deepEqual(await made(service, "GET", path, undefined, key), [], path);
  assert.equal((await service.ask("POST", "/store/orders", { key, body: { petId: pet.id } })).status, 422);
  assert.deepEqual(await use(shop), standing, "it counts as a record, and its photos as published bytes");
  await swept();
  await verified();

  const [binned] = (await read(shop)).animals;
  assert.deepEqual(
    [binned?.id, binned?.name, binned?.stock, binned?.deletedAt, binned?.goneAt],
    [pet.id, "Rex", 3, "2026-06-15T12:00:00Z", "2026-07-15T12:00:00Z"],
  );
  assert.equal((await visit(binned!.photo!.url)).status, 200, "its picture is still there");
  assert.equal(binned!.photo!.url, profile.photos[0]!.sources.find(({ type }) => type === "image/webp")!.url);

  assert.deepEqual(await change(shop, "return", pet.id), [{ id: pet.id, outcome: "returned", name: "Rex" }]);
  const back = await service.ask<Pet>("GET", `/pets/${pet.id}`, { key });
  assert.deepEqual(back.body, { ...pet, status: "available" });
  assert.notEqual(back.headers.get("etag"), etag, "no ETag of its earlier life is one of its new life");
  assert.deepEqual(await made(service, "GET", pathOf(pet.id), undefined, key), profile);
  const stock = await made(service, "GET", `/store/inventory/${pet.id}`, undefined, key);
  assert.deepEqual(stock, { petId: pet.id, quantity: 3, status: "available" });
  const low = await shop.member.ask<{ count: number }>("GET", "/store/inventory/low");
  assert.equal(low.body.count, 1, "it had more once, so its stock is low");
  for (const path of ["/pets?q=rex", "/pets?fact=breed:Beagle"])
    assert.equal((await made<Pet[]>(service, "GET", path, undefined, key)).length, 1, path);
  assert.deepEqual(await use(shop), standing);
  assert.deepEqual(await read(shop), { animals: [], next: null });
  await swept();
  for (const { url } of profile.photos) assert.equal((await visit(url)).status, 200);
  await verified();
});

test("a single animal whose highest stock is unknown does not become low by the bin, and one whose stock has changed stays low", async () => {
  const shop = await openShop();
  const { key } = shop;
  const [single, fallen] = [await newPet(service, shop.dogs, {}, key), await newPet(service, shop.dogs, {}, key)];
  for (const [{ id }, quantity] of [
    [single, 1],
    [fallen, 9],
    [fallen, 1],
  ] as const)
    await made(service, "PUT", `/store/inventory/${id}`, { quantity }, key);
  await service.db.write((tx) => tx.query(sql`UPDATE inventory SET highest = NULL WHERE account_id = ${shop.account}`));
  const low = async () =>
    (await shop.member.ask<{ entries: { petId: number }[] }>("GET", "/store/inventory/low")).body.entries.map(({ petId }) => petId);
  assert.deepEqual(await low(), [fallen.id]);
  for (const { id } of [single, fallen]) {
    await bin(shop, id);
    await change(shop, "return", id);
  }
  assert.deepEqual(await low(), [fallen.id]);
});

test("its deletion and its return are the events of a deletion and a creation", async () => {
  const shop = await openShop();
  const pet = await newWholePet(shop);
  const from = (await loggedEvents(service.db, shop.account)).at(-1)!.position;
  await bin(shop, pet.id);
  await change(shop, "return", pet.id);
  const events = await loggedEvents(service.db, shop.account, from);
  const types = ["inventory.deleted", "pet.deleted", "pet.created", "inventory.updated", "pet.profile_updated"];
  assert.deepEqual(
    events.map(({ type }) => type),
    types,
  );
  const created = events.find(({ type }) => type === "pet.created");
  assert.deepEqual(created?.data, { ...pet, status: "available" });
});

test("an animal with an open order stays, and one that an API key deletes is gone at once", async () => {
  const shop = await openShop();
  const { key } = shop;
  const [ordered, plain] = [await newPet(service, shop.dogs, {}, key), await newPet(service, shop.dogs, {}, key)];
  await made(service, "POST", "/store/orders", { petId: ordered.id }, key);
  assert.deepEqual(outcomes(await bin(shop, ordered.id)), ["pet_in_use"]);
  assert.equal((await service.ask("DELETE", `/pets/${plain.id}`, { key })).status, 204);
  assert.deepEqual(await read(shop), { animals: [], next: null });
  assert.equal((await use(shop)).records, 3, "a category, the animal and its order");
  assert.equal((await service.ask("GET", "/pets/bin", { key })).status, 400, "the API knows no such pet");
  assert.equal((await service.ask("POST", "/pets/bin/changes", { key, body: { changes: [] } })).status, 404);
});

test("what is in the bin counts as a record: it leaves no room for another, and always has room to return", async () => {
  const shop = await openShop({ records: 2 });
  const pet = await newPet(service, shop.dogs, {}, shop.key);
  await bin(shop, pet.id);
  const add = () => service.ask<Failure>("POST", "/pets", { key: shop.key, body: { name: "Luna", categoryId: shop.dogs } });
  assert.equal((await add()).body.code, "storage_limit_reached");
  assert.deepEqual(outcomes(await change(shop, "return", pet.id)), ["returned"]);
  await bin(shop, pet.id);
  assert.deepEqual(outcomes(await change(shop, "delete", pet.id)), ["deleted"]);
  assert.equal((await add()).status, 201);
});

test("an account above its limit of published bytes can still move animals into the bin and back", async () => {
  const shop = await openShop();
  const pet = await newWholePet(shop);
  const standing = await use(shop);
  await service.administration["accounts.setPlan"]({ id: shop.account, plan: "enterprise", ...unlimited, publishedBytes: 1 });
  assert.deepEqual(outcomes(await bin(shop, pet.id)), ["binned"]);
  assert.deepEqual(outcomes(await change(shop, "return", pet.id)), ["returned"]);
  assert.deepEqual(await use(shop), standing);
});

test("an animal whose category is gone is refused until the return names another", async () => {
  const shop = await openShop();
  const pet = await newPet(service, shop.dogs, {}, shop.key);
  await bin(shop, pet.id);
  assert.equal((await service.ask("DELETE", `/categories/${shop.dogs}`, { key: shop.key })).status, 204);
  assert.deepEqual(outcomes(await change(shop, "return", pet.id)), ["unknown_reference"]);
  const cats = await newCategory(service, "Cats", shop.key);
  const moved = await results(shop.member, "/pets/bin/changes", [{ id: pet.id, action: "return", categoryId: cats.id }]);
  assert.deepEqual(outcomes(moved), ["returned"]);
  assert.equal((await made<Pet>(service, "GET", `/pets/${pet.id}`, undefined, shop.key)).categoryId, cats.id);
});

test("a repeated change is no fault, one that came too late says so, and of several returns at once one is made", async () => {
  const shop = await openShop();
  const [a, b] = [await newWholePet(shop, "A"), await newWholePet(shop, "B")];
  await bin(shop, a.id, b.id);
  const [returned, ...others] = (await Promise.all(Array.from({ length: 5 }, () => change(shop, "return", a.id))))
    .flat()
    .map(({ outcome }) => outcome)
    .toSorted();
  assert.deepEqual([returned, ...others], ["returned", ...Array.from({ length: 4 }, () => "unchanged")]);
  assert.equal((await made<Pet[]>(service, "GET", "/pets", undefined, shop.key)).length, 1);
  assert.deepEqual(outcomes(await change(shop, "delete", a.id)), ["not_found"], "it has returned");
  assert.deepEqual(outcomes(await change(shop, "delete", b.id)), ["deleted"]);
  assert.deepEqual(outcomes(await change(shop, "delete", b.id)), ["unchanged"]);
  assert.deepEqual(outcomes(await change(shop, "return", b.id)), ["not_found"], "it is gone");
  const both = await Promise.all([bin(shop, a.id), bin(shop, a.id)]);
  assert.deepEqual(outcomes(both.flat()).toSorted(), ["binned", "not_found"]);
  const sent = { changes: [{ id: a.id, action: "return" }] };
  const replies = await Promise.all(
    Array.from({ length: 3 }, () => shop.member.ask<object>("POST", "/pets/bin/changes", sent, { "idempotency-key": "once" })),
  );
  assert.ok(statusesOf(replies).every((status) => status === 200 || status === 409));
  const again = await shop.member.ask<{ results: Result[] }>("POST", "/pets/bin/changes", sent, { "idempotency-key": "once" });
  assert.deepEqual([again.body.results[0]?.outcome, again.headers.get("idempotent-replayed")], ["returned", "true"]);
  await verified();
});

test("an identifier that is taken keeps the animal in the bin, and verify finds the fault", async () => {
  const shop = await openShop();
  const pet = await newPet(service, shop.dogs, { name: "Rex" }, shop.key);
  await bin(shop, pet.id);
  const add = sql`INSERT INTO pets (account_id, id, name, name_key, category_id, status, version, is_split)
    VALUES (${shop.account}, ${pet.id}, 'Rex', 'rex', ${shop.dogs}, 'available', 1, TRUE)`;
  await service.db.write((tx) => tx.query(add));
  const [refused] = await change(shop, "return", pet.id);
  assert.deepEqual([refused?.code, refused?.name], ["invalid_request", "Rex"]);
  assert.equal((await read(shop)).animals.length, 1);
  const { faults } = await failed();
  assert.match(faults.join("\n"), new RegExp(`pet ${pet.id} of account ${shop.account} is in the bin too`));
  await service.db.write((tx) => tx.query(sql`DELETE FROM pets WHERE account_id = ${shop.account} AND id = ${pet.id}`));
  await verified();
});

async function failed(): Promise<{ faults: string[] }> {
  const { out } = await runCommand(["verify", "--json"], await settingsOf(service.dataDir));
  return JSON.parse(out) as { faults: string[] };
}

test("pages show each animal once, those that were deleted last first; a foreign cursor is refused", async () => {
  const shop = await openShop();
  const ids: number[] = [];
  for (let i = 0; i < 5; i++) ids.push((await newPet(service, shop.dogs, {}, shop.key)).id);
  await bin(shop, ...ids.slice(0, 3)); // at one moment
  time.now += 1_000;
  await bin(shop, ...ids.slice(3));
  const seen: number[] = [];
  for (let query = "?limit=2"; query !== "";) {
    const { animals, next } = await read(shop, query);
    seen.push(...animals.map(({ id }) => id));
    await bin(shop, (await newPet(service, shop.dogs, {}, shop.key)).id); // what is added meanwhile comes before
    query = next === null ? "" : `?limit=2&cursor=${next}`;
  }
  assert.deepEqual(seen, ids.toReversed());
  const cursors = ["x", "!", Buffer.from(JSON.stringify(["0", "now", 1])).toString("base64url")];
  for (const query of ["?limit=0", "?limit=101", ...cursors.map((cursor) => `?cursor=${cursor}`)])
    assert.equal((await shop.member.ask("GET", `/pets/bin${query}`)).status, 400, query);
  const other = await openShop();
  assert.deepEqual(await read(other), { animals: [], next: null });
  assert.deepEqual(outcomes(await change(other, "return", ids[0]!)), ["not_found"]);
});

test("a body that is no change of the bin is refused and changes nothing; a dry run answers the same and changes nothing", async () => {
  const shop = await openShop();
  const pet = await newPet(service, shop.dogs, {}, shop.key);
  await bin(shop, pet.id);
  const own = { id: pet.id, action: "delete" };
  for (const changes of [[], [own, own], [{ id: pet.id }], [{ id: pet.id, action: "keep" }], Array.from({ length: 1_001 }, () => own)])
    assert.equal((await shop.member.ask("POST", "/pets/bin/changes", { changes })).status, 400);
  assert.deepEqual(outcomes(await results(shop.member, "/pets/bin/changes", [own], { prefer: "dry-run" })), ["deleted"]);
  assert.equal((await read(shop)).animals.length, 1);
});

test("after 30 days an animal is deleted for good with its photos, and others stay", async () => {
  const shop = await openShop();
  const [old, young] = [await newWholePet(shop, "Old"), await newPet(service, shop.dogs, { name: "Young" }, shop.key)];
  const many = await made<Pet[]>(
    service,
    "POST",
    "/pets/batch",
    Array.from({ length: 120 }, () => ({ name: "Many", categoryId: shop.dogs })),
    shop.key,
  );
  await bin(shop, old.id, ...many.map(({ id }) => id));
  const first = (await read(shop, "?limit=100")).animals.find(({ id }) => id === old.id);
  const url = first?.photo?.url ?? (await binnedUrl(shop, old.id));
  time.now += dayMs;
  await bin(shop, young.id);
  await expireBin(service.db, time.now + 29 * dayMs - 1);
  assert.equal((await use(shop)).records, 123);
  await expireBin(service.db, time.now + 29 * dayMs);
  assert.deepEqual(
    (await read(shop)).animals.map(({ name }) => name),
    ["Young"],
  );
  assert.deepEqual(await use(shop), { records: 2, bytes: 0 });
  await swept();
  assert.equal((await visit(url)).status, 404);
  await verified();
});

async function binnedUrl(shop: Shop, id: number): Promise<string> {
  const { animals, next } = await read(shop, "?limit=100");
  const found = [...animals, ...(await read(shop, `?limit=100&cursor=${next}`)).animals].find((one) => one.id === id);
  return found!.photo!.url;
}

test("a return that fails half-way changes nothing, and can be made again", async () => {
  const shop = await openShop();
  const pet = await newWholePet(shop);
  await bin(shop, pet.id);
  const standing = await use(shop);
  const [photo] = await service.db.query<{ photo_id: number }>(sql`
    SELECT photo_id FROM bin_photo_files WHERE account_id = ${shop.account} ORDER BY photo_id DESC LIMIT 1`);
  // The last statement that adds rows fails: another photo has the identifier.
  const other = await newPet(service, shop.dogs, {}, shop.key);
  await made(service, "PUT", pathOf(other.id), { description: "Other." }, shop.key);
  const add = sql`INSERT INTO photos (account_id, id, pet_id, place, alt) VALUES (${shop.account}, ${photo!.photo_id}, ${other.id}, 0, '')`;
  await service.db.write((tx) => tx.query(add));
  const sent = { changes: [{ id: pet.id, action: "return" }] };
  assert.equal((await shop.member.ask("POST", "/pets/bin/changes", sent)).status, 500);
  assert.equal((await read(shop)).animals.length, 1);
  assert.equal((await service.ask("GET", `/pets/${pet.id}`, { key: shop.key })).status, 404);
  await service.db.write((tx) => tx.query(sql`DELETE FROM photos WHERE account_id = ${shop.account} AND pet_id = ${other.id}`));
  assert.deepEqual(outcomes(await change(shop, "return", pet.id)), ["returned"]);
  assert.equal((await use(shop)).bytes, standing.bytes);
});

test("a backup has what is in the bin, with its pictures", async () => {
  const shop = await openShop();
  const pet = await newWholePet(shop);
  await bin(shop, pet.id);
  const env = await settingsOf(service.dataDir);
  const file = `${service.dataDir}/bin.tar.gz`;
  await done(env, "backup", file);
  assert.equal((await done<{ whole: boolean }>({}, "verify", file)).whole, true);
});
