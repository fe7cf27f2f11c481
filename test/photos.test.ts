import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import sharp from "sharp";
import sql from "sql-template-tag";
import { done, settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure } from "./support/models.ts";
import { announced, announcedAvif, picture, stopPictureProcess, textBomb, turnedPhoto } from "./support/pictures.ts";
import { pathOf, upload, type Profile } from "./support/profiles.ts";
import { ask, startService, statusesOf, unlimited, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";

let service: TestService;
let categoryId: number;
before(async () => {
  service = await startService();
  categoryId = (await newCategory(service, "Dogs")).id;
});
after(() => service.close());

const price = { amount: 49_000, currency: "EUR" };

/** Fetches an address of the edge, which no name server knows. */
async function visit(url: string, host = new URL(url).hostname) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; headers: Record<string, unknown>; body: Buffer }>();
  const { port, pathname } = new URL(url);
  request({ host: "127.0.0.1", port, path: pathname, headers: { host }, agent: false }, (response) => {
    const { statusCode: status = 0, headers } = response;
    buffer(response).then((body) => resolve({ status, headers, body }), reject);
  })
    .on("error", reject)
    .end();
  return promise;
}

const used = async (key = service.key) =>
  (await made<{ publishedBytes: { used: number } }>(service, "GET", "/account", undefined, key)).publishedBytes.used;

