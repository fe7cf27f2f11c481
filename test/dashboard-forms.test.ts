import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import sql from "sql-template-tag";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop } from "./support/dashboard-shop.ts";
import { assertAccessibleOnPhone, findings } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

async function boxOf(element: Locator) {
  return (await element.boundingBox()) ?? assert.fail("it is not shown");
}

async function orderNumbers(page: Page): Promise<number[]> {
  const cells = await page.getByRole("table", { name: "Orders" }).locator("tbody tr[data-index] td:first-child").allInnerTexts();
  return cells.map((text) => Number(/\d+/.exec(text)?.[0]));
}

test("open orders come first and the newest before the others, and changes that others make appear", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  const ids: number[] = [];
  for (const complete of [false, true, false, true, false])
    ids.push((await shop.ask<{ id: number }>("POST", "/store/orders", { petId: rex, complete })).body.id);
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = ids;
  const page = await shop.open("/orders");
  await page.getByRole("cell", { name: String(b), exact: true }).waitFor();
  assert.deepEqual(await orderNumbers(page), [e, c, a, d, b]);
  await shop.ask("PATCH", `/store/orders/${c}`, { complete: true });
  const { body: added } = await shop.ask<{ id: number }>("POST", "/store/orders", { petId: rex });
  await page.getByRole("cell", { name: String(added.id), exact: true }).waitFor();
  await page
    .locator("tr", { has: page.getByRole("cell", { name: String(c), exact: true }) })
    .getByText("Fulfilled")
    .waitFor();
  assert.deepEqual(await orderNumbers(page), [added.id, e, a, d, c, b]);
});

test("the form of an order offers only animals that can be ordered", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  await shop.pet("Free", dogs);
  await shop.pet("Waiting", dogs, { status: "pending" });
  await shop.pet("Gone", dogs, { status: "sold" });
  const reserved = await shop.pet("Reserved", dogs);
  await shop.ask("PUT", `/store/inventory/${reserved}`, { quantity: 1 });
  await shop.ask("POST", "/store/orders", { petId: reserved });
  const page = await shop.open("/orders?new=true");
  const dialog = page.getByRole("dialog", { name: "New order" });
  await dialog.getByRole("combobox", { name: "Animal" }).click();
  await page.getByRole("option").first().waitFor();
  const offered = await page.getByRole("option").allInnerTexts();
  assert.deepEqual(
    offered.map((text) => text.split(" ")[0]),
    ["Free", "Waiting"],
  );
});

test("a page and a dialog ask before what was typed is lost, and go at once without changes", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open(`/animals/${rex}`);
  const panel = page.getByRole("main");
  const leaving = page.getByRole("dialog", { name: "Leave without saving?" });
  const question = page.getByRole("dialog", { name: "Close without saving?" });
  const name = panel.getByRole("textbox", { name: "Name" });
  await name.fill("Rex the Great");
  await page.getByText("There are changes that are not saved.").waitFor();
  await page.getByRole("link", { name: "All animals" }).click();
  await leaving.waitFor();
  assert.deepEqual(await findings(page), []);
  await leaving.getByRole("button", { name: "Stay" }).click();
  assert.equal(await name.inputValue(), "Rex the Great");
  await panel.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("“Rex the Great” is saved.").waitFor();
  await page.getByText("Everything is saved.").waitFor();
  await name.fill("Rex again");
  await page.getByRole("link", { name: "All animals" }).click();
  await leaving.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("link", { name: "Rex the Great" }).waitFor();

  await page.getByRole("link", { name: "Categories", exact: true }).click();
  await choose(page, "Dogs", "Edit");
  const form = page.getByRole("dialog");
  await form.getByRole("textbox", { name: "Name" }).fill("Ida");
  await form.getByRole("button", { name: "Close" }).click();
  await question.getByRole("button", { name: "Close without saving" }).click();
  await form.waitFor({ state: "detached" });
});

