import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop, pick } from "./support/dashboard-shop.ts";
import type { Pet } from "./support/models.ts";
import { assertAccessibleOnPhone, findings, goWithin } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { startService } from "./support/service.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(startService);

const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
type Field = { ariaLabel: string | null; labels: { innerText: string }[] };
/** The labels of the fields that are marked as wrong. */
const wrongFields = (page: Page) =>
  page
    .locator("[aria-invalid=true]")
    .evaluateAll((fields) => (fields as unknown as Field[]).map((one) => one.ariaLabel ?? one.labels[0]!.innerText.replace(" *", "")));
const names = (page: Page) => page.getByRole("table", { name: "Animals" }).getByRole("link").allInnerTexts();

test("the address holds the filters and the sort order, which survive a reload", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const [dogs, cats] = [await shop.category("Dogs"), await shop.category("Cats")];
  for (const name of ["Rex", "Rexona", "Ben"]) await shop.pet(name, dogs);
  await shop.pet("Rex the cat", cats);
  await shop.pet("Rex sold", dogs, { status: "sold" });
  const page = await shop.open("/animals");

  await page.getByRole("searchbox", { name: "Search by name" }).fill("reX");
  await page.getByRole("link", { name: "Ben", exact: true }).waitFor({ state: "detached" });
  await pick(page, "Category", "Dogs");
  await page.getByRole("link", { name: "Rex the cat" }).waitFor({ state: "detached" });
  await pick(page, "Status", "Available");
  await page.getByRole("link", { name: "Rex sold" }).waitFor({ state: "detached" });
  await pick(page, "Sort", "Name, Z to A");
  await page.getByRole("row").nth(1).getByRole("link", { name: "Rexona" }).waitFor();
  assert.deepEqual(await names(page), ["Rexona", "Rex"]);

  await page.reload();
  await page.getByRole("link", { name: "Rexona" }).waitFor();
  assert.deepEqual(await names(page), ["Rexona", "Rex"]);
  assert.equal(await page.getByRole("searchbox", { name: "Search by name" }).inputValue(), "reX");
  assert.equal(await page.getByRole("combobox", { name: "Category" }).inputValue(), "Dogs");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: "Ben", exact: true }).waitFor();
});

test("clearing the filters also clears text that was just typed", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  await shop.pet("Ben", await shop.category("Dogs"));
  const page = await shop.open("/animals");
  await page.clock.install();
  await page.goto(`${service.address}/dashboard/animals?status=sold`);
  const search = page.getByRole("searchbox", { name: "Search by name" });
  await search.fill("Rex");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await rowOf(page, "Ben").waitFor();
  await page.clock.fastForward(1_000);
  // a request that the typing caused would arrive before this one is answered
  await page.evaluate("fetch('/favicon.svg')");
  assert.equal(await search.inputValue(), "");
  assert.equal(new URL(page.url()).search, "");
});

test("a refused field of a new animal shows its error; once corrected, the animal is created", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  await shop.category("Dogs");
  const page = await shop.open("/animals");
  await page.getByText("No animals yet").waitFor();
  await page.getByRole("button", { name: "New animal" }).first().click();
  const form = page.getByRole("main");
  await form.getByRole("button", { name: "Create animal" }).click();
  await form.locator("input[name=name][aria-invalid=true]").waitFor();
  assert.equal(await page.evaluate("document.activeElement.getAttribute('name')"), "name", "the refused field has the focus");
  assert.equal(await form.getByRole("combobox", { name: "Category" }).getAttribute("aria-invalid"), "true");

  await form.getByRole("textbox", { name: "Name" }).fill("  Rex  ");
  await pick(page, "Category", "Dogs");
  await form.getByLabel("How many there are").fill("");
  await form.getByText("Pending").click();
  await form.getByRole("button", { name: "Create animal" }).click();
  await page.waitForURL(/animals\/\d+$/);
  const { body } = await shop.ask<Pet[]>("GET", "/pets");
  assert.partialDeepStrictEqual(body, [{ name: "Rex", status: "pending" }]);
});

