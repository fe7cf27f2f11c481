import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop, type DashboardShop } from "./support/dashboard-shop.ts";
import { assertAccessibleOnPhone, visit } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import type { Profile } from "./support/profiles.ts";
import { startService } from "./support/service.ts";
import { openStorefront } from "./support/storefront.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(() => startService());
const photosHost = (): string => `photos.petstore.localhost:${service.publishing.addresses()!.http.port}`;

test("photos move by buttons, keys, mouse and touch, and keep the text typed beside them", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const id = await shop.pet("Milo", await shop.category("Cats"));
  await addPhotos(shop, id, ["teal", "coral", "gold"]);
  const page = await shop.open(`/animals/${id}`, { hosts: [photosHost()], hasTouch: true });
  const part = page.getByRole("main");
  const shown = async (...colours: string[]) => {
    for (const [index, name] of colours.entries()) await part.getByRole("listitem").nth(index).getByRole("img", { name }).waitFor();
  };
  await part.getByLabel("Description").fill("Sings.");
  await part.getByRole("button", { name: "Move left: photo 2" }).click();
  await part.getByText("Photo 2 is now the first, the cover.").waitFor();
  await part.getByRole("listitem").first().getByText("Cover").waitFor();
  await shown("coral", "teal", "gold");
  await part.getByRole("button", { name: "Move left: photo 1" }).press("ArrowRight");
  await part.getByText("Photo 1 is now photo 2 of 3.").waitFor();
  const focused = await page.evaluate<string>("document.activeElement.getAttribute('aria-label')");
  assert.equal(focused, "Move left: photo 2", "the focus stays on the button of the photo that moved");
  await shown("teal", "coral", "gold");

  await dragByMouse(page, part.getByRole("img", { name: "gold" }), part.getByRole("img", { name: "teal" }));
  await shown("gold", "teal", "coral");
  const [first, last] = [part.getByRole("img", { name: "gold" }), part.getByRole("img", { name: "coral" })];
  await dragByTouch(page, first, last);
  await dragByTouch(page, part.getByRole("listitem").first().locator("[data-grip]"), last);
  await shown("teal", "coral", "gold");
  await assertAccessibleOnPhone(page);
  const topOf = async (name: string) => (await part.getByRole("img", { name }).boundingBox())!.y;
  assert.equal(await topOf("teal"), await topOf("coral"), "two are beside each other on a phone");

  assert.equal(await part.getByLabel("Description").inputValue(), "Sings.");
  await part.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("is saved.", { exact: false }).first().waitFor();
  const { body } = await shop.ask<{ description: string; photos: { alt: string }[] }>("GET", `/pets/${id}/profile`);
  assert.deepEqual([body.description, ...body.photos.map(({ alt }) => alt)], ["Sings.", "teal", "coral", "gold"]);
});

test("changing the order while photos are being added keeps the added photos", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const id = await shop.pet("Nala", await shop.category("Cats"));
  await addPhotos(shop, id, ["teal", "coral"]);
  const page = await shop.open(`/animals/${id}`, { hosts: [photosHost()] });
  const part = page.getByRole("main");
  const { promise: moved, resolve } = Promise.withResolvers<void>();
  await page.route("**/profile/photos", async (route) => {
    await moved;
    await route.continue();
  });
  const buffer = await picture("gold", { width: 60, height: 40 });
  await part.locator("input[type=file]").setInputFiles({ name: "gold.jpg", mimeType: "image/jpeg", buffer });
  await part.getByRole("button", { name: "Move right: photo 1" }).click();
  await part.getByRole("listitem").first().getByRole("img", { name: "coral" }).waitFor();
  resolve();
  await part.getByRole("button", { name: "Add photos" }).waitFor();
  await part.getByRole("img", { name: "Photo 3" }).waitFor();
  const alts = async () => (await shop.ask<{ photos: { alt: string }[] }>("GET", `/pets/${id}/profile`)).body.photos.map(({ alt }) => alt);
  await until(async () => (await alts()).join() === "coral,teal,");
});

test("files that are no photos, are too large or are too many are named with the reason when they are dropped or chosen", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const id = await shop.pet("Milo", await shop.category("Cats"));
  await addPhotos(shop, id, ["teal", "coral"]);
  const page = await shop.open(`/animals/${id}`, { hosts: [photosHost()] });
  const alert = page.getByRole("main").getByRole("alert");
  await drop(page, [{ name: "list.pdf", type: "application/pdf" }]);
  await alert.getByText("Not added: “list.pdf”. Choose pictures in JPEG, PNG, WebP or AVIF.").waitFor();
  await assertAccessibleOnPhone(page);
  const buffer = await picture("gold", { width: 60, height: 40 });
  const chosen = Array.from({ length: 9 }, (_, i) => ({ name: `${i + 1}.jpg`, mimeType: "image/jpeg", buffer }));
  await page.locator("input[type=file]").setInputFiles([{ name: "phone.heic", mimeType: "image/heic", buffer }, ...chosen]);
  await alert.getByText("Not added: “phone.heic”. Choose pictures").waitFor();
  await alert.getByText("Not added: “9.jpg”. An animal has up to 10 photos.").waitFor();
  await page.getByRole("img", { name: "Photo 10" }).waitFor();

  await page.goto(`${service.address}/dashboard/animals/new`);
  await drop(page, [
    ...chosen.map(({ name }) => ({ name, type: "image/jpeg" })),
    ...["10.jpg", "11.jpg", "12.jpg"].map((name) => ({ name, type: "image/jpeg" })),
    { name: "poster.png", type: "image/png", size: 10 * 1_048_576 + 1 },
    { name: "film.mov", type: "video/quicktime" },
  ]);
  for (const said of [
    "“film.mov”. Choose",
    "“poster.png”. A picture has at most 10 MiB.",
    "“11.jpg”, “12.jpg”. An animal has up to 10 photos.",
  ])
    await alert.getByText(said).waitFor();
  await page.getByRole("button", { name: "Remove photo 10" }).waitFor();
  await assertAccessibleOnPhone(page);
  await drop(page, [{ name: "13.jpg", type: "image/jpeg" }]);
  await alert.getByText(/^Not added: “13.jpg”/).waitFor();
  await page.getByRole("button", { name: "Remove photo 10" }).click();
  await drop(page, [{ name: "13.jpg", type: "image/jpeg" }]);
  await alert.waitFor({ state: "detached" });
});

