import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop, pick } from "./support/dashboard-shop.ts";
import { allNumbered } from "./support/event-log.ts";
import { assertAccessibleOnPhone, goWithin } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const tableOf = (page: Page) => page.getByRole("table", { name: "Activity" });
const entries = (page: Page) => tableOf(page).getByRole("link").allInnerTexts();
const entry = (page: Page, name: string) => tableOf(page).getByRole("link", { name, exact: true }).first();
const panelOf = (page: Page) => page.getByRole("dialog");

/** A shop with a renamed animal and an edited webhook. */
async function openScene(t: TestContext) {
  const shop = await openDashboardShop(t, browser, service);
  const pet = await shop.pet("Rex", await shop.category("Dogs"));
  await shop.ask("PATCH", `/pets/${pet}`, { name: "Rexona" });
  const { body: hook } = await shop.ask<{ id: number }>("POST", "/webhooks", { url: "https://hooks.example.com/x" });
  await shop.ask("PATCH", `/webhooks/${hook.id}`, { description: "Our warehouse", types: ["order.*"] });
  await allNumbered(service.db);
  return shop;
}

test("an owner sees who did what, newest first, and a row opens the fields that it changed, before and after", async (t) => {
  const shop = await openScene(t);
  const page = await shop.open("/webhooks");
  await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Activity" }).click();
  await entry(page, "Signed in").waitFor();
  const changed = "Changed the receiver https://hooks.example.com/x";
  const [, , invited, ...others] = await entries(page);
  assert.match(invited!, /^Invited person[0-9]+@shop\.example$/);
  assert.deepEqual(others.slice(0, 2), [changed, "Added the receiver https://hooks.example.com/x"]);
  const row = tableOf(page).getByRole("row", { name: changed });
  assert.match(await row.innerText(), /Key [0-9]+/);
  await row.getByRole("cell").last().click();
  await panelOf(page).getByRole("row", { name: "Description None Our warehouse" }).waitFor();
  await panelOf(page).getByRole("row", { name: "What it gets Everything order.*" }).waitFor();
  await page.reload();
  await panelOf(page).getByRole("row", { name: "Description None Our warehouse" }).waitFor();
  await panelOf(page).getByRole("button", { name: "Show everything from this request" }).click();
  await panelOf(page).waitFor({ state: "detached" });
  await entry(page, "Signed in").waitFor({ state: "detached" });
  await entry(page, changed).waitFor();
  assert.deepEqual(await entries(page), [changed]);
});

test("the list is filtered by person or key, kind, day and request, and the address holds the filters", async (t) => {
  const shop = await openScene(t);
  const page = await shop.open("/activity");
  await entry(page, "Signed in").waitFor();
  await pick(page, "Kind", "Animals");
  await entry(page, "Changed the animal Rexona").waitFor();
  assert.deepEqual(await entries(page), ["Changed the animal Rexona", "Added the animal Rex"]);
  await entry(page, "Changed the animal Rexona").click();
  await panelOf(page).getByRole("row", { name: "Name Rex Rexona" }).waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await entry(page, "Added the animal Rex").waitFor();
  await pick(page, "Who", /@shop\.example/);
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await entry(page, "Signed in").waitFor();
  await page.getByLabel("From", { exact: true }).fill("2100-01-01");
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByLabel("From", { exact: true }).fill("2000-01-01");
  await entry(page, "Signed in").waitFor();
  await page.getByLabel("To", { exact: true }).fill("2000-01-02");
  await page.getByText("Nothing matches these filters").waitFor();
  assert.match(page.url(), /from=2000-01-01&to=2000-01-02/);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Request id").fill("nobody-sent-this");
  await page.getByText("Nothing matches these filters").waitFor();
});

test("older entries are loaded page by page, and all are downloaded as CSV", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  for (let i = 1; i <= 55; i++) await shop.category(`Group ${i}`);
  await allNumbered(service.db);
  const page = await shop.open("/activity?kind=category");
  await entry(page, "Added the category Group 55").waitFor();
  assert.equal(await tableOf(page).getAttribute("aria-rowcount"), "51");
  await page.getByRole("button", { name: "Load more" }).click();
  await page.locator("table[aria-rowcount='56']").waitFor();
  await page.getByRole("button", { name: "Load more" }).waitFor({ state: "detached" });
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download as CSV" }).click()]);
  assert.equal(file.suggestedFilename(), "activity.csv");
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
  assert.deepEqual([lines.length, lines[1]!.includes("Group 55"), lines[55]!.includes('Group 1"')], [56, true, true]);
});

test("a failure says so in a plain sentence, and the page can be tried again", async (t) => {
  const shop = await openScene(t);
  const page = await shop.open("/usage");
  await page.route("**/dashboard/v1/audit**", (route) => route.abort());
  await goWithin(page, "/dashboard/activity");
  await page.getByRole("alert").getByText("The service could not be reached.").waitFor({ timeout: 15_000 });
  await page.getByRole("button", { name: "Download as CSV" }).click();
  await page.getByText("The file could not be downloaded completely.").waitFor();
  await page.unroute("**/dashboard/v1/audit**");
  await page.getByRole("button", { name: "Try again" }).click();
  await entry(page, "Signed in").waitFor();
  await page.goto(`${service.address}/dashboard/activity?event=99999`);
  await panelOf(page).getByText("This entry is no longer kept").waitFor();
});

test("a member who is not an owner sees whom to ask", async (t) => {
  const shop = await openScene(t);
  const page = await shop.open("/activity", { role: "member" });
  await page.getByText("Only owners can see this page").waitFor();
  assert.equal(await tableOf(page).count(), 0);
  await assertAccessibleOnPhone(page);
});

test("activity: axe finds nothing, and it fits a phone", async (t) => {
  const shop = await openScene(t);
  const page = await shop.open("/activity");
  await entry(page, "Signed in").waitFor();
  await assertAccessibleOnPhone(page, "the list");
  await page.getByRole("button", { name: "Filters" }).click();
  await assertAccessibleOnPhone(page, "the filters");
  await entry(page, "Changed the receiver https://hooks.example.com/x").click();
  await panelOf(page).getByRole("table", { name: "What changed" }).waitFor();
  await assertAccessibleOnPhone(page, "an entry");
});
