import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop, pick } from "./support/dashboard-shop.ts";
import type { InventoryItem, Order } from "./support/models.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const rowOf = (page: Page, id: number) =>
  page.getByRole("row").filter({ has: page.getByRole("cell", { name: String(id), exact: true }).first() });

test("an order is placed of an animal that is found by name, refused in words where stock is short, and fulfilled", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.pet("Ben", await shop.category("Cats"));
  await shop.ask("PUT", `/store/inventory/${petId}`, { quantity: 2 });
  const page = await shop.open("/orders", { timezoneId: "Asia/Tokyo" });
  await page.getByRole("button", { name: "New order" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New order" });
  await dialog.getByRole("button", { name: "Place order" }).click();
  await dialog.getByText("Choose an animal.").waitFor();

  await dialog.getByRole("combobox", { name: "Animal" }).fill("re");
  await page.getByRole("option", { name: /^Rex/ }).click();
  await dialog.getByRole("textbox", { name: "Quantity" }).fill("3");
  await dialog.getByLabel("Ship date").fill("2027-01-31T09:30");
  await dialog.getByRole("button", { name: "Place order" }).click();
  await dialog.getByText(`Pet ${petId} has 2 free units, which is too few.`).waitFor();
  await dialog.getByText("Order fewer, or add stock first.").waitFor();
  assert.deepEqual((await shop.ask("GET", "/store/orders")).body, [], "nothing has changed");

  await shop.ask("PUT", `/store/inventory/${petId}`, { quantity: 3 });
  await dialog.getByRole("button", { name: "Place order" }).click();
  await page.getByRole("cell", { name: "Open" }).waitFor();
  const [order] = (await shop.ask<Order[]>("GET", "/store/orders")).body;
  assert.partialDeepStrictEqual(order, { petId, quantity: 3, shipDate: "2027-01-31T00:30:00Z", complete: false }, "the reader's time zone");
  await rowOf(page, Number(order?.id)).getByRole("link", { name: "Rex" }).waitFor();
  assert.match(await rowOf(page, Number(order?.id)).innerText(), /Rex[\s\S]*31 Jan 2027, 09:30/);

  await choose(page, `Order ${order?.id}`, "Fulfil");
  await page.getByRole("dialog").getByRole("button", { name: "Fulfil" }).click();
  await page.getByRole("cell", { name: "Fulfilled" }).waitFor();
  assert.equal((await shop.ask<Order[]>("GET", "/store/orders")).body[0]?.complete, true);
  await page.getByRole("button", { name: `Actions for Order ${order?.id}` }).click();
  assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["Change"], "what is final offers nothing else");
});

