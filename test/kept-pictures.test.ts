import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { done, settingsOf } from "./support/backups.ts";
import { newMember } from "./support/dashboard.ts";
import { temporaryFolder } from "./support/folder.ts";
import { picture } from "./support/pictures.ts";
import { newDatabase } from "./support/postgres.ts";
import { pathOf, upload, type Profile } from "./support/profiles.ts";
import { startService, testOnce, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { openStorefront, visitSite } from "./support/storefront.ts";

/** The SHA-256 of the bytes of each form of each photo, and of the logo, by path. */
type Pictures = Map<string, string>;

let service: TestService;
let pictures: Pictures;
/** The last animal with photos. */
let petId: number;
before(async () => {
  service = await startService();
  const { id } = await newCategory(service, "Dogs");
  pictures = new Map();
  const paths: string[] = [];
  for (const colour of ["teal", "olive"]) {
    petId = (await newPet(service, id, { name: colour })).id;
    const photos: { id: number; focus: object }[] = [];
    for (const width of [1_200, 300]) {
      const { body } = await upload(service, petId, await picture(colour, { width }));
      paths.push(...body.sources.map(({ url }) => new URL(url).pathname));
      photos.unshift({ id: body.id, focus });
    }
    await made(service, "PATCH", pathOf(petId), { photos });
  }
  paths.push(await publishLogo());
  for (const path of paths) pictures.set(path, await digestAt(service, path));
  assert.equal(pictures.size, 2 * (5 + 2) + 1);
});
after(() => service.close());

const focus = { x: 10, y: 100 };

/** Gives the shop at the slug `kept` a logo, and returns its path. */
async function publishLogo(): Promise<string> {
  const { id, url } = await openStorefront(service, "kept", {});
  const member = await newMember(service, { account: service.accountId, email: "ann@shop.example", role: "owner" });
  const headers = { cookie: member.cookie, origin: service.address, "content-type": "image/jpeg" };
  const body = new Uint8Array(await picture("teal", { width: 400, height: 100 }));
  await fetch(`${service.address}/dashboard/v1/projects/${id}/storefront/logo`, { method: "PUT", headers, body });
  return /<img src="([^"]+)"/.exec((await visitSite(url)).body)![1]!;
}

async function digestAt({ publishing }: TestService, path: string): Promise<string> {
  const host = path.startsWith("/photos/") ? "photos" : "kept";
  const { status, bytes } = await visitSite(`http://${host}.petstore.localhost:${publishing.addresses()!.http.port}`, path);
  assert.equal(status, 200, path);
  return createHash("sha256").update(bytes).digest("hex");
}

/** Fetches every picture of a service that has taken over the data, compares the bytes, and the points that stay in view. */
async function assertServed(settings: Record<string, string>): Promise<void> {
  const { DATA_DIR: dataDir = "", DATABASE_URL = "" } = settings;
  const taken = await startService({ dataDir, env: { ...settings, DATABASE_URL } });
  try {
    for (const [path, digest] of pictures) {
      assert.equal(await digestAt(taken, path), digest, path);
      if (path.startsWith("/photos/")) assert.equal(path.slice("/photos/".length).split(".")[0], digest, "its name is its digest");
    }
    const { photos } = await made<Profile>(taken, "GET", pathOf(petId), undefined, service.key);
    assert.deepEqual(
      photos.map((photo) => [photo.width, photo.focus]),
      [
        [300, focus],
        [1_200, focus],
      ],
    );
  } finally {
    await taken.close();
  }
}

test("the sweep of content removes the bytes of deleted photos and of logos that were replaced, and no others", async () => {
  const { id: categoryId } = await newCategory(service, "Cats");
  const pet = await newPet(service, categoryId);
  const body = await picture("plum", { width: 1_000 });
  const { body: photo } = await upload(service, pet.id, body);
  const { pathname } = new URL(photo.url);
  const { id } = await openStorefront(service, "swept", {}, { files: { "a.txt": "a" } });
  await made(service, "DELETE", `/pets/${pet.id}`);
  await made(service, "DELETE", `/projects/${id}`);
  await service.publishing.idle();
  assert.equal((await visitSite(photo.url, pathname)).status, 404);
  for (const [path, digest] of pictures) assert.equal(await digestAt(service, path), digest, path);
});

test("after a backup and its restoration every photo and the logo are served with the same bytes", async (t) => {
  const file = join(temporaryFolder(t), "backup");
  await done(await settingsOf(service.dataDir), "backup", file);
  const restored = await settingsOf(join(temporaryFolder(t), "data"));
  await done(restored, "restore", file);
  await assertServed(restored);
});

testOnce("after a move to PostgreSQL, and back, every photo and the logo are served with the same bytes", async (t) => {
  const file = join(temporaryFolder(t), "backup");
  await done(await settingsOf(service.dataDir), "backup", file);
  const source = await settingsOf(join(temporaryFolder(t), "data"));
  await done(source, "restore", file);

  const folder = join(temporaryFolder(t), "moved");
  const { url, drop } = await newDatabase();
  t.after(drop);
  const SECRETS_KEY = readFileSync(join(source["DATA_DIR"]!, "secrets.key"), "utf8").trim();
  const onPostgres = { DATA_DIR: join(temporaryFolder(t), "cache"), DATABASE_URL: url, SECRETS_KEY };
  await done(source, "move", "--to", url);
  await assertServed(onPostgres);
  await done(onPostgres, "move", "--to", `sqlite:${folder}`);
  await assertServed({ DATA_DIR: folder, SECRETS_KEY });
});
