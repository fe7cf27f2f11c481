import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop } from "./support/dashboard-shop.ts";
import type { InventoryItem, Order } from "./support/models.ts";
import { assertAccessibleOnPhone, goWithin } from "./support/pages.ts";
import { ann, openForm, postForm } from "./support/reservations.ts";
import { startService } from "./support/service.ts";
import { openStorefront, visitSite } from "./support/storefront.ts";

let now = Date.now();
const [browser, service] = await stage(() => startService({ clock: () => now }));

const rowOf = (page: Page, kind: string) => page.getByRole("row").filter({ hasText: kind });

test("a shop accepts, changes and refuses what visitors of its storefront sent", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const [rex, luna] = [await shop.pet("Rex", dogs), await shop.pet("Luna", dogs)];
  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 1 });
  const { url } = await openStorefront(service, "rex-and-co", { reservations: { enabled: true } }, { key: shop.key });
  const page = await shop.open("/reservations");
  const assertFits = async (message: string) => {
    await assertAccessibleOnPhone(page, message);
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  await page.getByText("No reservations yet").waitFor();
  await assertFits("no reservations");

  const links: string[] = [];
  for (const petId of [rex, luna]) {
    const hidden = await openForm(url, petId);
    now += 5_000; // as long as a person takes
    const { status, headers } = await postForm(url, `/animals/${petId}/reserve`, { ...hidden, ...ann });
    assert.equal(status, 303);
    links.push(String(headers["location"]));
  }
  await page.reload();
  const [reservation, enquiry] = [rowOf(page, "Order "), rowOf(page, "Enquiry")];
  await reservation.getByRole("link", { name: "ann@example.com" }).waitFor();
  await enquiry.getByText("Is he good with cats?").waitFor();
  for (const row of [reservation, enquiry]) await row.filter({ hasText: /Arrived .*Expires / }).waitFor();
  await assertFits("a reservation and an enquiry");

  await choose(page, "Reservation 1", "Change the time");
  await page.getByLabel("Expires").fill("2099-01-01T10:00");
  await page.getByRole("button", { name: "Save the time" }).click();
  await page.locator("[aria-invalid=true]").waitFor();
  await assertFits("a time that is too late");
  const inTwoDays = new Date(now + 50 * 3_600_000).toISOString().slice(0, 16);
  await page.getByLabel("Expires").fill(inTwoDays);
  await page.getByRole("button", { name: "Save the time" }).click();
  await page.getByText("Reservation 1 has a new time.").waitFor();

  await page.getByRole("link", { name: "Order 1", exact: true }).click();
  await page.getByRole("link", { name: "Reserved in your storefront until" }).waitFor();
  await page.getByText("by your storefront").waitFor();
  await assertFits("an order that a visitor reserved");
  await goWithin(page, "/dashboard");
  await page.getByRole("link", { name: "2 reservations to answer" }).waitFor();
  await assertFits("a home page with reservations to answer");
  await page.getByRole("link", { name: "2 reservations to answer" }).click();
  await page.waitForURL("**/reservations?state=open");
  await page.getByRole("combobox", { name: "State" }).selectOption("all");

  await page.getByRole("button", { name: "Accept: Reservation 1" }).click();
  await assertFits("a question before a reservation is accepted");
  await page.getByRole("dialog").getByRole("button", { name: "Accept" }).click();
  await reservation.getByText("Accepted").waitFor();
  await page.getByRole("button", { name: "Actions for Reservation 1" }).and(page.locator(":focus")).waitFor();
  const orders = async () => (await shop.ask<Order[]>("GET", "/store/orders")).body;
  const free = async () => (await shop.ask<InventoryItem>("GET", `/store/inventory/${rex}`)).body.quantity;
  assert.deepEqual([(await orders()).length, await free()], [1, 0]);

  await choose(page, "Reservation 1", "Refuse");
  await page.getByRole("dialog").getByRole("link", { name: "ann@example.com" }).waitFor();
  await assertFits("a question before a reservation is refused");
  await page.getByRole("dialog").getByRole("button", { name: "Refuse" }).click();
  await page.getByText("Reservation 1 is refused.").waitFor();
  await page.getByRole("row").filter({ hasText: "Refused" }).locator(":focus").waitFor();
  await page.getByRole("combobox", { name: "State" }).selectOption("refused");
  await page.waitForURL("**/reservations?state=refused");
  await enquiry.waitFor({ state: "detached" });
  assert.deepEqual([await orders(), await free()], [[], 1]);
  await page.getByRole("combobox", { name: "State" }).selectOption("all");
  await choose(page, "Reservation 2", "Refuse");
  await page.getByRole("dialog").getByRole("button", { name: "Refuse" }).click();
  await enquiry.filter({ hasText: /Arrived .*Ended / }).waitFor();
  await choose(page, "Reservation 2", "Delete contact");
  await page.getByRole("dialog").getByText("Is he good with cats?").waitFor();
  await assertFits("a question before the contact of an enquiry is deleted");
  await page.getByRole("dialog").getByRole("button", { name: "Delete contact" }).click();
  await page.getByText("The contact of enquiry 2 is deleted.").waitFor();
  await enquiry.getByText("Is he good with cats?").waitFor({ state: "detached" });
  await enquiry.locator(":focus").waitFor();
  assert.equal(await page.getByRole("button", { name: "Actions for Reservation 2" }).count(), 0);
  type Kept = { state: string; contact?: object };
  const kept = (await shop.ask<Kept>("GET", "/reservations/2")).body;
  assert.deepEqual([kept.state, kept.contact], ["refused", undefined]);
  const { body } = await visitSite(url, links[0]);
  assert.match(body, /The shop could not keep the reservation\./);
});
