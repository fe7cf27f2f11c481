import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { pick } from "./support/dashboard-shop.ts";
import { tokenIn } from "./support/dashboard.ts";
import { assertAccessible, assertAccessibleOnPhone, goWithin, visit } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { freePort } from "./support/ports.ts";
import { startService } from "./support/service.ts";
import { password } from "./support/signed-in.ts";

const port = await freePort();
const origin = `http://localhost:${port}`;
const [browser, service] = await stage(() => startService({ env: { PORT: String(port), PUBLIC_URL: origin } }));

test("an owner goes from the sign-in link to a published shop: password, passkey, animal, photo, project, and visitors see it", async (t) => {
  const { account } = await service.administration["accounts.create"]({ name: "Lin's Pets", plan: "free" });
  const { link } = await service.administration["members.invite"]({ account: account.id, email: "lin@pets.example", role: "owner" });
  const edge = service.publishing.addresses()!.http.port;
  const { page, devtools: devices } = await visit(t, browser, `${origin}/sign-in#token=${tokenIn(link)}`, {}, [
    `photos.petstore.localhost:${edge}`,
  ]);
  await devices.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const;
  await devices.send("WebAuthn.addVirtualAuthenticator", { options });
  await page.getByRole("button", { name: "Sign in with this link" }).click();
  await page.getByRole("textbox", { name: "New password" }).fill(password);
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.waitForURL("**/dashboard**");

  await goWithin(page, "/dashboard/account");
  const second = page.getByRole("region", { name: "Second step" });
  await second.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name of the passkey").fill("Laptop");
  await page.getByRole("dialog").getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.waitForURL("**/dashboard**");

  await goWithin(page, "/dashboard/categories");
  await page.getByRole("button", { name: "New category" }).first().click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Cats");
  await page.getByRole("button", { name: "Create category" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await goWithin(page, "/dashboard/animals");
  await page.getByRole("button", { name: "New animal" }).first().click();
  const part = page.getByRole("main");
  await part.locator("input[type=file]").setInputFiles({ name: "luna.jpg", mimeType: "image/jpeg", buffer: await picture("teal") });
  await part.getByRole("textbox", { name: "Name", exact: true }).fill("Luna");
  await pick(page, "Category", "Cats");
  await part.getByLabel("Description").fill("Purrs all day.");
  await part.getByLabel("Price").fill("49");
  await part.getByRole("button", { name: "Create animal" }).click();
  await page.getByText("“Luna” is in the catalogue.").waitFor();
  await part.getByLabel("Photo 1 in words").fill("Luna on a chair");
  await part.getByLabel("Photo 1 in words").blur();
  await part.getByRole("img", { name: "Luna on a chair" }).waitFor();

  await goWithin(page, "/dashboard/projects");
  await page.getByRole("button", { name: "Create a project" }).click();
  await page.getByLabel("Name").fill("Lin's Pets");
  await page.getByRole("button", { name: "Create the project" }).click();
  await page.getByRole("button", { name: "Publish the shop" }).click();
  await page.getByLabel("Name of the shop").waitFor();
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
});
