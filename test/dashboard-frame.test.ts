import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop } from "./support/dashboard-shop.ts";
import { assertAccessibleOnPhone, findings, goWithin, phone } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const boxOf = async (element: Locator) => (await element.boundingBox()) ?? assert.fail("it is not shown");
/** The pages with a main action, and the action. */
const actions = {
  animals: "New animal",
  categories: "New category",
  orders: "New order",
  inventory: "Count an animal",
  keys: "Create a key",
  webhooks: "Add a receiver",
  activity: "Download as CSV",
  account: "Rename the shop",
};

test("the main action is in the same place on every page, once, and every page has its icon in the navigation", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("");
  const places: Record<string, unknown> = {};
  for (const [path, action] of Object.entries(actions)) {
    await goWithin(page, `/dashboard/${path}`);
    const button = page.getByRole("main").getByRole("button", { name: action, exact: true });
    await button.waitFor();
    await page.getByRole("main").locator("p, table").first().waitFor();
    assert.equal(await button.count(), 1, path);
    const wide = await boxOf(button);
    await page.setViewportSize(phone);
    const narrow = await boxOf(button);
    await page.setViewportSize({ width: 1280, height: 900 });
    places[path] = [wide.y, wide.x + wide.width, narrow.y];
  }
  assert.deepEqual(places, Object.fromEntries(Object.keys(actions).map((path) => [path, places["animals"]])));
  const links = page.getByRole("navigation", { name: "Dashboard" }).getByRole("link");
  assert.equal(await links.locator("svg").count(), await links.count());
  assert.ok((await boxOf(page.getByRole("navigation", { name: "Dashboard" }))).width <= 208);
});

test("forms and questions open at the same height, and one button of an animal's page stands out", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open("/animals");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Export" }).click();
  const form = await boxOf(dialog);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await choose(page, "Rex", "Delete");
  assert.equal((await boxOf(dialog)).y, form.y);
  await page.goto(`${service.address}/dashboard/animals?animal=${rex}`);
  await page.waitForURL(`**/dashboard/animals/${rex}`);
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  assert.equal(await page.getByRole("main").locator("button[data-variant=filled]").count(), 1);
});

test("a new animal's form creates the category whose name was typed", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  await shop.category("Cats");
  const page = await shop.open("/animals/new");
  const dialog = page.getByRole("main");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Rex");
  const category = dialog.getByRole("combobox", { name: "Category" });
  await category.fill("cats");
  await page.getByRole("option", { name: "Cats", exact: true }).waitFor();
  assert.equal(await page.getByRole("option").count(), 1, "what exists is not created again");
  await category.fill("Dogs");
  await page.getByRole("option", { name: "Create category “Dogs”" }).click();
  await dialog.locator("input[value=Dogs]").waitFor();
  assert.deepEqual(await findings(page), []);
  await dialog.getByRole("button", { name: "Create animal" }).click();
  await page.getByText("“Rex” is in the catalogue.").waitFor();
  const { body } = await shop.ask<{ name: string }[]>("GET", "/categories");
  assert.deepEqual(
    body.map(({ name }) => name),
    ["Cats", "Dogs"],
  );
});

test("the palette says that it searches, finds error codes and opens the guide at the line of one, and changes the colours", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  const palette = page.getByRole("dialog", { name: "Search and go to" });
  const search = async (text: string) => {
    await page.keyboard.press("Control+k");
    await palette.getByRole("textbox").fill(text);
  };
  const answer = Promise.withResolvers<void>();
  await page.route("**/dashboard/v1/pets?*", async (route) => {
    await answer.promise;
    await route.continue();
  });
  await search("zzzz");
  await palette.getByText("Searching …").waitFor();
  assert.equal(await palette.getByText("Nothing matches").count(), 0);
  answer.resolve();
  await palette.getByText("Nothing matches").waitFor();
  await page.keyboard.press("Escape");

  await search("dark mode");
  await palette.getByRole("button", { name: "Switch to dark mode" }).click();
  await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
  await search("theme");
  await palette.getByRole("button", { name: "Use the colours of this device" }).click();
  await page.locator("html[data-mantine-color-scheme=light]").waitFor();

  await search("insufficient stock");
  await palette.getByRole("button", { name: "insufficient_stock" }).click();
  await page.waitForURL("**/reference/guides/errors#insufficient_stock");
  await page.locator("tr#insufficient_stock:focus").waitFor();
});

test("text typed before the palette's code has loaded is in the palette, which has the focus", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  const code = Promise.withResolvers<void>();
  await page.route("**/assets/palette-*.js", async (route) => {
    await code.promise;
    await route.continue();
  });
  await page.reload();
  await page.locator(".early-text").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("dark ");
  code.resolve();
  await page.locator("[role=dialog] input:focus").waitFor();
  await page.keyboard.type("mode");
  const palette = page.getByRole("dialog", { name: "Search and go to" });
  assert.equal(await palette.getByRole("textbox").inputValue(), "dark mode");
  await palette.locator("[data-selected=true]", { hasText: "Switch to dark mode" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
});

test("Enter chooses the selected entry also before the palette has taken the focus", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  await page.evaluate(`{
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (run, ...more) => (more.length === 0 ? 0 : setTimeout(run, ...more)); // the palette's timer to take the focus
  }`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("orders");
  await page.getByRole("dialog").locator("[data-selected=true]", { hasText: "Orders" }).waitFor();
  assert.equal(await page.locator("[role=dialog] input:focus").count(), 0);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard/orders");
});

test("if the palette cannot load, the page stays as it is, and the palette opens once it can", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  const code = "**/assets/palette-*.js";
  const failures = { left: 5, ended: Promise.withResolvers<void>() };
  await page.route(code, async (route) => {
    await route.abort();
    if (--failures.left === 0) failures.ended.resolve();
  });
  const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("/assets/palette-"));
  await page.reload();
  await failed;
  await page.getByRole("heading", { level: 1, name: "Categories" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("categ");
  await failures.ended.promise; // more than one try and what repeats it
  await page.unroute(code);
  const palette = page.getByRole("dialog", { name: "Search and go to" });
  await palette.getByText("Categories").first().waitFor();
  assert.equal(await palette.getByRole("textbox").inputValue(), "categ");
});

test("`?` shows the keyboard shortcuts, but not while somebody types or has a dialog open; axe finds nothing, and it fits a phone", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/activity");
  const shortcuts = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await page.getByLabel("Request id").click();
  await page.keyboard.type("?");
  assert.equal(await page.getByLabel("Request id").inputValue(), "?");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Shift+?");
  await shortcuts.getByText("Search and go to a page").waitFor();
  await assertAccessibleOnPhone(page);
  await page.keyboard.press("Escape");
  await shortcuts.waitFor({ state: "detached" });

  await page.keyboard.press("/");
  await page.getByRole("dialog", { name: "Search and go to" }).getByRole("textbox").waitFor();
  await page.keyboard.press("?");
  assert.equal(await shortcuts.count(), 0);
  assert.equal(await page.getByRole("dialog").count(), 1);
});

test("the member's address is broken before its sign, not within a word", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("", { email: "storekeeper@bramble.example" });
  const tops = await page.evaluate<number[]>(`(() => {
    const walker = document.createTreeWalker(document.querySelector("nav[aria-label=Dashboard], aside"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data;
      if (!text.startsWith("@bramble")) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      return [...range.getClientRects()].map(({ top }) => top);
    }
    return [];
  })()`);
  assert.equal(new Set(tops).size, 1);
});
