import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

/** A shop with an order of two animals that cost 49 euros each, and one of another animal without a price. */
async function openShop(t: Parameters<typeof openDashboardShop>[0]) {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const [rex, ben] = [await shop.pet("Rex", dogs), await shop.pet("Ben", dogs)];
  await shop.ask("PUT", `/pets/${rex}/profile`, { price: { amount: 4_900, currency: "EUR" } });
  const place = async (body: object) => (await shop.ask<{ id: number }>("POST", "/store/orders", body)).body.id;
  return { ...shop, place, first: await place({ petId: rex, quantity: 2 }), second: await place({ petId: ben }) };
}

test("the orders show when each was placed, who ordered, and what it costs", async (t) => {
  const shop = await openShop(t);
  await shop.ask("PUT", `/store/orders/${shop.first}/contact`, { name: "Ann Smith" });
  const read: string[] = [];
  const page = await shop.open("/orders", { viewport: { width: 1600, height: 900 } });
  page.on("request", (request) => read.push(request.url()));
  await page.reload();
  const row = page.getByRole("row").filter({ hasText: "Ann Smith" });
  await row.getByText("€98.00").waitFor();
  await row.getByText("€49.00 each").waitFor();
  assert.equal(await row.locator("time").count(), 1);
  const other = page.getByRole("row").filter({ hasText: "Ben" });
  assert.match(await other.innerText(), /–/);
  const ids = read.filter((url) => url.includes("/orders/details?")).map((url) => new URL(url).searchParams.getAll("id").length);
  assert.ok(ids.length > 0 && ids.every((count) => count === 2), `a request has the orders of all rows: ${ids.join()}`);
});

test("who ordered is written down, changed and deleted on the page of the order, which shows the customer's other orders", async (t) => {
  const shop = await openShop(t);
  await shop.ask("PUT", `/store/orders/${shop.second}/contact`, { email: "ann@example.com" });
  const page = await shop.open(`/orders/${shop.first}`);
  const customer = page.getByRole("region", { name: "Customer", exact: true });
  await customer.getByText("Nobody is noted for this order yet.").waitFor();
  await customer.getByRole("button", { name: "Add the customer" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Fill in at least one field.").waitFor();
  await dialog.getByLabel("Name").fill("Ann Smith");
  await dialog.getByLabel("Email").fill("ann");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.locator("input[name=email][aria-invalid=true]").waitFor();
  await dialog.getByLabel("Email").fill("Ann@example.com");
  await dialog.getByLabel("Address").fill("1 Long Lane\nLondon");
  await dialog.getByRole("button", { name: "Save" }).click();
  await customer.getByText("Ann Smith").waitFor();
  assert.equal(await customer.getByRole("link", { name: "Ann@example.com" }).getAttribute("href"), "mailto:Ann@example.com");
  const others = page.getByRole("region", { name: "Other orders of this customer" });
  await others.getByRole("link", { name: `Order ${shop.second}` }).waitFor();
  await others.getByRole("link", { name: "Ben" }).waitFor();

  await customer.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await customer.getByText("Nobody is noted for this order yet.").waitFor();
  assert.equal((await shop.ask("GET", `/store/orders/${shop.first}/contact`)).status, 404);
});

test("an order prints as a slip, and every other page as it is", async (t) => {
  const shop = await openShop(t);
  await shop.ask("PUT", `/store/orders/${shop.first}/contact`, { name: "Ann Smith", address: "1 Long Lane\nLondon", note: "Barks" });
  const page = await shop.open(`/orders/${shop.first}`);
  await page.getByRole("button", { name: "Print a slip" }).waitFor();
  await page.getByText("€98.00").first().waitFor();
  await page.getByRole("region", { name: "Customer" }).getByText("Ann Smith").waitFor();
  await page.emulateMedia({ media: "print" });
  const paper = await page.locator("body").innerText();
  for (const text of ["Test shop", `Order ${shop.first}`, "Ann Smith", "1 Long Lane", "Rex", "€49.00", "€98.00"])
    assert.ok(paper.includes(text), `${text} in ${paper}`);
  for (const text of ["Barks", "Print a slip", "History"]) assert.ok(!paper.includes(text), text);
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("link", { name: "All orders" }).click();
  await page.getByRole("heading", { name: "Orders", level: 1 }).waitFor();
  await page.emulateMedia({ media: "print" });
  await page.getByRole("heading", { name: "Orders", level: 1 }).waitFor();
});

test("an owner sets how long the details of customers are kept", async (t) => {
  const shop = await openShop(t);
  const page = await shop.open("/account");
  await page.getByRole("button", { name: "Customers’ details: 180 days" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Days").fill("0");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.locator("input[name=contactDays][aria-invalid=true]").waitFor();
  await dialog.getByLabel("Days").fill("30");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Customers’ details: 30 days" }).waitFor();
});
