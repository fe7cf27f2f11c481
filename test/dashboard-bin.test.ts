import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop, pick } from "./support/dashboard-shop.ts";
import type { Pet } from "./support/models.ts";
import { assertAccessibleOnPhone, goWithin } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { upload } from "./support/profiles.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

test("a deleted animal can be brought back by the notice, and later from the bin with its photo and stock", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 2 });
  const { body: photo } = await upload(service, rex, await picture("red", { width: 60, height: 40 }), {}, shop.key);
  const page = await shop.open("/animals", { hosts: [new URL(photo.url).host] });
  const remove = async () => {
    await choose(page, "Rex", "Delete");
    await page.getByRole("dialog").getByText("It goes to the bin, from where you can restore it for 30 days.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("“Rex” is in the bin.").last().waitFor();
    await page.getByText("No animals yet").waitFor();
  };
  await remove();
  assert.equal((await shop.ask("GET", `/pets/${rex}`)).status, 404);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("“Rex” is back.").waitFor();
  await page.getByRole("link", { name: "Rex", exact: true }).waitFor();

  await remove();
  await page.getByRole("link", { name: "Bin" }).click();
  await page.getByRole("heading", { level: 1, name: "Bin" }).waitFor();
  const loaded = rowOf(page, "Rex").locator("img");
  await loaded.waitFor();
  await page.waitForFunction(`document.querySelector("td img")?.naturalWidth === 60`);
  const [deleted = "", gone = "", ...others] = await rowOf(page, "Rex").locator("time").allInnerTexts();
  assert.match(deleted, /^(now|\d+ minutes? ago)$/);
  assert.match(gone, /\d{4}/, "when it goes for good is a date");
  assert.deepEqual(others, []);
  await assertAccessibleOnPhone(page);
  await page.getByRole("button", { name: "Restore Rex" }).click();
  await page.getByText("“Rex” is back.").last().waitFor();
  await page.getByText("The bin is empty").waitFor();
  await assertAccessibleOnPhone(page, "an empty bin");
  const { body } = await shop.ask<{ quantity: number }>("GET", `/store/inventory/${rex}`);
  assert.equal(body.quantity, 2);
  await page.getByRole("link", { name: "All animals" }).click();
  await page.getByRole("link", { name: "Rex", exact: true }).waitFor();
});

test("an animal whose category is gone returns into another one", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const [dogs] = [await shop.category("Dogs"), await shop.category("Cats")];
  const rex = await shop.pet("Rex", dogs);
  await shop.bin(rex);
  await shop.ask("DELETE", `/categories/${dogs}`);
  const page = await shop.open("/animals/bin");
  await page.getByRole("button", { name: "Restore Rex" }).click();
  const dialog = page.getByRole("dialog", { name: "Choose a category" });
  await dialog.getByText("Its category has been deleted.").waitFor();
  await assertAccessibleOnPhone(page);
  await pick(page, "Category", "Cats");
  await dialog.getByRole("button", { name: "Restore" }).click();
  await page.getByText("“Rex” is back.").waitFor();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await shop.ask<Pet>("GET", `/pets/${rex}`)).status, 200);
});

test("chosen animals are deleted for good or restored together, and the whole bin is emptied, also what is not shown yet", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const many = Array.from({ length: 120 }, (_, index) => ({ name: `Dog ${index}`, categoryId: dogs }));
  const { body: pets } = await shop.ask<Pet[]>("POST", "/pets/batch", many);
  await shop.bin(...pets.map(({ id }) => id));
  const page = await shop.open("/animals/bin");
  const bar = page.getByRole("region", { name: "Chosen animals" });
  const pickTwo = async (first: string, second: string) => {
    for (const name of [first, second]) await page.getByRole("checkbox", { name: `Choose ${name}`, exact: true }).check();
    await bar.getByText("2 animals chosen").waitFor();
  };
  await pickTwo("Dog 119", "Dog 118");
  await bar.getByRole("button", { name: "Restore" }).click();
  await page.getByText("2 animals are back.").waitFor();
  await pickTwo("Dog 117", "Dog 116");
  await bar.getByRole("button", { name: "Delete for good" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This cannot be undone.").waitFor();
  await dialog.getByRole("button", { name: "Delete for good" }).click();
  await page.getByText("2 animals are deleted for good.").waitFor();
  await rowOf(page, "Dog 117").waitFor({ state: "detached" });

  await goWithin(page, "/dashboard/animals");
  await page.getByText("2 animals", { exact: true }).waitFor();
  await goWithin(page, "/dashboard/animals/bin");
  await page.getByRole("button", { name: "Load more" }).waitFor();
  await page.getByRole("button", { name: "Empty the bin" }).click();
  await dialog.getByRole("button", { name: "Empty the bin" }).click();
  await page.getByText("Animals that you delete come here first").waitFor();
  const { records } = (await shop.ask<{ records: { used: number } }>("GET", "/account")).body;
  assert.equal(records.used, 3, "a category and two animals");
});