test("a pointer or keys choose the focal point of a photo, and the storefront crops the photo around it", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const id = await shop.pet("Luna", await shop.category("Cats"));
  await addPhotos(shop, id, ["teal", "coral"], { width: 800, height: 400 });
  const page = await shop.open(`/animals/${id}`, { hosts: [photosHost()] });
  const dialog = page.getByRole("dialog", { name: "Focal point of photo 1" });
  const [across, down] = ["From left to right", "From top to bottom"].map((name) => dialog.getByRole("slider", { name })) as [
    Locator,
    Locator,
  ];
  const open = () => page.getByRole("button", { name: "Focal point of photo 1" }).click();
  const save = async () => {
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const focusIs = (focus: object | undefined) =>
    until(async () => {
      const { photos } = (await shop.ask<Profile>("GET", `/pets/${id}/profile`)).body;
      return JSON.stringify(photos.map((photo) => photo.focus)) === JSON.stringify([focus, undefined]);
    });

  await open();
  assert.deepEqual([await across.inputValue(), await down.inputValue()], ["50", "25"]);
  await dialog.locator("input:focus").and(across).waitFor(); // keys move the point at once
  await pressAt(dialog.getByRole("img", { name: "teal" }), 0.8, 0.9);
  assert.deepEqual([await across.inputValue(), await down.inputValue()], ["80", "90"]);
  await across.press("Home");
  await down.press("ArrowLeft");
  assert.equal(await positionOf(dialog.locator("figure img")), "0% 89%", "the dialog shows a card with the crop");
  await assertAccessibleOnPhone(page);
  await save();
  await focusIs({ x: 0, y: 89 });
  assert.equal(await positionOf(page.getByRole("main").getByRole("img", { name: "teal" })), "0% 89%");

  const { url } = await openStorefront(service, `luna-${id}`, {}, { key: shop.key });
  const { page: site } = await visit(t, browser, url);
  const crops = async () => [await positionOf(site.locator(".card img")), await positionOf(site.locator(".hero img"))];
  assert.deepEqual(await crops(), ["0% 90%", "0% 90%"]);

  await open();
  await down.press("End");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Close without saving" }).click();
  await dialog.waitFor({ state: "detached" });
  await open();
  assert.equal(await down.inputValue(), "89");
  await dialog.getByRole("button", { name: "Choose automatically" }).click();
  await save();
  await focusIs(undefined);
  await site.reload();
  assert.deepEqual(await crops(), ["50% 25%", "50% 25%"]);
});

type Dropped = { name: string; type: string; size?: number };

/** Drops files of a kind and a size, of bytes that nobody reads, on the photos of an animal. */
async function drop(page: Page, files: Dropped[]): Promise<void> {
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const { name, type, size = 1 } of ${JSON.stringify(files)}) transfer.items.add(new File([new Uint8Array(size)], name, { type }));
    return transfer;
  })()`);
  await page.getByRole("button", { name: "Add photos" }).dispatchEvent("drop", { dataTransfer: transfer });
}

type Styles = { getComputedStyle: (element: unknown) => { objectPosition: string } };
const positionOf = (photo: Locator): Promise<string> =>
  photo.evaluate((image) => (globalThis as unknown as Styles).getComputedStyle(image).objectPosition);

/** Presses at a part of the width and the height of a photo. */
async function pressAt(photo: Locator, across: number, down: number): Promise<void> {
  const { width, height } = (await photo.boundingBox())!;
  await photo.click({ position: { x: width * across, y: height * down } });
}

/** Gives an animal a photo of each colour, with the colour's name as its alternative text. */
async function addPhotos(shop: DashboardShop, petId: number, colours: string[], size = { width: 60, height: 40 }): Promise<void> {
  const photos: { id: number; alt: string }[] = [];
  for (const alt of colours) {
    const bytes = await picture(alt, size);
    const path = `/pets/${petId}/profile/photos`;
    const { status, body } = await shop.ask<{ id: number }>("POST", path, bytes, { "content-type": "image/jpeg" });
    assert.equal(status, 201);
    photos.push({ id: body.id, alt });
  }
  assert.equal((await shop.ask("PATCH", `/pets/${petId}/profile`, { photos })).status, 200);
}

async function middleOf(place: Locator): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await place.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

async function dragByMouse(page: Page, from: Locator, to: Locator): Promise<void> {
  await from.scrollIntoViewIfNeeded();
  const [start, end] = [await middleOf(from), await middleOf(to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 3 });
  await page.mouse.up();
}

async function dragByTouch(page: Page, from: Locator, to: Locator): Promise<void> {
  await from.scrollIntoViewIfNeeded();
  const [start, end] = [await middleOf(from), await middleOf(to)];
  const session = await page.context().newCDPSession(page);
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [start] });
  await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [end] });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await session.detach();
}
