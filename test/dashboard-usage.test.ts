import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { Project } from "../src/publishing/projects/projects.ts";
import { stage } from "./support/browser.ts";
import { assertAccessibleOnPhone, findings, goWithin } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(startService);

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const cellsOf = (page: Page, table: string, row: string) =>
  page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: row }).getByRole("cell").allInnerTexts();

/** Opens the usage of an account with a limit of `perDay`, after it has sent `requests`. */
async function openUsage(t: TestContext, { perDay, requests, ...options }: { perDay: number; requests: number; timezoneId?: string }) {
  const { id: account, key } = await service.newAccount("enterprise", { perMinute: 1_000, perDay });
  for (let i = 0; i < requests; i++) await service.ask("GET", "/pets", { key });
  const visited = await visitSignedIn(t, browser, service, "/dashboard/usage", { account, ...options });
  const name = await visited.page.getByRole("table", { name: "Blocked keys" }).getByRole("cell").first().innerText();
  return { ...visited, account, key, name };
}

test("a request just made and a refusal appear by key and by operation, with the requests left", async (t) => {
  const { page, name } = await openUsage(t, { perDay: 2, requests: 3 });
  await page.getByRole("table", { name: "By key" }).waitFor();
  assert.deepEqual(await cellsOf(page, "By key", name), [name, "3", "1", "0"]);
  assert.deepEqual(await cellsOf(page, "By kind of request", "listPets"), ["listPets", "3", "1", "0"]);
  const left = region(page, "Requests left");
  await left.getByText("of 2 requests left").waitFor();
  await left
    .getByText(/2 used · Resets in [\d:]+(?: s)?, at \d\d:\d\d:\d\d/)
    .last()
    .waitFor();
  await page.getByRole("img", { name: /Requests in the last hour by minute: 3 in all/ }).waitFor();
});

test("a browser with a wrong clock shows the right time left", async (t) => {
  const { page } = await openUsage(t, { perDay: 1_000, requests: 1 });
  for (const wrongBy of [-7_200_000, 7_200_000]) {
    await page.clock.install({ time: Date.now() + wrongBy });
    await page.reload();
    const ofMinute = region(page, "Requests left").getByText(/Resets in (?:\d\d? s|1:0\d), at/);
    await ofMinute.first().waitFor();
  }
});

test("the page shows how many strikes a key has, and when a ban ends; axe finds nothing, and it fits a phone", async (t) => {
  const { page, key, name } = await openUsage(t, { perDay: 1, requests: 4 });
  const bans = region(page, "Blocked keys");
  await bans.getByRole("table").waitFor();
  assert.deepEqual(await cellsOf(page, "Blocked keys", name), [name, "3", "197", "Works"]);
  await page.getByRole("img", { name: /: 4 in all/ }).waitFor();
  await page.getByText("As a table").click();
  await assertAccessibleOnPhone(page);
  for (let i = 0; i < 200; i++) await service.ask("GET", "/pets", { key });
  await bans.getByText(/^Blocked for [\d:]+(?: s)?, until \d\d:\d\d:\d\d$/).waitFor();
});

