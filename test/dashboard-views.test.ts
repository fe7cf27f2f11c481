import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { newMember } from "./support/dashboard.ts";
import { assertAccessible, assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const desktop = { width: 1280, height: 900 };
const phone = { width: 360, height: 800 };
const item = (page: Page, name: string) => page.getByRole("menuitem", { name, exact: true });
const rowNames = (page: Page) => page.getByRole("table").getByRole("link").allInnerTexts();

/** Opens the menu of views, with the keyboard. */
async function openViews(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Views", exact: true }).press("Enter");
  await page.getByRole("menu").waitFor();
}

async function save(page: Page, name: string): Promise<void> {
  await openViews(page);
  await item(page, "Save this view …").click();
  const dialog = page.getByRole("dialog", { name: "Save this view" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
}

test("the filters and the order of the animals are saved under a name, opened by another member's browser, and deleted there", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const [dogs, cats] = [await shop.category("Dogs"), await shop.category("Cats")];
  for (const name of ["Alma", "Bruno"]) await shop.pet(name, dogs);
  await shop.pet("Cleo", cats);
  const page = await shop.open("/animals");
  await page.getByText("3 animals", { exact: true }).waitFor();
  await openViews(page);
  await page.getByText("Filter or sort the list, then save it here.").waitFor();
  assert.ok(await item(page, "Save this view …").isDisabled());
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Views");

  await page.goto(`${service.address}/dashboard/animals?categoryId=${dogs}&sort=-name`);
  await page.getByText("2 animals", { exact: true }).waitFor();
  await save(page, " ");
  const dialog = page.getByRole("dialog", { name: "Save this view" });
  await dialog.locator("input[name=name][aria-invalid=true]").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Name").fill("Dogs from Z to A, the longest name that is allowed");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  const name = "Dogs from Z to A, the longest name that is allowed";
  await page.getByText(`The view “${name}” is saved.`).waitFor();
  await openViews(page);
  assert.equal(await item(page, name).getAttribute("aria-current"), "true");
  assert.ok(await item(page, "Save this view …").isDisabled(), "it is saved already");
  await assertAccessible(page);

  const other = await shop.open("/animals", { role: "member", viewport: phone });
  await other.getByText("3 animals", { exact: true }).waitFor();
  await openViews(other);
  await assertAccessible(other);
  const menu = (await other.getByRole("menu").boundingBox())!;
  assert.ok(menu.x >= 0 && menu.x + menu.width <= phone.width, JSON.stringify(menu));
  await item(other, name).click();
  await other.getByText("2 animals", { exact: true }).waitFor();
  assert.equal(new URL(other.url()).search, `?categoryId=${dogs}&sort=-name`);
  await assertAccessibleOnPhone(other);
  await openViews(other);
  await item(other, `Delete “${name}” …`).click();
  await other.getByRole("dialog").getByRole("button", { name: "Delete the view" }).click();
  await other.getByText(`The view “${name}” is deleted.`).waitFor();
  await other.getByText("2 animals", { exact: true }).waitFor();
  await openViews(other);
  assert.equal(await item(other, name).count(), 0);

  await page.keyboard.press("Escape");
  await page.setViewportSize(desktop);
  await openViews(page);
  assert.equal(await item(page, name).count(), 0, "an open page reads the views again with its menu");
});

test("a view of the orders opens their state and order; a name that is taken, a full list and a failure are said", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const { body: open } = await shop.ask<{ id: number }>("POST", "/store/orders", {});
  const { body: done } = await shop.ask<{ id: number }>("POST", "/store/orders", { complete: true });
  const page = await shop.open("/orders?complete=true");
  await page.getByRole("link", { name: String(done.id), exact: true }).waitFor();
  await save(page, "Fulfilled");
  await page.getByText("The view “Fulfilled” is saved.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: String(open.id), exact: true }).waitFor();
  await page.getByText("Open", { exact: true }).first().click();
  await page.waitForURL("**/orders?complete=false");
  await save(page, "fulfilled");
  const dialog = page.getByRole("dialog", { name: "Save this view" });
  await dialog.getByText("Is the name of another view of this list.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await openViews(page);
  await item(page, "Fulfilled").press("Enter");
  await page.waitForURL("**/orders?complete=true");
  await page.getByRole("link", { name: String(done.id), exact: true }).waitFor();
  assert.ok(!(await rowNames(page)).includes(String(open.id)));

  const owner = await newMember(service, { account: shop.id, email: "views@shop.example", role: "owner" });
  for (let n = 2; n <= 20; n++) {
    const { status } = await owner.ask("POST", "/views/orders", { name: `View ${n}`, query: { petId: n } });
    assert.equal(status, 201);
  }
  await page.goto(`${service.address}/dashboard/orders?sort=id`);
  await openViews(page);
  await page.getByText("20 views are saved, as many as a list may have.").waitFor();
  assert.ok(await item(page, "Save this view …").isDisabled());
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await page.route("**/views/orders", (route) => route.abort());
  await page.getByRole("button", { name: "Views", exact: true }).click();
  await page.getByRole("region", { name: "Notices" }).getByRole("alert").waitFor();
  assert.equal(await page.getByRole("menu").count(), 0);
});
