import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import type { Pet } from "./support/models.ts";
import { assertAccessible } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

test("one action tracks more animals than are loaded, can be undone, and reports the animals that it could not change", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  await shop.ask(
    "POST",
    "/pets/batch",
    Array.from({ length: 105 }, (_, index) => ({ name: `Dog ${index}`, categoryId: dogs })),
  );
  const page = await shop.open("/animals");
  await page.getByText("105 animals", { exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Choose Dog 0", exact: true }).check();
  const bar = page.getByRole("region", { name: "Chosen animals" });
  await bar.getByRole("button", { name: "Choose all 105" }).click();
  await bar.getByText("105 animals chosen").waitFor();
  await bar.getByRole("button", { name: "Count stock" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Count the stock of 105 animals" }).click();
  await page.getByText("The stock of 105 animals is counted.").hover(); // a notice under the pointer stays
  const entries = async () => (await shop.ask<object[]>("GET", "/store/inventory?limit=100")).body.length;
  assert.equal(await entries(), 100);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Everything is as it was before.").waitFor();
  assert.equal(await entries(), 0);

  const { body } = await shop.ask<Pet[]>("GET", "/pets?limit=2");
  await shop.ask("POST", "/store/orders", { petId: body[0]?.id });
  for (const name of ["Dog 0", "Dog 1"]) await page.getByRole("checkbox", { name: `Choose ${name}`, exact: true }).check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete 2 animals" }).click();
  await page.getByRole("dialog", { name: "1 stayed as they were" }).getByText("Fulfil or cancel its open orders first").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByText("104 animals", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Name" }).click();
  await page.waitForURL("**/dashboard/animals?sort=name");
  await rowOf(page, "Dog 10").first().locator("td").nth(2).click();
  await page.getByRole("heading", { level: 1, name: "Dog 10" }).waitFor();
});

test("a change of many animals shows how far it is, sends again what the service had no time for, and can be stopped, resumed and undone", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  await shop.ask(
    "POST",
    "/pets/batch",
    Array.from({ length: 400 }, (_, index) => ({ name: `Dog ${index}`, categoryId: dogs })),
  );
  const page = await shop.open("/animals");
  await page.getByRole("checkbox", { name: "Choose Dog 0", exact: true }).check();
  const bar = page.getByRole("region", { name: "Chosen animals" });
  await bar.getByRole("button", { name: "Choose all 400" }).click();
  await bar.getByText("400 animals chosen").waitFor();
  await bar.getByRole("button", { name: "Status" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Sold" }).click();

  /** How many changes each call had. */
  const sizes: number[] = [];
  const [third, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route("**/pets/changes", async (route) => {
    const sent = route.request().postDataJSON() as { changes: { id: number }[] };
    if (sizes.push(sent.changes.length) === 3) {
      third.resolve();
      await held.promise;
    }
    if (sizes.length > 1) return route.continue();
    const response = await route.fetch({ postData: { changes: sent.changes.slice(0, 40) } });
    const { results } = (await response.json()) as { results: object[] };
    const left = sent.changes.slice(40).map(({ id }) => ({ id, outcome: "refused", code: "unavailable", message: "Try again." }));
    await route.fulfill({ response, json: { results: [...results, ...left] } });
  });
  const begin = dialog.getByRole("button", { name: "Change the status of 400 animals" });
  await begin.click();
  await third.promise;
  const [, second = 0, last = 0] = sizes;
  await dialog.getByText(`${40 + second} of 400 are done`).waitFor();
  const progress = dialog.getByRole("progressbar", { name: `${40 + second} of 400 are done` });
  assert.equal(Number(await progress.getAttribute("aria-valuenow")), (40 + second) / 4);
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Stop" }).click();
  held.resolve();
  const changed = 40 + second + last;
  await page.getByText(`${changed} of 400 are done. The others are as they were.`).waitFor();
  const available = async () => (await shop.ask<Pet[]>("GET", "/pets?status=available&limit=100")).body.length;
  assert.equal(await available(), Math.min(100, 400 - changed));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Everything is as it was before.").waitFor();
  assert.equal(await available(), 100);

  await page.unroute("**/pets/changes");
  const json = { code: "forbidden", message: "No.", status: 403 };
  let isFirst = true;
  await page.route("**/pets/changes", (route) => {
    if (!isFirst) return route.fulfill({ status: 403, json });
    isFirst = false;
    return route.continue();
  });
  await bar.getByRole("button", { name: "Status" }).click();
  await dialog.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Sold" }).click();
  await begin.click();
  await dialog.getByText("50 of 400 are done. The others are as they were.").waitFor();
  await page.unroute("**/pets/changes");
  await dialog.getByRole("button", { name: "Try again" }).click();
  await page.getByText("The status of 400 animals is changed.").waitFor();
  assert.equal(await available(), 0);
});

test("the notice of many changes stays, and an undo that fails half-way says how far it is and goes on where it stopped", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const animals = Array.from({ length: 120 }, (_, index) => ({ name: `Dog ${index}`, categoryId: dogs }));
  await shop.ask("POST", "/pets/batch", animals);
  const page = await shop.open("/animals");
  await page.clock.install();
  await page.getByText("120 animals", { exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Choose Dog 0", exact: true }).check();
  const bar = page.getByRole("region", { name: "Chosen animals" });
  await bar.getByRole("button", { name: "Choose all 120" }).click();
  await bar.getByText("120 animals chosen").waitFor();
  await bar.getByRole("button", { name: "Status" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Sold" }).click();
  await dialog.getByRole("button", { name: "Change the status of 120 animals" }).click();
  const notices = page.getByRole("region", { name: "Notices" });
  await notices.getByText("The status of 120 animals is changed.").waitFor();
  await page.clock.fastForward(60_000);
  await notices.getByText("The status of 120 animals is changed.").waitFor();

  const failed = Promise.withResolvers<void>();
  const sizes: number[] = [];
  const json = { code: "forbidden", message: "No.", status: 403 };
  await page.route("**/pets/changes", async (route) => {
    sizes.push((route.request().postDataJSON() as { changes: object[] }).changes.length);
    if (sizes.length !== 2) return route.continue();
    await failed.promise;
    return route.fulfill({ status: 403, json });
  });
  await notices.getByRole("button", { name: "Undo" }).click();
  await notices.getByText("50 of 120 are undone").waitFor();
  failed.resolve();
  await notices.getByRole("alert").getByText("Your role does not allow this.").waitFor();
  await assertAccessible(page);
  const sold = async () => (await shop.ask<Pet[]>("GET", "/pets?status=sold&limit=100")).body.length;
  assert.equal(await sold(), 70);
  await notices.getByRole("button", { name: "Try again" }).click();
  await notices.getByText("Everything is as it was before.").waitFor();
  assert.deepEqual([await sold(), sizes.slice(2).reduce((sum, size) => sum + size, 0)], [0, 70]);
  assert.equal(await notices.getByRole("button", { name: "Undo" }).count(), 0);
});

test("undo leaves the animals that somebody has changed since, and says how many", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const [a, b, c] = [await shop.pet("Rex", dogs), await shop.pet("Luna", dogs), await shop.pet("Max", dogs)];
  const page = await shop.open("/animals");
  const bar = page.getByRole("region", { name: "Chosen animals" });
  const dialog = page.getByRole("dialog");
  for (const name of ["Rex", "Luna", "Max"]) await page.getByRole("checkbox", { name: `Choose ${name}`, exact: true }).check();
  await bar.getByRole("button", { name: "Price" }).click();
  await dialog.getByRole("textbox", { name: "Price" }).fill("49");
  await dialog.getByRole("button", { name: "Change the price of 3 animals" }).click();
  await page.getByText("The price of 3 animals is changed.").hover();
  await shop.ask("PATCH", `/pets/${b}/profile`, { description: "Shy." });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 animal stays as it is: somebody has changed it since.").waitFor();
  const statuses = await Promise.all([a, b, c].map(async (id) => (await shop.ask("GET", `/pets/${id}/profile`)).status));
  assert.deepEqual(statuses, [404, 200, 404], "an undone price leaves no empty profile");

  for (const name of ["Rex", "Luna", "Max"]) await page.getByRole("checkbox", { name: `Choose ${name}`, exact: true }).check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete 3 animals" }).click();
  await page.getByText("3 animals are in the bin.").hover();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("3 animals are back.").waitFor();
  await page.getByText("3 animals", { exact: true }).waitFor();
  assert.equal((await shop.ask<Pet[]>("GET", "/pets")).body.length, 3);
});

test("one action raises the prices of all animals, names those without a price, and undo restores each price", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const { body: pets } = await shop.ask<Pet[]>(
    "POST",
    "/pets/batch",
    Array.from({ length: 105 }, (_, index) => ({ name: `Dog ${index}`, categoryId: dogs })),
  );
  const [first, second] = pets;
  for (const { id } of pets.slice(0, 101)) {
    await shop.ask("PUT", `/pets/${id}/profile`, { price: { amount: id === first!.id ? 1_005 : 20_000, currency: "EUR" } });
  }
  const priceOf = async (pet: Pet | undefined) => (await shop.ask<{ price?: object }>("GET", `/pets/${pet!.id}/profile`)).body.price;
  const page = await shop.open("/animals");
  await page.getByText("105 animals", { exact: true }).waitFor();
  await rowOf(page, "Dog 0").getByText("€10.05").waitFor();
  await page.getByRole("checkbox", { name: "Choose Dog 0", exact: true }).check();
  const bar = page.getByRole("region", { name: "Chosen animals" });
  await bar.getByRole("button", { name: "Choose all 105" }).click();
  await bar.getByText("105 animals chosen").waitFor();
  await bar.getByRole("button", { name: "Price" }).click();
  const dialog = page.getByRole("dialog");
  const begin = dialog.getByRole("button", { name: "Change the price of 105 animals" });
  assert.ok(await begin.isDisabled());
  await dialog.getByRole("textbox", { name: "Price" }).fill("12.345");
  await dialog.getByText("Write an amount such as 49.00.").waitFor();
  assert.ok(await begin.isDisabled());
  await dialog.getByText("Lower by").click();
  await dialog.getByRole("textbox", { name: "Percent" }).fill("100.5");
  await dialog.getByText("Write a percentage up to 100, such as 10 or 2.5.").waitFor();
  assert.ok(await begin.isDisabled());
  await assertAccessible(page);
  await dialog.getByText("Raise by").click();
  await dialog.getByRole("textbox", { name: "Percent" }).fill("2,5");
  await begin.click();
  const left = page.getByRole("dialog", { name: "4 stayed as they were" });
  await left.getByText("4: It has no price that could be raised or lowered. (Dog 101, Dog 102, Dog 103, Dog 104)").waitFor();
  await page.getByText("The price of 101 animals is changed.").hover(); // a notice under the pointer stays
  assert.deepEqual(await priceOf(first), { amount: 1_030, currency: "EUR" });
  await left.getByRole("button", { name: "Close" }).last().click();
  await rowOf(page, "Dog 0").getByText("€10.30").waitFor();
  await rowOf(page, "Dog 1").getByText("€205.00").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Everything is as it was before.").waitFor();
  assert.deepEqual(await Promise.all([first, second].map(priceOf)), [
    { amount: 1_005, currency: "EUR" },
    { amount: 20_000, currency: "EUR" },
  ]);
  await rowOf(page, "Dog 0").getByText("€10.05").waitFor();

  await page.getByRole("checkbox", { name: "Choose Dog 1", exact: true }).check();
  await bar.getByRole("button", { name: "Price" }).click();
  await dialog.getByRole("textbox", { name: "Price" }).fill("5000");
  await dialog.getByRole("textbox", { name: "Currency" }).fill("jpy");
  await dialog.getByRole("button", { name: "Change the price of 1 animal" }).click();
  await rowOf(page, "Dog 1").getByText("¥5,000").waitFor();
  assert.deepEqual(await priceOf(second), { amount: 5_000, currency: "JPY" });
});