test("every wrong field of a new animal is marked before anything is saved, each of the shop's own facts at its place", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/animals/new");
  const form = page.getByRole("main");
  const create = form.getByRole("button", { name: "Create animal" });
  await form.getByLabel("Price").fill("cheap");
  await form.getByLabel("Currency").fill("EUR");
  await form.getByLabel("Born").fill("05/2023");
  for (const place of [1, 2, 3]) {
    await form.getByRole("button", { name: "Add another fact" }).click();
    if (place === 1) continue; // an empty row is not sent, so the service counts the others from 0
    await form.getByLabel(`Name of further fact ${place}`).fill("Chip");
    await form.getByLabel(`Value of further fact ${place}`).fill("276");
  }
  await form.getByLabel("How many there are").fill("many");
  await create.click();
  await form.getByText("Must be a date or a year, such as 2024-05-17 or 2024.").waitFor();
  assert.deepEqual(await wrongFields(page), ["Name", "Category", "Price", "Born", "How many there are"]);
  await form.getByLabel("Price").fill("49");
  await form.getByLabel("Currency").fill("E");
  await form.getByLabel("Born").fill("2023-02-30");
  await create.click();
  await form.getByText("Is a day that no calendar has.").waitFor();
  assert.deepEqual(await wrongFields(page), ["Name", "Category", "Currency", "Born", "How many there are"]);
  await form.getByLabel("Born").fill("2023");
  await create.click();
  await form.getByText("Is that of an earlier fact.").waitFor();
  assert.deepEqual(await wrongFields(page), ["Name", "Category", "Currency", "Name of further fact 3", "How many there are"]);
  await assertAccessibleOnPhone(page);
  assert.deepEqual((await shop.ask("GET", "/pets")).body, []);
});

test("a new animal of which a part failed is completed by pressing again, with all that was changed meanwhile and each photo once", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  for (const name of ["Dogs", "Cats"]) await shop.category(name);
  const page = await shop.open("/animals/new", { hosts: [`photos.petstore.localhost:${service.publishing.addresses()!.http.port}`] });
  const form = page.getByRole("main");
  const create = form.getByRole("button", { name: "Create animal" });
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("Rex");
  await pick(page, "Category", "Dogs");
  await form.getByLabel("Description").fill("Barks.");
  const pictures = await Promise.all(["teal", "coral"].map((colour) => picture(colour, { width: 60, height: 40 })));
  const files = [pictures[0]!, Buffer.from("no picture"), pictures[1]!];
  await form
    .locator("input[type=file]")
    .setInputFiles(files.map((buffer, i) => ({ name: `${i + 1}.jpg`, mimeType: "image/jpeg", buffer })));
  await page.route("**/profile", (route) => (route.request().headers()["prefer"] ? route.continue() : route.abort()), { times: 2 });
  await create.click();
  await form.getByText("The animal is created, but not all of it is saved.").waitFor();

  await form.getByRole("textbox", { name: "Name", exact: true }).fill("Milo");
  await pick(page, "Category", "Cats");
  await form.getByLabel("Description").fill("Purrs.");
  await form.getByLabel("How many there are").fill("");
  await form.getByText("Pending").click();
  await create.click();
  await form.getByText("Not added: “2.jpg”.").waitFor();
  await form.getByRole("button", { name: "Remove photo 2" }).click();
  await form.getByLabel("Description").fill("Purrs loudly.");
  await create.click();
  await page.waitForURL(/animals\/\d+$/);
  await page.getByText("“Milo” is in the catalogue.").waitFor();
  const { body: pets } = await shop.ask<Pet[]>("GET", "/pets");
  const { body: categories } = await shop.ask<{ id: number; name: string }[]>("GET", "/categories");
  const categoryId = categories.find(({ name }) => name === "Cats")!.id;
  assert.deepEqual(pets, [{ id: pets[0]!.id, name: "Milo", categoryId, status: "pending" }]);
  const { body: profile } = await shop.ask<{ description: string; photos: object[] }>("GET", `/pets/${pets[0]!.id}/profile`);
  assert.deepEqual([profile.description, profile.photos.length], ["Purrs loudly.", 2]);
  assert.equal((await shop.ask("GET", `/store/inventory/${pets[0]!.id}`)).status, 404);
});

test("an animal of which only the details were saved is saved whole by pressing again", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open(`/animals/${petId}`);
  const form = page.getByRole("main");
  const save = form.getByRole("button", { name: "Save", exact: true });
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("Rexona");
  await form.getByLabel("Born").fill("05/2023");
  await save.click();
  await form.getByText("Must be a date or a year").waitFor();
  assert.equal((await shop.ask<Pet[]>("GET", "/pets")).body[0]!.name, "Rex", "a wrong fact saves nothing");
  await form.getByLabel("Born").fill("2023");
  await page.route("**/profile", (route) => (route.request().headers()["prefer"] ? route.continue() : route.abort()), { times: 2 });
  await save.click();
  await form.getByText("The service could not be reached").waitFor();
  assert.equal((await shop.ask<Pet[]>("GET", "/pets")).body[0]!.name, "Rexona");
  await save.click();
  await page.getByText("“Rexona” is saved.").waitFor();
  assert.equal((await shop.ask<{ facts: object }>("GET", `/pets/${petId}/profile`)).body.facts["born" as never], "2023");
});

