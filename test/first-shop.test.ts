import assert from "node:assert/strict";
import { test } from "node:test";
import type { CDPSession, Locator, Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { tokenIn } from "./support/dashboard.ts";
import { assertAccessible, assertAccessibleOnPhone, goWithin, visit } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { freePort } from "./support/ports.ts";
import { startService } from "./support/service.ts";
import { password } from "./support/signed-in.ts";

const port = await freePort();
const origin = `http://localhost:${port}`;
const [browser, service] = await stage(() => startService({ env: { PORT: String(port), PUBLIC_URL: origin } }));

/** The most clicks from the sign-in link to a published shop with one animal and its photo. */
const clicksMax = 12;

test("an owner goes from the sign-in link to a published shop with an animal and a photo in few clicks, and visitors see it; then adds a passkey", async (t) => {
  const { account } = await service.administration["accounts.create"]({ name: "Lin's Pets", plan: "free" });
  const { link } = await service.administration["members.invite"]({ account: account.id, email: "lin@pets.example", role: "owner" });
  const edge = service.publishing.addresses()!.http.port;
  const { page, devtools: devices } = await visit(t, browser, `${origin}/sign-in#token=${tokenIn(link)}`, {}, [
    `photos.petstore.localhost:${edge}`,
  ]);
  const beganAt = performance.now();
  let clicks = 0;
  const click = async (place: Locator): Promise<void> => {
    clicks += 1;
    await place.click();
  };
  await click(page.getByRole("button", { name: "Sign in with this link" }));
  await page.getByRole("textbox", { name: "New password" }).fill(password);
  await click(page.getByRole("button", { name: "Save and continue" }));
  await page.waitForURL("**/dashboard**");

  await chooseCurrency(page, click);
  await addAnimal(page, click);
  await publishShop(page, click);
  t.diagnostic(`${clicks} clicks and ${((performance.now() - beganAt) / 1_000).toFixed(1)} s from the sign-in link to a published shop`);
  assert.ok(clicks <= clicksMax, `${clicks} clicks, at most ${clicksMax}`);
  await assertAccessible(page);

  const { page: shop } = await visit(t, browser, `http://lins-pets.petstore.localhost:${edge}/`);
  await shop.getByRole("heading", { level: 1, name: /Lin's Pets/ }).waitFor();
  await assertAccessibleOnPhone(shop);
  await shop.getByRole("link", { name: "Luna", exact: true }).click();
  await shop.getByText("Purrs all day.").waitFor();
  await shop.getByText("€49.00").first().waitFor();
  const photo = shop.getByRole("img", { name: "Luna on a chair" }).first();
  assert.ok(await photo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0), "the photo is shown");
  await assertAccessibleOnPhone(shop);
  assert.equal(((await shop.title()).match(/Luna/) ?? []).length, 1);
  await finishSetUp(page);
  await addPasskey(page, devices);
});

type Click = (place: Locator) => Promise<void>;

const stepsOf = (page: Page): Locator => page.getByRole("list", { name: "Set up your shop" });

async function chooseCurrency(page: Page, click: Click): Promise<void> {
  const step = stepsOf(page).getByRole("listitem").filter({ hasText: "Choose your currency" });
  await click(step.getByRole("link"));
  await page.getByRole("dialog").getByRole("combobox", { name: "Currency" }).waitFor();
  assert.equal(await step.getByRole("link", { includeHidden: true }).getAttribute("class"), null, "it stays a plain link");
  await assertAccessible(page);
  await click(page.getByRole("dialog").getByRole("button", { name: "Save" }));
  await step.getByText("Done").waitFor();
}

async function addAnimal(page: Page, click: Click): Promise<void> {
  await click(stepsOf(page).getByRole("link", { name: "Add your first animal, with a photo" }));
  const part = page.getByRole("main");
  await part.getByRole("textbox", { name: "Name", exact: true }).fill("Luna");
  const chosen = page.waitForEvent("filechooser");
  await click(part.getByRole("button", { name: "Add photos" }));
  await (await chosen).setFiles({ name: "luna.jpg", mimeType: "image/jpeg", buffer: await picture("teal") });
  await part.getByRole("combobox", { name: "Category", exact: true }).fill("Cats");
  await click(page.getByRole("option", { name: "Create category “Cats”" }));
  await part.getByLabel("Description").fill("Purrs all day.");
  await part.getByLabel("Price").fill("49");
  await click(part.getByRole("button", { name: "Create animal" }));
  await page.getByText("“Luna” is in the catalogue.").waitFor();
  await part.getByLabel("Photo 1 in words").fill("Luna on a chair");
  await part.getByLabel("Photo 1 in words").blur();
  await part.getByRole("img", { name: "Luna on a chair" }).waitFor();
}

async function publishShop(page: Page, click: Click): Promise<void> {
  await click(page.getByRole("navigation").getByRole("link", { name: "Home" }));
  await click(stepsOf(page).getByRole("link", { name: "Publish your shop" }));
  await page.getByRole("dialog").getByLabel("Name").fill("Lin's Pets");
  await click(page.getByRole("button", { name: "Create the project" }));
  await click(page.getByRole("button", { name: "Publish the shop" }));
  await page.getByLabel("Name of the shop").waitFor();
}

/** The list of steps stays after the shop is published, until its logo and domain are there too. */
async function finishSetUp(page: Page): Promise<void> {
  const home = page.getByRole("navigation").getByRole("link", { name: "Home" });
  await home.click();
  const done = async () =>
    (await stepsOf(page).getByRole("listitem").filter({ hasText: "Done" }).allInnerTexts()).map((text) => text.split("\n")[0]);
  await stepsOf(page).waitFor();
  assert.deepEqual(await done(), ["Choose your currency", "Add your first animal, with a photo", "Publish your shop"]);
  await stepsOf(page).getByRole("link", { name: "Name your shop, and add its logo" }).click();
  const logo = { name: "logo.png", mimeType: "image/png", buffer: await picture("teal", { width: 90, height: 90, format: "png" }) };
  await page.getByRole("group", { name: "Logo" }).locator("input[type=file]").setInputFiles(logo);
  await page.getByRole("img", { name: "Your logo as it is now" }).waitFor();
  await home.click();
  await stepsOf(page).getByRole("listitem").filter({ hasText: "add its logo" }).getByText("Done").waitFor();
  assert.equal((await done()).length, 4);
}

/** Adds a passkey, signs out, and signs in with it. */
async function addPasskey(page: Page, devices: CDPSession): Promise<void> {
  await devices.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const;
  await devices.send("WebAuthn.addVirtualAuthenticator", { options });
  await goWithin(page, "/dashboard/account");
  const second = page.getByRole("region", { name: "Second step" });
  await second.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name of the passkey").fill("Laptop");
  await page.getByRole("dialog").getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.waitForURL("**/dashboard**");
}