test("a failure looks and sounds like one, and notices cover neither dialogs nor the page", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 1 });
  const page = await shop.open("/animals");
  const count = page.getByRole("textbox", { name: "Free units of Rex" });
  await count.fill("5");
  await page.getByRole("button", { name: "Set the count of Rex" }).click();
  const done = page.getByRole("region", { name: "Notices" }).getByText("5 free units of “Rex”.");
  await done.waitFor();
  await choose(page, "Rex", "Delete");
  const dialog = await boxOf(page.getByRole("dialog"));
  const notice = await boxOf(done);
  assert.ok(notice.y + notice.height <= Math.min(60, dialog.y), "the notice is in the strip of the header");
  const colour = `getComputedStyle(document.querySelector("[role=dialog] p + a")).color`;
  assert.equal(await page.evaluate(colour), "rgb(11, 97, 73)", "links in dialogs have the colour of links");
  await page.keyboard.press("Escape");

  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 1 });
  await page.getByRole("button", { name: "Undo" }).click();
  const failure = page.getByRole("region", { name: "Notices" }).getByRole("alert");
  await failure.getByText("too few").waitFor();
  assert.equal(await failure.getAttribute("data-failure"), "true");
  assert.deepEqual(await findings(page), []);
});

test("the home page shows open orders and low stock, and its set-up list ticks off what is done", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("", { hosts: [`photos.petstore.localhost:${service.publishing.addresses()!.http.port}`] });
  await page.getByRole("heading", { name: "Open orders" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/dashboard", "it does not redirect");
  const setUp = page.getByRole("list", { name: "Set up your shop" });
  const animalStep = setUp.getByRole("listitem").filter({ hasText: "Add your first animal, with a photo" });
  await animalStep.getByText("To do").waitFor();
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/store/inventory/${rex}`, { quantity: 4 });
  await shop.ask("POST", "/store/orders", { petId: rex, quantity: 3 });
  await page.reload();
  await page.getByRole("list", { name: "Open orders" }).getByRole("link", { name: "Rex" }).waitFor();
  await page.getByRole("list", { name: "Low stock" }).getByText("1 left").waitFor();
  await animalStep.getByText("To do").waitFor(); // it has no photo
  const photo = await picture("teal", { width: 60, height: 40 });
  assert.equal((await shop.ask("POST", `/pets/${rex}/profile/photos`, photo, { "content-type": "image/jpeg" })).status, 201);
  await page.reload();
  await animalStep.getByText("Done").waitFor();
  const week = page.getByRole("region", { name: "The last 7 days" });
  await week.getByText("1 more than in the 7 days before").waitFor();
  await week.getByText("As many as in the 7 days before").waitFor();
  await assertAccessibleOnPhone(page);
  await page.getByRole("button", { name: "Hide this list" }).click();
  await setUp.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("list", { name: "Open orders" }).waitFor();
  assert.equal(await setUp.count(), 0);
});

test("the home page shows the value of the orders, reservations and page views against the 7 days before, and only what a shop uses", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const rex = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/pets/${rex}/profile`, { price: { amount: 12_000, currency: "EUR" } });
  await shop.ask("POST", "/store/orders", { petId: rex, quantity: 2 });
  const page = await shop.open("");
  const week = page.getByRole("region", { name: "The last 7 days" });
  const card = (label: string) =>
    week
      .locator("div")
      .filter({ has: page.getByText(label, { exact: true }) })
      .last();
  await card("Value of the orders").getByText("€240.00", { exact: true }).waitFor();
  await card("Value of the orders").getByText("€240.00 more than in the 7 days before").waitFor();
  assert.equal(await week.getByText("Page views of your shop").count(), 0);
  assert.equal(await week.getByText("Reservations and enquiries").count(), 0);

  await service.db.write(async (tx) => {
    const today = Math.floor(Date.now() / 86_400_000);
    for (const [ago, views] of [
      [0, 1_234],
      [10, 2_000],
    ] as const)
      await tx.query(sql`INSERT INTO page_views (account_id, day, views) VALUES (${shop.id}, ${today - ago}, ${views})`);
    tx.record({ accountId: shop.id, type: "reservation.created", resource: { type: "reservation", id: 1 }, data: { id: 1 } });
    await tx.query(sql`UPDATE orders SET price_currency = 'USD' WHERE account_id = ${shop.id}`);
  });
  await shop.ask("POST", "/store/orders", { petId: rex });
  await page.reload();
  await card("Page views of your shop").getByText("1,234", { exact: true }).waitFor();
  await card("Page views of your shop").getByText("766 fewer than in the 7 days before").waitFor();
  await card("Reservations and enquiries").getByText("1 in the last 24 hours").waitFor();
  await card("Value of the orders in USD").getByText("US$240.00", { exact: true }).waitFor();
  await card("Value of the orders in EUR").getByText("€120.00", { exact: true }).waitFor();
  await assertAccessibleOnPhone(page);
});