test("an edit based on an old version is not saved; after a reload it is", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open(`/animals/${petId}`);
  const panel = page.getByRole("main");
  await panel.getByRole("textbox", { name: "Name" }).fill("Rex by me");
  await shop.ask("PATCH", `/pets/${petId}`, { name: "Rex by her" });
  await panel.getByRole("button", { name: "Save", exact: true }).click();
  await panel.getByText("Somebody else changed it in the meantime. Reload it, then make your change again.").waitFor();
  await panel.getByText("Somebody else has changed its name, category or status").waitFor();
  assert.doesNotMatch(await panel.getByRole("alert").innerText(), /Request id|ETag/);
  assert.equal((await shop.ask<Pet[]>("GET", "/pets")).body[0]?.name, "Rex by her");

  await panel.getByRole("button", { name: "Reload" }).click();
  await panel.locator("input[name=name][value='Rex by her']").waitFor();
  await panel.getByRole("textbox", { name: "Name" }).fill("Rex by both");
  await panel.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("“Rex by both” is saved.").waitFor();
  await page.getByRole("heading", { level: 1, name: "Rex by both" }).waitFor();
});

test("unsaved text of an animal stays, and can be saved, while an order changes its status", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/store/inventory/${petId}`, { quantity: 0 });
  const page = await shop.open(`/animals/${petId}`);
  const panel = page.getByRole("main");
  await panel.getByRole("textbox", { name: "Name" }).fill("Rexona");
  await panel.getByRole("button", { name: "One more of Rex" }).click();
  await panel.getByRole("radio", { name: "Available", checked: true }).waitFor({ state: "attached" });
  await panel.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("“Rexona” is saved.").waitFor();
  assert.partialDeepStrictEqual((await shop.ask<Pet[]>("GET", "/pets")).body, [{ name: "Rexona", status: "available" }]);
});

test("tracking of an animal starts, its stock is adjusted and set in place, and tracking stops", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const page = await shop.open(`/animals/${petId}`);
  const panel = page.getByRole("main");
  const count = panel.getByRole("textbox", { name: "Free units of Rex" });
  const countIs = (value: string) => panel.locator(`[aria-label="Free units of Rex"][value="${value}"]`).waitFor();

  await panel.getByRole("textbox", { name: "Free units" }).fill("-1");
  await panel.getByRole("button", { name: "Start counting" }).click();
  await panel.locator("input[name=quantity][aria-invalid=true]").waitFor();
  await panel.getByRole("textbox", { name: "Free units" }).fill("2");
  await panel.getByRole("button", { name: "Start counting" }).click();
  await countIs("2");
  await panel.getByRole("button", { name: "One more of Rex" }).click();
  await countIs("3");
  await panel.getByRole("button", { name: "One fewer of Rex" }).click();
  await countIs("2");
  await count.fill("12");
  await count.press("Enter");
  await page.getByText("12 free units of “Rex”.").waitFor();
  assert.deepEqual((await shop.ask("GET", `/store/inventory/${petId}`)).body, { petId, quantity: 12, status: "available" });
  await page.getByRole("button", { name: "Undo" }).click();
  await countIs("2");

  await panel.getByRole("button", { name: "Stop counting" }).click();
  await page.getByRole("dialog", { name: "Stop counting “Rex”?" }).getByRole("button", { name: "Stop counting" }).click();
  await panel.getByText("Its stock is not counted").waitFor();
  assert.equal((await shop.ask("GET", `/store/inventory/${petId}`)).status, 404);
});

test("the page of an animal shows what changed of it, its stock and its orders, twenty entries at first, and a deleted animal keeps its history", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const [dogs, cats] = [await shop.category("Dogs"), await shop.category("Cats")];
  const id = await shop.pet("Rex", dogs);
  for (let i = 1; i <= 20; i++) await shop.ask("PATCH", `/pets/${id}`, { name: `Rex ${i}` });
  await shop.ask("PATCH", `/pets/${id}`, { categoryId: cats });
  await shop.ask("PUT", `/pets/${id}/profile`, { price: { amount: 4_950, currency: "EUR" }, description: "Barks." });
  await shop.ask("PUT", `/store/inventory/${id}`, { quantity: 2 });
  const { body: order } = await shop.ask<{ id: number }>("POST", "/store/orders", { petId: id, quantity: 2 });
  const page = await shop.open(`/animals/${id}`);
  const list = page.getByRole("list", { name: "History" });
  const item = (place: number) => list.getByRole("listitem").nth(place);
  await item(0).getByText("Ordered: 2 units").waitFor();
  for (const text of ["Stock: 2 → 0", "Status: Available → Pending"]) await item(0).getByText(text).waitFor();
  await item(0)
    .getByRole("link", { name: `Order ${order.id}` })
    .waitFor();
  for (const text of ["The description changed", "Price: none → €49.50"]) await item(2).getByText(text).waitFor();
  await item(3).getByText("Category: Dogs → Cats").waitFor();
  await item(4).getByText("Name: “Rex 19” → “Rex 20”").waitFor();
  const time = item(0).locator("time");
  assert.match(await time.innerText(), /^(now|\d+ minutes? ago)$/);
  assert.match((await time.getAttribute("title"))!, /\d{4}/);
  await page.getByText(/^The newest \d+ changes of the whole shop/).waitFor();
  assert.equal(await list.getByText("Added").count(), 0);

  await shop.ask("DELETE", `/store/orders/${order.id}`);
  await page.getByRole("button", { name: "Show older changes" }).click();
  await list.getByText("Added").waitFor();
  await page.getByRole("button", { name: "Show older changes" }).waitFor({ state: "detached" });
  await assertAccessibleOnPhone(page);

  assert.equal((await shop.ask("DELETE", `/pets/${id}`)).status, 204);
  await page.reload();
  await item(0).getByText("Deleted").waitFor();
  assert.deepEqual(await findings(page), []);
});

test("a change of the stock on the page of an animal is in its history at once", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const id = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PUT", `/store/inventory/${id}`, { quantity: 2 });
  const page = await shop.open(`/animals/${id}`);
  const list = page.getByRole("list", { name: "History" });
  await list.getByText("Stock: none → 2").waitFor();
  await page.getByRole("button", { name: "One more of Rex" }).click();
  await list.getByText("Stock: 2 → 3").waitFor();
});

test("the stock of all rows loads in a few requests, and can be changed in the row", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  await shop.ask(
    "POST",
    "/pets/batch",
    Array.from({ length: 30 }, (_, index) => ({ name: `Dog ${index}`, categoryId })),
  );
  const pets = (await shop.ask<Pet[]>("GET", "/pets?limit=30")).body;
  for (const { id } of pets) await shop.ask("PUT", `/store/inventory/${id}`, { quantity: 1 });
  const page = await shop.open("/categories");
  const asked: string[] = [];
  page.on("request", (request) => void (request.url().includes("/store/inventory") && asked.push(request.url())));
  await goWithin(page, "/dashboard/animals");
  const row = rowOf(page, "Dog 0");
  await row.getByRole("button", { name: "One fewer of Dog 0" }).click();
  await row.getByText("Sold").waitFor();
  assert.equal((await shop.ask<{ quantity: number }>("GET", `/store/inventory/${pets[0]?.id}`)).body.quantity, 0);
  assert.ok(asked.filter((url) => url.includes("?")).length <= 5, asked.join("\n"));
});

test("an animal with an open order cannot be deleted, and the dialog says why; without one it is deleted after a confirmation; choosing animals is accessible, and fits a phone", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const petId = await shop.pet("Rex", await shop.category("Dogs"));
  const order = (await shop.ask<{ id: number }>("POST", "/store/orders", { petId })).body.id;
  const page = await shop.open("/animals");
  await page.getByRole("checkbox", { name: "Choose Rex" }).check();
  await page.getByRole("region", { name: "Chosen animals" }).getByText("1 animal chosen").waitFor();
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("checkbox", { name: "Choose Rex" }).uncheck();
  await choose(page, "Rex", "Delete");
  const dialog = page.getByRole("dialog", { name: "Delete “Rex”?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("This animal has open orders").waitFor();
  await dialog.getByText("Fulfil or cancel its open orders first").waitFor();

  await shop.ask("DELETE", `/store/orders/${order}`);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await rowOf(page, "Rex").waitFor({ state: "detached" });
  assert.deepEqual((await shop.ask("GET", "/pets")).body, []);
});

test("scrolling continues beyond the first page, with few rows in the document", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const animals = Array.from({ length: 250 }, (_, index) => ({ name: `Dog ${String(index).padStart(3, "0")}`, categoryId }));
  await shop.ask("POST", "/pets/batch", animals);
  const page = await shop.open("/animals?sort=name");
  await rowOf(page, "Dog 000").waitFor();
  for (const next of ["Dog 100", "Dog 200", "Dog 249"]) {
    await until(async () => {
      await page.keyboard.press("End"); // of what has loaded so far
      return ((await names(page)).at(-1) ?? "") >= next;
    });
    assert.ok((await page.locator("tbody tr").count()) < 80);
  }
  assert.equal(await page.getByRole("table", { name: "Animals" }).getAttribute("aria-rowcount"), "251");
});
