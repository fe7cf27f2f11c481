import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop } from "./support/dashboard-shop.ts";
import { goWithin } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

/** Waits until an element has the focus. */
const focused = (page: Page, element: Locator) => element.and(page.locator(":focus")).waitFor();

async function leave(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

test("a closing dialog returns the focus to the button, menu or link that opened it", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open("/animals");
  const dialog = page.getByRole("dialog");

  await page.getByRole("button", { name: "Export" }).click();
  await dialog.waitFor();
  await leave(page);
  await focused(page, page.getByRole("button", { name: "Export" }));

  await choose(page, "Rex", "Delete");
  await focused(page, dialog.getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await focused(page, page.getByRole("button", { name: "Actions for Rex" }));
});

test("the focus of a dialog begins in what it asks, never at the button that closes it", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  await shop.pet("Rex", dogs);
  const page = await shop.open("/animals?export=true");
  const open = ["categories?new=true", `categories?category=${dogs}`, "orders?new=true", "keys?create=true", "account?invite=true"];
  const close = async () => {
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  const within = page.getByRole("dialog").locator(":focus:not([aria-label=Close])");
  await within.waitFor();
  for (const path of open) {
    await close();
    await goWithin(page, "/dashboard/usage");
    await goWithin(page, `/dashboard/${path}`);
    await within.waitFor();
  }
  await close();
  await goWithin(page, "/dashboard/inventory");
  await page.getByRole("button", { name: "Count an animal" }).click();
  await within.waitFor();
});

test("a category with animals cannot be deleted: its dialog leads to them", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  await shop.pet("Rex", dogs);
  const page = await shop.open("/categories");
  await page.getByRole("cell", { name: "1", exact: true }).first().waitFor();
  await choose(page, "Dogs", "Delete");
  const dialog = page.getByRole("dialog", { name: "“Dogs” has animals" });
  await dialog.getByText("In this category: 1 animal.").waitFor();
  await focused(page, dialog.getByRole("link", { name: "Show its animals" }));
  assert.equal(await dialog.getByRole("button", { name: "Delete" }).count(), 0);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/animals?categoryId=${dogs}`);
});

test("if the opener is gone with its row, the focus moves to the next row, and to the page's content after the last", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  for (const name of ["Rex", "Luna"]) await shop.pet(name, categoryId);
  const page = await shop.open("/animals");
  await choose(page, "Rex", "Delete");
  await page.getByRole("dialog", { name: "Delete “Rex”?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").first().waitFor({ state: "detached" });
  await focused(page, page.getByRole("button", { name: "Actions for Luna" }));
  await choose(page, "Luna", "Delete");
  await page.getByRole("dialog", { name: "Delete “Luna”?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("No animals yet").waitFor();
  await focused(page, page.getByRole("main"));
});

test("the focus stays in a list of the bin as its animals return, and leaves a notice that goes", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  for (const name of ["Rex", "Luna", "Max"]) await shop.pet(name, dogs);
  const page = await shop.open("/animals");
  for (const name of ["Rex", "Luna", "Max"]) {
    await choose(page, name, "Delete");
    await page
      .getByRole("dialog", { name: `Delete “${name}”?` })
      .getByRole("button", { name: "Delete" })
      .click();
    await page.getByRole("row").filter({ hasText: name }).waitFor({ state: "detached" });
  }
  await goWithin(page, "/dashboard/animals/bin");
  const restore = (name: string) => page.getByRole("row").filter({ hasText: name }).getByRole("button").first();
  await restore("Luna").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("row").filter({ hasText: "Luna" }).waitFor({ state: "detached" });
  await focused(page, page.getByRole("row").filter({ hasText: "Rex" }).getByRole("button").first());
  await page.keyboard.press("Enter");
  await page.getByRole("row").filter({ hasText: "Rex" }).waitFor({ state: "detached" });
  await focused(page, restore("Max"));
  const dismiss = page.getByRole("button", { name: "Dismiss" }).first();
  await dismiss.focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement === document.body"), false);
});

test("a pending search does not lead back from an animal, and clearing the filters moves the focus to the first one", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  for (const name of ["Rex", "Luna"]) await shop.pet(name, categoryId);
  const page = await shop.open("/animals");
  const search = page.getByRole("searchbox", { name: "Search by name" });
  await page.clock.install();
  await search.fill("re");
  await page.getByRole("link", { name: "Rex" }).click();
  await page.getByRole("heading", { level: 1, name: "Rex" }).waitFor();
  await page.clock.fastForward(1_000);
  await page.getByRole("link", { name: "All animals" }).click();
  await search.fill("re");
  await page.getByRole("link", { name: "Luna" }).waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Clear filters" }).click();
  await focused(page, search);
  await page.getByRole("link", { name: "Luna" }).waitFor();
});

test("a control that is disabled while its call runs gets the focus back, and one that is gone leaves it to the page's content", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/animals/new");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Rex");
  const category = page.getByRole("combobox", { name: "Category", exact: true });
  await category.focus();
  await page.keyboard.type("Cats");
  await page.getByRole("option", { name: "Create category “Cats”" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText("Category “Cats” is created.").waitFor();
  await focused(page, category);

  await page.getByRole("button", { name: "Create" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Rex" }).waitFor();
  await focused(page, page.getByRole("main"));
});

test("the list of shortcuts returns the focus to the control that had it", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/animals");
  const before = page.getByRole("button", { name: "Export" });
  await before.focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await leave(page);
  await focused(page, before);
});

test("no bar at the lower edge of the window covers the control that has the focus", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const rex = await shop.pet("Rex", dogs);
  for (const n of Array(20).keys()) await shop.pet(`Dog ${n}`, dogs);
  const page = await shop.open(`/animals/${rex}`, { viewport: { width: 1280, height: 800 } });
  await page.getByRole("textbox", { name: "Name", exact: true }).focus();
  await assertUncovered(page, page.getByRole("button", { name: "Add another fact" }));

  await goWithin(page, "/dashboard/animals");
  await page.getByRole("checkbox", { name: "Choose Rex" }).focus();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Price", exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Choose Dog 0" }).focus();
  await assertUncovered(page, page.getByRole("button", { name: "Price", exact: true }));
});

/** Presses Tab up to a control, and checks that no other element lies above a control on the way. */
async function assertUncovered(page: Page, last: Locator): Promise<void> {
  for (let stops = 0; stops < 200; stops++) {
    if ((await last.and(page.locator(":focus")).count()) > 0) return;
    assert.equal(await page.evaluate(coveredBy), null);
    await page.keyboard.press("Tab");
  }
  assert.fail("200 stops did not reach the last control");
}

/** The text of what lies above the centre of the control that has the focus, or null. */
const coveredBy = `(() => {
  const control = document.activeElement;
  const { x, y, width, height } = control.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  const isIts = top !== null && (control.contains(top) || top.contains(control) || control.parentElement.contains(top));
  return isIts ? null : control.textContent + ": " + (top?.textContent ?? "outside the window");
})()`;
