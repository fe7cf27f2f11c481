import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop } from "./support/dashboard-shop.ts";
import type { InventoryItem, Order } from "./support/models.ts";
import { assertAccessible } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const rowOf = (page: Page, id: number) =>
  page.getByRole("row").filter({ has: page.getByRole("cell", { name: String(id), exact: true }).first() });

test("an order is placed for an animal found by name, refused in plain words when stock is short, and fulfilled", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.pet("Ben", await shop.category("Cats"));
  await shop.ask("PUT", `/store/inventory/${petId}`, { quantity: 2 });
  const page = await shop.open("/orders", { timezoneId: "Asia/Tokyo", viewport: { width: 1600, height: 900 } });
  await page.getByRole("button", { name: "New order" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New order" });
  await dialog.getByRole("button", { name: "Place order" }).click();
  await dialog.getByText("Choose an animal.").waitFor();

  await dialog.getByRole("combobox", { name: "Animal" }).fill("re");
  await page.getByRole("option", { name: /^Rex/ }).click();
  await dialog.getByRole("textbox", { name: "Quantity" }).fill("3");
  await dialog.getByLabel("Ship date").fill("2027-01-31T09:30");
  await dialog.getByRole("button", { name: "Place order" }).click();
  await dialog.getByText("There are too few free units.").waitFor();
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

test("cancelling an order asks first, and returns its units to stock", async (t) => {
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

test("an order's quantity and ship date can be changed, with errors at their fields", async (t) => {
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

test("the address holds the order filters, which survive a reload", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const [rex, ben] = [await shop.pet("Rex", categoryId), await shop.pet("Ben", categoryId)];
  for (const order of [{ petId: rex }, { petId: rex, complete: true }, { petId: ben, complete: true }])
    await shop.ask("POST", "/store/orders", order);
  const page = await shop.open("/animals");
  await choose(page, "Rex", "Show its orders");
  await page.waitForURL(`**/dashboard/orders?petId=${rex}`);
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).nth(1).waitFor();
  await page.getByText("Fulfilled", { exact: true }).first().click();
  await page.waitForURL(`**/dashboard/orders?petId=${rex}&complete=true`);
  await page.reload();
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).waitFor();
  assert.equal(await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).count(), 1);
  assert.match(await page.getByRole("combobox", { name: "Animal" }).inputValue(), /^Rex/);
});

test("an order has a page with its history and actions, which follows what others do", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const { id } = (await shop.ask<{ id: number }>("POST", "/store/orders", { petId, quantity: 2 })).body;
  const page = await shop.open("/orders");
  await page.getByRole("cell", { name: "2", exact: true }).click();
  await page.waitForURL(`**/dashboard/orders/${id}`);
  await page.getByRole("heading", { name: `Order ${id}`, level: 1 }).waitFor();
  const history = page.getByRole("list", { name: "History" });
  await history.getByText("Placed").waitFor();
  await page.getByRole("definition").getByRole("link", { name: "Rex" }).waitFor();

  await page.getByRole("button", { name: "Change" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Quantity" }).fill("3");
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await history.getByText("Quantity: 2 → 3").waitFor();
  assert.match(await history.getByRole("listitem").first().innerText(), /Changed by \S+@\S+/);

  // without what reads the order again now and then, in case the stream is lost
  await page.addInitScript("globalThis.setInterval = () => 0");
  const opened = page.waitForResponse((response) => response.url().includes("/events/stream"));
  const shown = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  await page.route(
    "**/history",
    async (route) => {
      const response = await route.fetch();
      read.resolve();
      await shown.promise;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await page.reload();
  await Promise.all([opened, read.promise]);
  await page.getByRole("definition").getByText("3", { exact: true }).waitFor();
  await shop.ask("PATCH", `/store/orders/${id}`, { quantity: 7 });
  await page.getByRole("definition").getByText("7", { exact: true }).waitFor();
  shown.resolve(); // with the history as it was before the change
  await history.getByText("Quantity: 3 → 7").waitFor();

  await page.getByRole("button", { name: "Cancel order" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel order" }).click();
  await history.getByText("Cancelled").waitFor();
  await page.getByRole("definition").getByText("Cancelled").waitFor();
  assert.equal(await page.getByRole("button", { name: "Fulfil" }).count(), 0, "nothing can be done with what is gone");
  assert.equal((await shop.ask("GET", `/store/orders/${id}`)).status, 404);
});

test("an order is fulfilled on its page, and a number that no order has is refused in plain words", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const { id } = (await shop.ask<{ id: number }>("POST", "/store/orders", { petId })).body;
  const page = await shop.open(`/orders/${id}`);
  await page.getByRole("button", { name: "Fulfil" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Fulfil" }).click();
  await page.getByRole("list", { name: "History" }).getByText("Fulfilled").waitFor();
  assert.equal(await page.getByRole("button", { name: "Cancel order" }).count(), 0, "it is final");
  await page.goto(new URL("/dashboard/orders/987654", page.url()).href);
  await page.getByText("This does not exist.").first().waitFor();
});

test("orders are sorted by their header, open ones first, and found by their number", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const ids: number[] = [];
  for (const complete of [false, true, false])
    ids.push((await shop.ask<{ id: number }>("POST", "/store/orders", { petId, complete })).body.id);
  const page = await shop.open("/orders");
  const numbers = page.getByRole("table", { name: "Orders" }).getByRole("link", { name: /^\d+$/ });
  const shown = async () => (await numbers.allInnerTexts()).map(Number);
  await page.getByRole("cell", { name: "Fulfilled" }).waitFor();
  assert.deepEqual(await shown(), [ids[2], ids[0], ids[1]]);
  await page.getByRole("columnheader", { name: "Order" }).getByRole("button").click();
  await page.waitForURL("**/dashboard/orders?sort=id");
  await page.getByRole("cell", { name: "Fulfilled" }).waitFor();
  assert.deepEqual(await shown(), [ids[0], ids[2], ids[1]]);
  const number = page.getByRole("textbox", { name: "Order number" });
  await number.fill("Rex");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Write a number such as 12.").waitFor();
  assert.equal(await number.getAttribute("aria-invalid"), "true");
  await assertAccessible(page);
  await number.fill(`#${ids[1]}`);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Order ${ids[1]}`, level: 1 }).waitFor();
});

test("an order can be started from its animal", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open(`/animals/${petId}`);
  await page.getByRole("main").getByRole("link", { name: "New order", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New order" });
  await dialog.getByRole("button", { name: "Place order" }).click();
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "Rex" }).waitFor();
});

test("a category is created and edited, and cannot be deleted while it has animals", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  await page.getByText("No categories yet").waitFor();
  await page.getByRole("button", { name: "New category" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Dogs");
  await dialog.getByRole("button", { name: "Create category" }).click();
  await page.getByRole("link", { name: "Dogs" }).waitFor();
  const [category] = (await shop.ask<{ id: number }[]>("GET", "/categories")).body;

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
  await dialog.getByText("This cannot be undone.").waitFor();
  await shop.pet("Rex", Number(category?.id));
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("This category still has animals.").waitFor();
  await dialog.getByRole("link", { name: "Show its animals" }).click();
  await page.waitForURL(`**/dashboard/animals?categoryId=${category?.id}`);
  await page.getByRole("link", { name: "Rex" }).waitFor();
});