function stored(): number {
  const entries = readdirSync(join(service.dataDir, "content"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

test("a photo is re-encoded without its metadata, turned upright, and served by its hash for ever", async () => {
  const pet = await newPet(service, categoryId);
  const { status, body, headers } = await upload(
    service,
    pet.id,
    await turnedPhoto(),
    {},
    service.key,
    `?alt=${encodeURIComponent("Rex <on> a lawn")}`,
  );
  assert.deepEqual([status, body.alt, body.width, body.height], [201, "Rex <on> a lawn", 600, 800]);
  const profile = await service.ask<Profile>("GET", pathOf(pet.id));
  assert.equal(headers.get("etag"), profile.headers.get("etag"));
  assert.deepEqual(profile.body.photos[0], { ...body });
  assert.deepEqual(
    body.sources.map(({ type, width }) => [type, width]),
    [
      ["image/avif", 480],
      ["image/avif", 600],
      ["image/webp", 480],
      ["image/webp", 600],
    ],
  );
  for (const { url, type, width, height } of body.sources) {
    assert.match(url, /^http:\/\/photos\.petstore\.localhost:\d+\/photos\/[0-9a-f]{64}\.(?:avif|webp)$/);
    const served = await visit(url);
    assert.deepEqual([served.status, served.headers["content-type"]], [200, type]);
    assert.equal(served.headers["x-content-type-options"], "nosniff");
    assert.equal(served.headers["access-control-allow-origin"], "*", "scripts of any page may read it");
    assert.equal(served.headers["cache-control"], "public, max-age=31536000, immutable");
    const found = await sharp(served.body).metadata();
    assert.deepEqual([found.width, found.height, found.exif, found.orientation], [width, height, undefined, undefined]);
    assert.ok(!served.body.includes("Secret Camera"));
    const same = await fetch(`${service.address}${new URL(url).pathname}`);
    assert.notEqual(same.headers.get("content-type"), type, "never from the dashboard's origin");
    await same.arrayBuffer();
  }
  const missing = await visit(body.url.replace(/[0-9a-f]{64}/, "0".repeat(64)));
  assert.deepEqual([missing.status, missing.headers["access-control-allow-origin"]], [404, "*"]);
});

test("files that are not pictures, too large or decompression bombs are refused in one line, and leave nothing behind", async () => {
  const pet = await newPet(service, categoryId);
  const standing = { bytes: await used(), stored: stored() };
  const jpeg = await picture("blue");
  const hostile: [string, Uint8Array, RegExp][] = [
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), /not a JPEG/],
    ["GIF", await picture("blue", { format: "gif" }), /not a JPEG/],
    ["nothing", Buffer.alloc(0), /not a JPEG/],
    ["half a JPEG", jpeg.subarray(0, jpeg.length / 2), /cannot be used/],
    ["a JPEG header and noise", Buffer.concat([jpeg.subarray(0, 24), Buffer.alloc(5_000, 7)]), /cannot be used/],
    ["60,000 × 60,000 pixels", await announced(60_000, 60_000), /60000 × 60000 pixels; the limit is 50 megapixels/],
    ["8,000 × 7,000 pixels", await announced(8_000, 7_000), /8000 × 7000 pixels; the limit is 50 megapixels/],
    ["10-bit AVIF of 7,070 × 7,070 pixels", await announcedAvif(7_070, 7_070), /the limit is 13 megapixels for AVIF/],
    ["texts that take gigabytes", await textBomb(), /takes more than 512 MiB of memory to decode. Save it smaller/],
    ["an AVIF header", Buffer.from("\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf".padEnd(64, "\0"), "latin1"), /cannot be used/],
  ];
  for (const [what, body, message] of hostile) {
    const reply = await upload(service, pet.id, body);
    assert.deepEqual([reply.status, reply.body.code], [400, "invalid_request"], what);
    assert.match(reply.body.message, message, what);
    assert.ok(!reply.body.message.includes("\n"), what);
  }
  assert.equal(await figure('petstore_bound_refusals_total{reason="picture_memory"}'), 1);
  assert.equal((await upload(service, pet.id, Buffer.alloc(10 * 1_048_576 + 1))).status, 413);
  assert.equal((await upload(service, pet.id, jpeg, { "content-type": "image/svg+xml" })).status, 415);
  assert.equal((await upload(service, pet.id, jpeg, { "content-type": "application/json" })).status, 415);
  assert.deepEqual({ bytes: await used(), stored: stored() }, standing);
  assert.equal((await service.ask("GET", pathOf(pet.id))).status, 404, "a refused photo makes no profile");
});

test("an animation becomes a photo of its first picture, and PNG, WebP and AVIF become photos too", async () => {
  const pet = await newPet(service, categoryId);
  const frames = Buffer.concat(
    ["red", "green"].map((colour) => Buffer.alloc(50 * 50 * 3, colour === "red" ? "\xff\0\0" : "\0\xff\0", "latin1")),
  );
  const raw = { width: 50, height: 100, channels: 3 as const, pageHeight: 50 };
  const animated = await sharp(frames, { raw })
    .webp({ loop: 0, delay: [100, 100] })
    .toBuffer();
  const shown = await upload(service, pet.id, animated, { "content-type": "image/webp" });
  assert.deepEqual([shown.status, shown.body.height], [201, 50]);
  for (const format of ["png", "webp", "avif"] as const) {
    const { status, body } = await upload(service, pet.id, await picture("olive", { format, width: 60, height: 40 }), {
      "content-type": `image/${format}`,
    });
    assert.deepEqual([status, body.width], [201, 60], format);
  }
});

test("the profile orders and describes the photos, those that it leaves out are deleted, and there are at most ten", async () => {
  const pet = await newPet(service, categoryId);
  const small = await picture("navy", { width: 20, height: 20 });
  const ids: number[] = [];
  for (let i = 0; i < 10; i++) ids.push((await upload(service, pet.id, small)).body.id);
  const eleventh = await upload(service, pet.id, small);
  assert.deepEqual([eleventh.status, eleventh.body.message], [400, `Pet ${pet.id} has 10 photos, the most: delete one first.`]);
  const bytesOfTen = await used();
  const wanted = [ids[9]!, ids[0]!, ids[5]!];
  const photos = wanted.map((id, index) => ({ id, alt: `Photo ${index}` }));
  const ordered = await made<Profile>(service, "PATCH", pathOf(pet.id), { photos });
  assert.deepEqual(
    ordered.photos.map(({ id, alt }) => ({ id, alt })),
    photos,
  );
  assert.ok((await used()) < bytesOfTen);
  assert.equal((await service.ask("PATCH", pathOf(pet.id), { body: { photos: [{ id: ids[0] }, { id: ids[0] }] } })).status, 400);
  assert.deepEqual((await made<Profile>(service, "PUT", pathOf(pet.id), { price })).photos.length, 3, "a PUT without photos keeps them");
  assert.equal((await service.ask("DELETE", `${pathOf(pet.id)}/photos/${ids[9]}`)).status, 204);
  assert.equal((await service.ask("DELETE", `${pathOf(pet.id)}/photos/${ids[9]}`)).status, 404);
  assert.deepEqual(
    (await made<Profile>(service, "GET", pathOf(pet.id))).photos.map(({ id }) => id),
    [ids[0], ids[5]],
  );
});

test("a photo keeps the point that stays in view until it is removed; another write leaves it, and a wrong one changes nothing", async () => {
  const pet = await newPet(service, categoryId);
  const { id } = (await upload(service, pet.id, await picture("navy", { width: 20, height: 20 }))).body;
  const set = (photo: object) => service.ask<Profile & Failure>("PATCH", pathOf(pet.id), { body: { photos: [{ id, ...photo }] } });
  const focusOf = async () => (await made<Profile>(service, "GET", pathOf(pet.id))).photos[0]!.focus;
  assert.equal(await focusOf(), undefined);
  assert.deepEqual((await set({ focus: { x: 0, y: 100 } })).body.photos[0]!.focus, { x: 0, y: 100 });
  const { etag } = Object.fromEntries((await service.ask("GET", pathOf(pet.id))).headers);
  const again = await set({ focus: { y: 100, x: 0 } });
  assert.equal(again.headers.get("etag"), etag, "the same point changes nothing");
  await set({ alt: "Rex" });
  assert.deepEqual(await focusOf(), { x: 0, y: 100 });
  const wrong: [unknown, string][] = [
    [{ x: 101, y: 0 }, "body.photos[0].focus.x"],
    [{ x: 0, y: -1 }, "body.photos[0].focus.y"],
    [{ x: 0.5, y: 0 }, "body.photos[0].focus.x"],
    [{ x: 1 }, "body.photos[0].focus.y"],
    [{ x: 1, y: 1, z: 1 }, "body.photos[0].focus.z"],
    ["50% 50%", "body.photos[0].focus"],
  ];
  for (const [focus, path] of wrong) {
    const { status, body } = await set({ focus });
    assert.deepEqual([status, body.details?.[0]?.path], [400, path]);
  }
  assert.deepEqual(await focusOf(), { x: 0, y: 100 });
  await set({ focus: null });
  assert.equal(await focusOf(), undefined);
});

test("the bytes of photos count as published, and are deleted with the photo, the profile, the pet and the account", async () => {
  const shop = await service.newAccount("enterprise", { ...unlimited, publishedBytes: 1_000_000 });
  const make = <T>(method: string, path: string, body?: unknown) => made<T>(service, method, path, body, shop.key);
  const category = await newCategory(service, "Birds", shop.key);
  await swept();
  const kept = stored();
  const pets = await Promise.all(Array.from({ length: 4 }, () => newPet(service, category.id, {}, shop.key)));
  const [one, two, three, four] = pets.map(({ id }) => id) as [number, number, number, number];
  const ids: number[] = [];
  for (const [id, colour] of [
    [one, "red"],
    [two, "green"],
    [three, "blue"],
    [four, "yellow"],
  ] as const)
    ids.push((await upload(service, id, await picture(colour, { width: 30, height: 30 }), {}, shop.key)).body.id);
  const all = await used(shop.key);
  assert.ok(all > 0);
  assert.equal(stored(), kept + 8);
  await make("DELETE", `${pathOf(one)}/photos/${ids[0]}`);
  await make("DELETE", pathOf(two));
  await make("DELETE", `/pets/${three}`);
  const left = await used(shop.key);
  assert.ok(left > 0 && left < all / 2);
  await swept();
  assert.equal(stored(), kept + 2);
  await service.administration["accounts.delete"]({ id: shop.id });
  await swept();
  assert.equal(stored(), kept);
});

/** Waits for the sweep, which runs once a second. */
async function swept(): Promise<void> {
  await until(async () => (await service.db.query(sql`SELECT 1 FROM unused_files LIMIT 1`)).length === 0);
}

test("a photo for which the account has no room is refused, and is stored nowhere", async () => {
  const shop = await service.newAccount("enterprise", { ...unlimited, publishedBytes: 100 });
  const category = await newCategory(service, "Fish", shop.key);
  const pet = await newPet(service, category.id, {}, shop.key);
  const reply = await upload(service, pet.id, await picture("coral"), {}, shop.key);
  assert.deepEqual([reply.status, reply.body.code], [403, "storage_limit_reached"]);
  assert.equal(await used(shop.key), 0);
  assert.equal((await service.ask("GET", pathOf(pet.id), { key: shop.key })).status, 404);
});

test("an upload with an Idempotency-Key adds one photo, however often it is sent", async () => {
  const pet = await newPet(service, categoryId);
  const [body, other] = [await picture("gold", { width: 50, height: 50 }), await picture("pink", { width: 50, height: 50 })];
  const once = await upload(service, pet.id, body, { "idempotency-key": "photo-1" });
  const again = await upload(service, pet.id, body, { "idempotency-key": "photo-1" });
  assert.deepEqual([again.status, again.body, again.headers.get("idempotent-replayed")], [201, once.body, "true"]);
  assert.equal((await upload(service, pet.id, other, { "idempotency-key": "photo-1" })).body.code, "idempotency_key_reused");
  assert.equal((await made<Profile>(service, "GET", pathOf(pet.id))).photos.length, 1);
});

test("concurrent uploads over the bound of an account are refused with a time to wait, and the others succeed", async () => {
  const pet = await newPet(service, categoryId);
  const body = await picture("plum", { width: 50, height: 50 });
  const replies = await Promise.all(Array.from({ length: 5 }, () => upload(service, pet.id, body)));
  const statuses = new Set(statusesOf(replies));
  assert.ok(statuses.has(201) && statuses.has(503) && statuses.size === 2, String([...statuses]));
  assert.ok(replies.every(({ status, headers }) => status === 201 || headers.get("retry-after") === "2"));
});

test("accounts take turns: a photo waits for the one that is being encoded, and not for the others of its account", async () => {
  const shop = await service.newAccount("enterprise", unlimited);
  const theirs = await newPet(service, (await newCategory(service, "Plain", shop.key)).id, {}, shop.key);
  const pet = await newPet(service, categoryId);
  const answered: string[] = [];
  const send = async (name: string, colour: string, petId: number, key: string) => {
    const { status } = await upload(service, petId, await picture(colour, { width: 60, height: 40 }), {}, key);
    answered.push(`${name} ${status}`);
  };
  const first = send("first", "red", pet.id, service.key);
  const process1 = await stopPictureProcess();
  const second = send("second", "green", pet.id, service.key);
  await until(async () => (await waiting()) === 1);
  const other = send("other", "blue", theirs.id, shop.key);
  await until(async () => (await waiting()) === 2);
  process.kill(process1, "SIGCONT");
  await Promise.all([first, second, other]);
  assert.deepEqual(answered, ["first 201", "other 201", "second 201"]);
});

test("a photo whose process is killed is encoded by another process", async () => {
  const pet = await newPet(service, categoryId);
  const uploading = upload(service, pet.id, await picture("salmon", { width: 60, height: 40 }));
  process.kill(await stopPictureProcess(), "SIGKILL");
  assert.equal((await uploading).status, 201);
});

test("a photo whose client has gone before its turn is dropped", async () => {
  const pet = await newPet(service, categoryId);
  const small = { width: 60, height: 40 };
  const first = upload(service, pet.id, await picture("tan", small));
  const process1 = await stopPictureProcess();
  const body = await picture("orchid", small);
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "image/jpeg", "content-length": body.length };
  const gone = request(`${service.address}/v1${pathOf(pet.id)}/photos`, { method: "POST", headers }).on("error", () => undefined);
  gone.end(body);
  await until(async () => (await waiting()) === 1);
  gone.destroy();
  process.kill(process1, "SIGCONT");
  assert.equal((await first).status, 201);
  await until(async () => (await waiting()) === 0);
  assert.equal((await upload(service, pet.id, await picture("wheat", small))).status, 201);
  assert.equal((await made<Profile>(service, "GET", pathOf(pet.id))).photos.length, 2);
});

/** The photos that wait for their turn. */
const waiting = () => figure('petstore_turns_waiting{of="pictures"}');

async function figure(name: string): Promise<number> {
  const { body } = await ask<string>(`${service.address}/metrics`, "GET");
  const line = body.split("\n").find((text) => text.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? assert.fail(`${name} is not among the metrics`));
}

test("a backup has the photos, a restored service has them again, and verify names one that is missing", async (t) => {
  const pet = await newPet(service, categoryId);
  const { body } = await upload(service, pet.id, await picture("sienna"));
  await service.publishing.idle();
  const file = join(temporaryFolder(t), "backup");
  const settings = await settingsOf(service.dataDir);
  await done(settings, "backup", file);
  await done(settings, "verify", file);
  const restored = await settingsOf(join(temporaryFolder(t), "data"));
  await done(restored, "restore", file);
  await done(restored, "verify");
  const hash = body.url.match(/[0-9a-f]{64}/)![0];
  rmSync(join(restored["DATA_DIR"]!, "content", hash.slice(0, 2), hash));
  const { code, out, error } = await runCommand(["verify"], restored);
  assert.equal(code, 1, out + error);
  assert.match(out + error, new RegExp(`published file ${hash} is missing`));
});