test("the page shows storage used and allowed, and a refused addition links to it", async (t) => {
  const { page, account, key } = await openUsage(t, { perDay: 1_000, requests: 1 });
  const terms = { id: account, plan: "free", records: 4, publishedBytes: 3_000_000, eventBytes: 30_000_000 };
  await service.administration["accounts.setPlan"](terms);
  const { id: categoryId } = await newCategory(service, "Dogs", key);
  await newPet(service, categoryId, {}, key);
  const project = await made<Project>(service, "POST", "/projects", { name: "Shop", slug: "stored" }, key);
  const site = await packSite({ "index.html": "x".repeat(1_048_576), "petstore.json": "{}" });
  await service.ask("POST", `/projects/${project.id}/deployments`, { key, body: site, headers: { "content-type": "application/gzip" } });
  await service.publishing.idle();

  const stored = region(page, "Storage");
  await stored.getByText("2 of 4 left").waitFor();
  await stored.getByText("2 stored · Animals, categories, open orders and stock counts").waitFor();
  await stored.getByText("1.9 MiB of 2.9 MiB left").waitFor();
  await stored.getByText("1 MiB stored · Everything that your projects keep").waitFor();
  await stored.getByText("28.6 MiB of 28.6 MiB left").waitFor();
  await stored.getByText(/^[2-9](?:\.\d)? KiB stored · What changed in your shop, and who did it$/).waitFor();

  await service.administration["accounts.setPlan"]({ ...terms, records: 1 });
  await stored.getByText("0 of 1 left").waitFor();
  await goWithin(page, "/dashboard/categories");
  await page.getByRole("button", { name: "New category" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Cats");
  await dialog.getByRole("button", { name: "Create category" }).click();
  const alert = dialog.getByRole("alert");
  await alert.getByText("Your plan has no room for this.").waitFor();
});

test("a new request appears while the page is open; the chart can show one key or one operation, at its own address", async (t) => {
  const { page, key, name } = await openUsage(t, { perDay: 1_000, requests: 2 });
  await page.getByRole("img", { name: /: 2 in all/ }).waitFor();
  await service.ask("GET", "/categories", { key });
  await page.getByRole("img", { name: /: 3 in all/ }).waitFor();
  assert.deepEqual(await cellsOf(page, "By key", name), [name, "3", "0", "0"]);
  await region(page, "Requests left")
    .getByText(/^3 used/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "listPets" }).click();
  await page.getByText("Only listPets is shown.").waitFor();
  await page.getByRole("img", { name: /: 2 in all/ }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("operation"), "listPets");
  await page.reload();
  await page.getByText("Only listPets is shown.").waitFor();
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("img", { name: /: 3 in all/ }).waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByText(/is shown\.$/).waitFor({ state: "detached" });
});

test("the chart also has hours and days, and its table uses the reader's time zone", async (t) => {
  const { page } = await openUsage(t, { perDay: 1_000, requests: 2, timezoneId: "Asia/Kathmandu" });
  for (const [interval, label] of [
    ["Last 7 days", /Requests in the last 7 days by hour: 2 in all/],
    ["Last 90 days", /Requests in the last 90 days by day: 2 in all/],
  ] as const) {
    await page.getByText(interval).click();
    await page.getByRole("img", { name: label }).waitFor();
  }
  await page.getByText("As a table").click();
  const moment = page.getByRole("table", { name: "Requests", exact: true }).locator("time");
  assert.match((await moment.getAttribute("datetime")) ?? "", /T00:00:00/, "a day of UTC");
  assert.match(await moment.innerText(), /, 05:45$/, "which begins at a quarter to six in Kathmandu");
  assert.deepEqual(await findings(page), []);
});

test("a member sees the usage, which does not count the dashboard's own requests; only pages with a chart load the chart's code", async (t) => {
  const { id: account } = await service.newAccount();
  const { page, requests } = await visitSignedIn(t, browser, service, "/dashboard/account", { account, role: "member" });
  const isOfChart = (request: string) => /\/chart-[\w-]+\.js$/.test(request);
  await page.waitForLoadState("networkidle");
  assert.deepEqual(requests.filter(isOfChart), []);
  await goWithin(page, "/dashboard/usage");
  await page.getByRole("img", { name: /: 0 in all/ }).waitFor();
  assert.equal(requests.filter(isOfChart).length, 1);
  await page.getByText("No requests yet").waitFor();
  await page.reload();
  await page.getByRole("img", { name: /: 0 in all/ }).waitFor();
  await region(page, "Requests left")
    .getByText(/^0 used/)
    .first()
    .waitFor();
});

test("the log lists the last requests with their answers, by key and class of answer, page by page; axe finds nothing, and it fits a phone", async (t) => {
  const { page, key, name } = await openUsage(t, { perDay: 1_000, requests: 22 });
  await service.ask("GET", "/pets/4711", { key });
  await service.ask("GET", "/nowhere", { key });
  const log = region(page, "Last requests");
  await log.getByRole("cell", { name: "GET Unknown path" }).waitFor();
  const rows = log
    .getByRole("table")
    .getByRole("row")
    .filter({ has: page.getByRole("cell") });
  assert.match(await rows.nth(1).innerText(), /GET\s+\/v1\/pets\/\{petId\}\s+404/);
  assert.ok((await rows.nth(2).innerText()).includes(name));
  assert.equal(await rows.count(), 20);
  await log.getByRole("button", { name: "Load more" }).click();
  await rows.nth(23).waitFor();
  assert.equal(await rows.count(), 24);
  await log.getByRole("combobox", { name: "Answer" }).click();
  await page.getByRole("option", { name: "4xx Refused" }).click();
  await until(async () => (await rows.count()) === 2);
  const ofKey = log.getByRole("combobox", { name: "Key" });
  await ofKey.click();
  await page.getByRole("option", { name }).click();
  await until(async () => (await ofKey.inputValue()) === name && (await rows.count()) === 2);
  await assertAccessibleOnPhone(page);
  await log.getByRole("button", { name: "Clear filters" }).click();
  // both pages that were read before are shown again
  await rows.nth(23).waitFor();
  assert.equal(await rows.count(), 24);
});
