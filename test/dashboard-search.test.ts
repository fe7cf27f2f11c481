import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop, pick } from "./support/dashboard-shop.ts";
import { assertAccessible, assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(startService);

const names = (page: Page) => page.getByRole("table", { name: "Animals" }).getByRole("link").allInnerTexts();

test("the palette opens the form of a new animal by keyboard alone", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  await shop.category("Dogs");
  const page = await shop.open("/orders");
  await page.keyboard.press("Control+k");
  await page.locator("[role=dialog] input:focus").waitFor();
  await page.keyboard.type("new animal");
  await page.getByRole("dialog").locator("[data-selected=true]", { hasText: "New animal" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard/animals/new");
  await page.getByRole("heading", { level: 1, name: "New animal" }).waitFor();
  await page.locator("input[name=name]:focus").waitFor();
});

test("the palette finds animals by a word of the name, and orders by number", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const pet = await shop.pet("Tiny Rex", await shop.category("Dogs"));
  const { body: order } = await shop.ask<{ id: number }>("POST", "/store/orders", { petId: pet, quantity: 1 });
  const page = await shop.open("/categories");
  const search = async (text: string, option: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("textbox").fill(text);
    await page.getByRole("dialog").getByRole("button", { name: option }).click();
  };
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("rex");
  await page.getByRole("dialog").getByRole("button", { name: "Tiny Rex" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("dialog").getByRole("textbox").fill("order 987654321"); // a short number may begin the status of an error code
  await page.getByRole("dialog").getByText("Nothing matches").waitFor();
  await page.keyboard.press("Escape");
  await search("rex", "Tiny Rex");
  await page.getByRole("heading", { level: 1, name: "Tiny Rex" }).waitFor();
  await search(`order ${order.id}`, `Order ${order.id} Open`);
  await page.getByRole("heading", { level: 1, name: `Order ${order.id}` }).waitFor();
  await search("iny", "Find “iny” inside words too");
  await page.getByRole("list", { name: "Names with “iny” inside a word" }).getByRole("link", { name: "Tiny Rex" }).waitFor();
});

test("a search finds animals by a part of a word too, when it is asked to", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  for (const name of ["Charlie", "Rex"]) await shop.pet(name, dogs);
  await shop.pet("Marlies", await shop.category("Cats"), { status: "sold" });
  const page = await shop.open("/animals");
  await page.getByRole("searchbox", { name: "Search by name" }).fill("arlie");
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByRole("button", { name: "Find “arlie” inside words too" }).click();
  const found = page.getByRole("list", { name: "Names with “arlie” inside a word" });
  await found.getByRole("link", { name: "Charlie" }).waitFor();
  await found.getByRole("link", { name: "Marlies" }).waitFor();
  await page.getByText("All are searched: 3 animals.").waitFor();
  await pick(page, "Status", "Available");
  await found.getByRole("link", { name: "Marlies" }).waitFor({ state: "detached" });
  await assertAccessibleOnPhone(page);
  await found.getByRole("link", { name: "Charlie" }).click();
  await page.getByRole("heading", { level: 1, name: "Charlie" }).waitFor();
});

test("the search of the list finds an animal by its number, once, together with the other filters", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const rex = await shop.pet("Rex", dogs);
  await shop.pet(`${rex} Spots`, dogs);
  const page = await shop.open("/animals");
  const find = (text: string) => page.getByRole("searchbox", { name: "Search by name" }).fill(text);
  const requireFound = (...expected: string[]) => until(async () => (await names(page)).join() === expected.join());
  await find(String(rex));
  await page.getByText("2 animals", { exact: true }).waitFor();
  await requireFound("Rex", `${rex} Spots`);
  await find(`#${rex}`);
  await page.getByText("1 animal", { exact: true }).waitFor();
  await requireFound("Rex");
  await pick(page, "Status", "Sold");
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await shop.ask("PATCH", `/pets/${rex}`, { name: `Rex ${rex}` });
  await page.reload();
  await find(String(rex));
  await page.getByRole("link", { name: `Rex ${rex}` }).waitFor();
  await page.getByText("2 animals", { exact: true }).waitFor();
});
