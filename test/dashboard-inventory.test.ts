import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop, pick } from "./support/dashboard-shop.ts";
import type { InventoryItem, Pet } from "./support/models.ts";
import { goWithin, assertAccessible, assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(startService);

test("the inventory page filters, sets counts in place, marks low stock in words, and starts tracking an animal", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const [rex, ben] = [await shop.pet("Rex", categoryId), await shop.pet("Ben", categoryId)];
  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 4 });
  const page = await shop.open("/inventory");
  const row = page.getByRole("row").filter({ hasText: "Rex" });
  await row.getByText("Enough").waitFor();
  await row.getByRole("button", { name: "One fewer of Rex" }).click();
  await row.getByText("Low").waitFor();
  await page.getByRole("button", { name: "Low stock: 3 or fewer" }).click();
  const mark = page.getByRole("dialog", { name: "When stock is low" });
  await mark.getByRole("textbox", { name: "Units" }).fill("few");
  await mark.getByRole("button", { name: "Save" }).click();
  await mark.locator("input[name=lowStock][aria-invalid=true]").waitFor();
  await assertAccessible(page);
  await mark.getByRole("textbox", { name: "Units" }).fill("2");
  await mark.getByRole("button", { name: "Save" }).click();
  await row.getByText("Enough").waitFor();
  await page.getByRole("button", { name: "Low stock: 2 or fewer" }).waitFor();
  await row.getByRole("textbox", { name: "Free units of Rex" }).fill("0");
  await row.getByRole("button", { name: "Set the count of Rex" }).click();
  await row.getByText("None left").waitFor();
  await row.getByText("Sold").waitFor();

  await row.getByRole("textbox", { name: "Free units of Rex" }).fill("many");
  await row.getByRole("button", { name: "Set the count of Rex" }).click();
  await row.getByRole("alert").waitFor();

  await page.getByRole("button", { name: "Count an animal" }).click();
  const dialog = page.getByRole("dialog", { name: "Count an animal" });
  await dialog.getByRole("combobox", { name: "Animal" }).fill("be");
  await page.getByRole("option", { name: /^Ben/ }).click();
  await dialog.getByRole("button", { name: "Start counting" }).click();
  await page.getByRole("row").filter({ hasText: "Ben" }).waitFor();
  assert.equal((await shop.ask<InventoryItem>("GET", `/store/inventory/${ben}`)).body.quantity, 1);

  await pick(page, "Status", "Available");
  await page.getByRole("row").filter({ hasText: "Rex" }).waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("row").filter({ hasText: "Ben" }).waitFor();
  await choose(page, "Ben", "Stop counting");
  await page.getByRole("dialog").getByRole("button", { name: "Stop counting" }).click();
  await page.getByText("Nothing matches these filters").waitFor();
});

test("the home page leads to all low stock and nothing else, where counts change and animals leave the list", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  for (const [name, ...counts] of [
    ["Rex", 4, 3],
    ["Ben", 4],
    ["Max", 4, 0],
    ["Ada", 4, 1],
    ["Tom", 1],
  ] as const) {
    const petId = await shop.pet(name, categoryId);
    for (const quantity of counts) await shop.ask("PUT", `/store/inventory/${petId}`, { quantity });
  }
  const page = await shop.open("");
  await page.getByRole("link", { name: "All low stock" }).click();
  const link = (name: string) => page.getByRole("table", { name: "Inventory" }).getByRole("link", { name });
  const names = () => page.getByRole("table", { name: "Inventory" }).getByRole("link").allInnerTexts();
  await link("Max").waitFor();
  assert.deepEqual(await names(), ["Max", "Ada", "Rex"]);
  const row = page.getByRole("row").filter({ hasText: "Rex" });
  await row.getByRole("textbox", { name: "Free units of Rex" }).fill("9");
  await row.getByRole("button", { name: "Set the count of Rex" }).click();
  await row.getByText("Enough").waitFor();
  await choose(page, "Ada", "Stop counting");
  await page.getByRole("dialog").getByRole("button", { name: "Stop counting" }).click();
  await page.getByRole("row").filter({ hasText: "Ada" }).waitFor({ state: "detached" });
  await page.reload();
  await link("Max").waitFor();
  assert.deepEqual(await names(), ["Max"]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await link("Ben").waitFor();
  assert.deepEqual(await names(), ["Rex", "Ben", "Max", "Tom"]);
  await page.getByRole("row").filter({ hasText: "Tom" }).getByText("Enough").waitFor();
  await pick(page, "Stock level", "Low stock");
  await link("Ben").waitFor({ state: "detached" });
  await pick(page, "Status", "Available");
  await link("Ben").waitFor();
  assert.equal(new URL(page.url()).search, "?status=available");
  await page.goBack();
  await link("Ben").waitFor({ state: "detached" });
  await assertAccessibleOnPhone(page);
});

test("text that is typed before the stock has loaded stays when it has, and when counting starts", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open("/animals");
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  t.after(() => release());
  await page.route(/store\/inventory\?.*petId/, async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("link", { name: "Rex" }).click();
  const panel = page.getByRole("main");
  const name = panel.getByRole("textbox", { name: "Name" });
  await name.fill("Rexona");
  await panel.getByText("Pending", { exact: true }).click();
  release();
  await panel.getByRole("textbox", { name: "Free units" }).fill("2");
  assert.equal(await name.inputValue(), "Rexona");
  await panel.getByRole("button", { name: "Start counting" }).click();
  await panel.getByText("Its stock is counted").waitFor();
  assert.equal(await name.inputValue(), "Rexona");
  await panel.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("“Rexona” is saved.").waitFor();
  assert.partialDeepStrictEqual((await shop.ask<Pet[]>("GET", "/pets")).body, [{ name: "Rexona", status: "available" }]);
  await panel.getByRole("button", { name: "Stop counting" }).click();
  await page.getByRole("dialog", { name: "Stop counting “Rexona”?" }).getByRole("button", { name: "Stop counting" }).click();
  await panel.getByText("Pending", { exact: true }).click();
  await panel.getByRole("button", { name: "Save", exact: true }).click();
  await until(async () => (await shop.ask<Pet>("GET", `/pets/${petId}`)).body.status === "pending");
});

test("a shop turns low stock off: none is called low, and Home lists none", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  for (const quantity of [9, 1]) await shop.ask("PUT", `/store/inventory/${rex}`, { quantity });
  const page = await shop.open("/inventory");
  await page.getByRole("row").filter({ hasText: "Rex" }).getByText("Low").waitFor();
  await page.getByRole("button", { name: "Low stock: 3 or fewer" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Units" }).fill("0");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Low stock: off" }).waitFor();
  await page.getByRole("row").filter({ hasText: "Rex" }).getByText("Enough").waitFor();
  await goWithin(page, "/dashboard");
  await page.getByRole("heading", { name: "Open orders" }).waitFor();
  assert.equal(await page.getByRole("region", { name: "Low stock" }).count(), 0);
});
