import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openImportShop, outcomes, type Import } from "./support/imports.ts";
import { examplePicture, picture } from "./support/pictures.ts";
import { startService, testOnce, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

let now = Date.UTC(2027, 0, 1);
let service: TestService;
const asked: string[] = [];
const answers = new Map<string, (response: ServerResponse) => void>();
const server = createServer((request, response) => {
  asked.push(request.url!);
  const answer = answers.get(request.url!.split("?")[0]!);
  if (answer) answer(response);
  else response.writeHead(404).end();
});
let origin = "";
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answers.set("/rex.jpg", (response) => void response.writeHead(200).end(examplePicture));
  const other = await picture("teal");
  answers.set("/luna.png", (response) => void response.writeHead(200).end(other));
  answers.set("/moved", (response) => void response.writeHead(302, { location: "/rex.jpg" }).end());
  answers.set("/circle", (response) => void response.writeHead(302, { location: "/circle" }).end());
  answers.set("/text", (response) => void response.writeHead(200).end("no picture"));
  answers.set("/large", (response) => void response.writeHead(200).end(Buffer.alloc(11 * 1_048_576)));
  answers.set("/broken", (response) => void response.destroy());
  service = await startService({ clock: () => now, env: { WEBHOOK_PRIVATE_ADDRESSES: "on" } });
});
after(async () => {
  await service.close();
  server.close();
});

type Failed = Import & { photosFailed?: { count: number; photos: { petId: number; url: string; reason: string }[] } };
type Shown = { photos?: { url: string }[]; description?: string };

const openShop = () => openImportShop(service);
type Shop = Awaited<ReturnType<typeof openShop>>;
const photosOf = async (shop: Shop, petId: number) => (await shop.send<Shown>("GET", `/pets/${petId}/profile`)).body.photos?.length ?? 0;
const row = (shop: Shop, id: string, photos: string[], description?: string) => ({
  ...shop.row(id, "Rex"),
  profile: { photos: photos.map((path) => origin + path), ...(description !== undefined && { description }) },
});

test("photos that a row names are fetched afterwards, in their order and only once, and go with an undo", async () => {
  const shop = await openShop();
  const [rex] = await shop.importAll([row(shop, "a", ["/rex.jpg", "/luna.png"], "Friendly.")]);
  const { petId } = rex!;
  await until(async () => (await photosOf(shop, petId)) === 2);
  const askedBefore = asked.length;
  assert.deepEqual(outcomes(await shop.importAll([row(shop, "a", ["/rex.jpg", "/luna.png"], "Friendly.")])), ["unchanged"]);
  const [again] = await shop.importAll([row(shop, "a", ["/rex.jpg", "/moved", "/luna.png"], "Friendly.")]);
  assert.equal(again!.petId, petId);
  await until(async () => (await photosOf(shop, petId)) === 3);
  assert.deepEqual(asked.slice(askedBefore), ["/moved", "/rex.jpg"], "a redirect, and no photo again");
  const imports = await shop.make<Import[]>("GET", "/imports");
  await shop.undo(imports[2]!.id);
  assert.equal(await photosOf(shop, petId), 3, "photos that were added to a pet stay");
});

test("addresses in the columns of a file are fetched, and may contain commas", async (t) => {
  const shop = await openShop();
  const file = join(temporaryFolder(t), "animals.csv");
  await writeFile(file, `id,name,species,photos\n1,Rex,Dog,"${origin}/rex.jpg?size=80,60, ${origin}/luna.png"\n`);
  const { code, error } = await runCommand(["import", file], { PETSTORE_URL: service.address, PETSTORE_KEY: shop.key });
  assert.equal(code, 0, error);
  const [{ id } = { id: 0 }] = await shop.make<{ id: number }[]>("GET", "/pets");
  await until(async () => (await photosOf(shop, id)) === 2);
  assert.ok(asked.includes("/rex.jpg?size=80,60"));
});

test("an undo deletes the animals of an import with the photos that it fetched", async () => {
  const shop = await openShop();
  const [rex] = await shop.importAll([row(shop, "a", ["/rex.jpg"], "Friendly.")]);
  const [luna] = await shop.importAll([row(shop, "b", ["/luna.png"])], "Farm");
  for (const { petId } of [rex!, luna!]) await until(async () => (await photosOf(shop, petId)) === 1);
  for (const { id } of await shop.make<Import[]>("GET", "/imports")) assert.deepEqual((await shop.undo(id)).stays, { count: 0, pets: [] });
  assert.deepEqual(await shop.make("GET", "/pets"), []);
});

test("an import lists the photos that cannot be fetched, with the reasons, and keeps the others", async () => {
  const shop = await openShop();
  const paths = ["/text", "/missing", "/circle", "/large", "/rex.jpg"];
  const [rex] = await shop.importAll([row(shop, "a", paths)]);
  const newest = async () => (await shop.newest()) as Failed;
  await until(async () => (await photosOf(shop, rex!.petId)) === 1);
  const { photosFailed } = await newest();
  assert.equal(photosFailed!.count, 4);
  assert.deepEqual(
    photosFailed!.photos.map(({ petId, url, reason }) => [petId, url.slice(origin.length), reason]),
    [
      [rex!.petId, "/text", "The picture cannot be used: it is not a JPEG, PNG, WebP or AVIF picture."],
      [rex!.petId, "/missing", "Its server answered 404."],
      [rex!.petId, "/circle", "The address redirects too often."],
      [rex!.petId, "/large", "The address leads to a file of more than 10 MiB."],
    ],
  );
});

test("a photo whose server fails is fetched again a few times, with growing pauses", async () => {
  const shop = await openShop();
  const tries = () => asked.filter((path) => path === "/broken?1").length;
  await shop.importAll([row(shop, "a", ["/broken?1"])]);
  for (const [i, pauseMs] of [60_000, 600_000, 3_600_000].entries()) {
    await until(() => tries() === i + 1);
    assert.equal(((await shop.newest()) as Failed).photosFailed, undefined);
    now += pauseMs;
  }
  await until(async () => ((await shop.newest()) as Failed).photosFailed?.count === 1);
  assert.equal(tries(), 4);
});

test("addresses of photos are refused that are none, and at most ten are taken", async () => {
  const shop = await openShop();
  const { id } = await shop.begin();
  for (const photos of [
    ["file:///etc/passwd"],
    ["ftp://shop.example/a.jpg"],
    ["https://a b"],
    Array.from({ length: 11 }, () => "https://a.example"),
  ]) {
    const reply = await shop.send("POST", `/imports/${id}/rows`, [{ ...shop.row("a", "Rex"), profile: { photos } }]);
    assert.equal(reply.status, 400);
    assert.match(reply.body.details![0]!.path, /^body\[0\]\.profile\.photos/);
  }
});

testOnce("a photo at an address that is not on the public internet is not fetched, unless the setting of webhooks allows it", async () => {
  const guarded = await startService();
  try {
    const shop = await openImportShop(guarded);
    const askedBefore = asked.length;
    await shop.importAll([row(shop, "a", ["/rex.jpg"])]);
    await until(async () => ((await shop.newest()) as Failed).photosFailed?.count === 1);
    const [failed] = ((await shop.newest()) as Failed).photosFailed!.photos;
    assert.equal(failed!.reason, "The address leads to an address that is not on the public internet.");
    assert.equal(asked.length, askedBefore);
  } finally {
    await guarded.close();
  }
});
