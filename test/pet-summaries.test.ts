import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { outlineOf } from "../src/publishing/storefront/silhouettes.ts";
import { newMember } from "./support/dashboard.ts";
import { picture } from "./support/pictures.ts";
import { pathOf, upload } from "./support/profiles.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type Summary = { id: number; price: { amount: number; currency: string } | null; photo: { url: string } | null; outline: string | null };

test("the summaries of a page of pets have each price and the smallest picture of the first photo, of this account alone", async () => {
  const category = await newCategory(service, "Dogs");
  const dog = outlineOf("Dogs");
  const [plain, priced, shown] = [
    await newPet(service, category.id),
    await newPet(service, category.id),
    await newPet(service, category.id),
  ];
  const price = { amount: 4_900, currency: "EUR" };
  await made(service, "PUT", pathOf(priced.id), { price });
  const bytes = [await picture("teal", { width: 700, height: 500 }), await picture("coral", { width: 50, height: 40 })];
  const photos = [];
  for (const one of bytes) photos.push((await upload(service, shown.id, one)).body);
  const member = await newMember(service, { account: service.accountId, email: "ann@shop.example", role: "member" });
  const summaries = async (...ids: number[]) => {
    const query = ids.map((id) => `id=${id}`).join("&");
    const { status, body } = await member.ask<{ pets: Summary[] }>("GET", `/pets/summaries?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.pets;
  };
  const smallest = photos.map(({ sources }) => sources.find(({ type }) => type === "image/webp")!);
  assert.deepEqual(
    smallest.map(({ width }) => width),
    [480, 50],
  );
  assert.deepEqual(await summaries(shown.id, plain.id, priced.id), [
    { id: plain.id, price: null, photo: null, outline: dog },
    { id: priced.id, price, photo: null, outline: dog },
    { id: shown.id, price: null, photo: { url: smallest[0]!.url }, outline: null },
  ]);
  await made(service, "PATCH", pathOf(shown.id), { photos: [{ id: photos[1]!.id }, { id: photos[0]!.id }] });
  assert.deepEqual(await summaries(shown.id), [{ id: shown.id, price: null, photo: { url: smallest[1]!.url }, outline: null }]);
  await service.ask("DELETE", `${pathOf(shown.id)}/photos/${photos[1]!.id}`);
  assert.equal((await summaries(shown.id))[0]!.photo!.url, smallest[0]!.url);

  const other = await service.newAccount();
  const stranger = await newMember(service, { account: other.id, email: "bob@shop.example", role: "member" });
  assert.deepEqual((await stranger.ask<{ pets: Summary[] }>("GET", `/pets/summaries?id=${shown.id}`)).body.pets, []);
  const tooMany = Array.from({ length: 101 }, (_, i) => `id=${i}`).join("&");
  assert.equal((await member.ask("GET", `/pets/summaries?${tooMany}`)).status, 400);
});

test("an animal without a photo has the outline of its species, else of its category, else a paw; a deleted one is left out", async () => {
  const [cats, others] = [await newCategory(service, "Cats"), await newCategory(service, "New arrivals")];
  const [cat, bird, unknown, gone] = [
    await newPet(service, cats.id),
    await newPet(service, cats.id),
    await newPet(service, others.id),
    await newPet(service, cats.id),
  ];
  await made(service, "PUT", pathOf(bird.id), { facts: { species: "Parrot" } });
  await service.ask("DELETE", `/pets/${gone.id}`);
  const member = await newMember(service, { account: service.accountId, email: "cleo@shop.example", role: "member" });
  const ids = [cat.id, bird.id, unknown.id, gone.id];
  const { body } = await member.ask<{ pets: Summary[] }>("GET", `/pets/summaries?${ids.map((id) => `id=${id}`).join("&")}`);
  const outlines = [outlineOf("cat"), outlineOf("parrot"), outlineOf("")];
  assert.equal(new Set(outlines).size, 3);
  assert.deepEqual(
    body.pets.map(({ id, outline }) => [id, outline]),
    [cat, bird, unknown].map(({ id }, i) => [id, outlines[i]]),
  );
});