test("cancelling an order asks first, and gives back what it held", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/store/inventory/${petId}`, { quantity: 2 });
  const { id } = (await shop.ask<{ id: number }>("POST", "/store/orders", { petId, quantity: 2 })).body;
  const page = await shop.open("/orders");
  await choose(page, `Order ${id}`, "Cancel order");
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal((await shop.ask<InventoryItem>("GET", `/store/inventory/${petId}`)).body.quantity, 0);
  await choose(page, `Order ${id}`, "Cancel order");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel order" }).click();
  await page.getByText(`Order ${id} is cancelled.`).waitFor();
  assert.equal((await shop.ask<InventoryItem>("GET", `/store/inventory/${petId}`)).body.quantity, 2);
});

test("the quantity and the ship date of an order are changed, with what is wrong at its field", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const shipDate = "2027-01-01T12:00:00Z";
  const { id } = (await shop.ask<{ id: number }>("POST", "/store/orders", { petId, shipDate })).body;
  const page = await shop.open("/orders", { timezoneId: "America/New_York" });
  await choose(page, `Order ${id}`, "Change");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("In your time zone, America/New_York.").waitFor();
  assert.equal(await dialog.getByLabel("Ship date").inputValue(), "2027-01-01T07:00");
  await dialog.getByRole("textbox", { name: "Quantity" }).fill("0");
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await dialog.locator("input[name=quantity][aria-invalid=true]").waitFor();
  await dialog.getByRole("textbox", { name: "Quantity" }).fill("4");
  await dialog.getByLabel("Ship date").fill("");
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await page.getByText(`Order ${id} is saved.`).waitFor();
  assert.deepEqual((await shop.ask("GET", `/store/orders/${id}`)).body, { id, petId, quantity: 4, complete: false });
});

test("orders are filtered by animal and state in the address, which survives a reload", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const [rex, ben] = [await shop.pet("Rex", categoryId), await shop.pet("Ben", categoryId)];
  for (const order of [{ petId: rex }, { petId: rex, complete: true }, { petId: ben, complete: true }])
    await shop.ask("POST", "/store/orders", order);
  const page = await shop.open("/animals");
  await choose(page, "Rex", "Its orders");
  await page.waitForURL(`**/dashboard/orders?petId=${rex}`);
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).nth(1).waitFor();
  await page.getByText("Fulfilled", { exact: true }).first().click();
  await page.waitForURL(`**/dashboard/orders?petId=${rex}&complete=true`);
  await page.reload();
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).waitFor();
  assert.equal(await page.getByRole("table", { name: "Orders" }).getByRole("link").count(), 1);
  assert.match(await page.getByRole("combobox", { name: "Of animal" }).inputValue(), /^Rex/);
});

test("an order is begun from its animal", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open(`/animals?animal=${petId}`);
  await page.getByRole("dialog").getByRole("link", { name: "Order", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New order" });
  await dialog.getByRole("button", { name: "Place order" }).click();
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).waitFor();
});

test("the inventory is filtered, counted in place and marked in words, and an animal is tracked from there", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const [rex, ben] = [await shop.pet("Rex", categoryId), await shop.pet("Ben", categoryId)];
  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 4 });
  const page = await shop.open("/inventory");
  const row = page.getByRole("row").filter({ hasText: "Rex" });
  await row.getByText("Enough").waitFor();
  await row.getByRole("button", { name: "One fewer of Rex" }).click();
  await row.getByText("Low").waitFor();
  await row.getByRole("textbox", { name: "Free units of Rex" }).fill("0");
  await row.getByRole("button", { name: "Set the count of Rex" }).click();
  await row.getByText("None left").waitFor();
  await row.getByText("Sold").waitFor();

  await row.getByRole("textbox", { name: "Free units of Rex" }).fill("many");
  await row.getByRole("button", { name: "Set the count of Rex" }).click();
  await row.getByRole("alert").waitFor();

  await page.getByRole("button", { name: "Track an animal" }).click();
  const dialog = page.getByRole("dialog", { name: "Track an animal" });
  await dialog.getByRole("combobox", { name: "Animal" }).fill("be");
  await page.getByRole("option", { name: /^Ben/ }).click();
  await dialog.getByRole("button", { name: "Begin tracking" }).click();
  await page.getByRole("row").filter({ hasText: "Ben" }).waitFor();
  assert.equal((await shop.ask<InventoryItem>("GET", `/store/inventory/${ben}`)).body.quantity, 1);

  await pick(page, "Status", "Available");
  await page.getByRole("row").filter({ hasText: "Rex" }).waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("row").filter({ hasText: "Ben" }).waitFor();
  await choose(page, "Ben", "Stop tracking");
  await page.getByRole("dialog").getByRole("button", { name: "Stop tracking" }).click();
  await page.getByText("Nothing matches these filters").waitFor();
});

test("a category is made, edited, and kept while it has animals", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  await page.getByText("No categories yet").waitFor();
  await page.getByRole("button", { name: "New category" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Dogs");
  await dialog.getByRole("button", { name: "Create category" }).click();
  await page.getByRole("link", { name: "Dogs" }).waitFor();
  const [category] = (await shop.ask<{ id: number }[]>("GET", "/categories")).body;
  await shop.pet("Rex", Number(category?.id));

  await page.getByRole("button", { name: "New category" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("DOGS");
  await dialog.getByRole("button", { name: "Create category" }).click();
  await dialog.getByText("Upper and lower case count as the same").waitFor();
  await page.keyboard.press("Escape");
  await choose(page, "Dogs", "Edit");
  await dialog.getByRole("textbox", { name: "Description" }).fill("Loyal");
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("cell", { name: "Loyal" }).waitFor();

  await choose(page, "Dogs", "Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("has pets: move or delete them first").waitFor();
  await dialog.getByRole("link", { name: "Show its animals" }).click();
  await page.waitForURL(`**/dashboard/animals?categoryId=${category?.id}`);
  await page.getByRole("link", { name: "Rex" }).waitFor();
});
