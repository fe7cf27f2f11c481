import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

test("an offline browser says at once that the service cannot be reached, and continues when it is online", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  for (const name of ["Rex", "Luna"]) await shop.pet(name, categoryId);
  const page = await shop.open("/animals");
  await page.getByRole("link", { name: "Rex" }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("searchbox", { name: "Search by name" }).fill("lu");
  await page.getByRole("alert").getByText("The service could not be reached.").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "Luna" }).waitFor();
  await page.getByRole("link", { name: "Rex" }).waitFor({ state: "detached" });
});

test("an answer from something other than the service is explained in plain words, and the form can be sent again", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  await page.getByRole("button", { name: "New category" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Dogs");
  await page.route("**/dashboard/v1/categories", (route) => route.fulfill({ contentType: "text/html", body: "<h1>Hotel WLAN</h1>" }));
  await dialog.getByRole("button", { name: "Create category" }).click();
  await dialog.getByRole("alert").getByText("Something other than this service answered, perhaps your network’s sign-in page.").waitFor();
  await page.unroute("**/dashboard/v1/categories");
  await dialog.getByRole("button", { name: "Create category" }).click();
  await page.getByText("Category “Dogs” is created.").waitFor();
});

test("a page whose code fails to preload on hover leaves the current page as it is", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open(`/categories?category=${await shop.category("Dogs")}`);
  const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
  await name.fill("Rex");
  const code = "**/assets/orders-page-*.js";
  await page.route(code, (route) => route.abort());
  const failed = page.waitForEvent("requestfailed");
  await page.getByRole("link", { name: "Orders", exact: true }).dispatchEvent("mouseover");
  await failed;
  await page.unroute(code);
  assert.equal(await name.inputValue(), "Rex");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Close without saving" }).click();
  await page.getByRole("dialog").first().waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Orders", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Orders" }).waitFor();
});

test("an answer that arrives after its dialog was closed closes no other dialog, and is shown as a notice", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories");
  const asked = Promise.withResolvers<() => Promise<void>>();
  await page.route("**/dashboard/v1/categories", (route) => asked.resolve(() => route.continue()), { times: 1 });
  await page.getByRole("button", { name: "New category" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New category" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Dogs");
  await dialog.getByRole("button", { name: "Create category" }).click();
  const goOn = await asked.promise;
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "New category" }).first().click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Cats");
  await goOn();
  await page.getByText("Category “Dogs” is created.").waitFor();
  assert.equal(await dialog.getByRole("textbox", { name: "Name" }).inputValue(), "Cats");
});

test("a click outside a dialog does not discard unsaved text", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories?new=true");
  const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
  await name.fill("Dogs");
  await page.mouse.click(5, 5);
  await page.getByRole("dialog").getByRole("button", { name: "Create category" }).click();
  await page.getByText("Category “Dogs” is created.").waitFor();
});