test("the home page counts all reservations that wait, and a hold that soon expires is urgent behind any number of enquiries", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const inHours = (hours: number): number => Date.now() + hours * 3_600_000;
  const add = (id: number, orderId: number | null, state: string, lapsesAt: number) =>
    service.db.write((tx) =>
      tx.query(sql`INSERT INTO reservations (account_id, id, pet_id, order_id, state, link_hash, created_at, lapses_at, version)
        VALUES (${shop.id}, ${id}, 1, ${orderId}, ${state}, ${`${shop.id} ${id}`}, ${Date.now()}, ${lapsesAt}, 1)`),
    );
  for (let id = 1; id <= 25; id++) await add(id, null, "open", inHours(2 + id));
  await add(26, 26, "open", inHours(40));
  const page = await shop.open("");
  const waiting = page.getByRole("list", { name: "Needs your attention" }).getByRole("listitem").filter({ hasText: "to answer" });
  await waiting.getByRole("link", { name: "26 reservations to answer", exact: true }).waitFor();
  await waiting.getByText("Soon").waitFor();
  await add(27, 27, "accepted", inHours(1));
  const soon = inHours(1.5);
  await add(28, 28, "open", soon);
  await page.reload();
  await waiting.getByRole("link", { name: "27 reservations to answer", exact: true }).waitFor();
  await waiting.getByText("Now").waitFor();
  const first = await waiting.getByText("The first expires").locator("time").getAttribute("datetime");
  assert.equal(Date.parse(first!), soon);
});

test("the home page says what needs attention and how soon, and nothing where all is well", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("");
  const attention = page.getByRole("list", { name: "Needs your attention" });
  await page.getByRole("heading", { name: "Open orders" }).waitFor();
  assert.equal(await attention.count(), 0);
  const { body } = await shop.ask<{ id: number }>("POST", "/webhooks", { url: "https://hooks.example.com/x", types: ["order.*"] });
  await service.db.write((tx) => tx.query(sql`UPDATE webhooks SET failing_since = ${Date.now()} WHERE id = ${body.id}`));
  await shop.category("Dogs");
  await service.administration["accounts.setPlan"]({ id: shop.id, plan: "free", records: 1 });
  await page.reload();
  await attention.getByRole("link", { name: "https://hooks.example.com/x" }).waitFor();
  await attention.getByRole("listitem").filter({ hasText: "Your plan has no room for more entries" }).getByText("Now").waitFor();
  await service.administration["accounts.setPlan"]({ id: shop.id, plan: "free", records: 1_000 });
  await page.reload();
  await attention.getByRole("link", { name: "https://hooks.example.com/x" }).waitFor();
  assert.equal(await attention.getByRole("listitem").count(), 1);
});

test("the start page and the reference do not move while they load", async (t) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(`globalThis.moved = 0; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.moved += entry.value;
  }).observe({ type: "layout-shift", buffered: true });`);
  for (const [path, width] of [
    ["/", 1280],
    ["/reference", 360],
  ] as const) {
    await page.setViewportSize({ width, height: 740 });
    await page.goto(service.address + path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForLoadState("networkidle");
    const moved = await page.evaluate<number>("globalThis.moved");
    assert.ok(moved <= 0.02, `${path} moved by ${moved}`);
  }
});
