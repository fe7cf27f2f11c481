import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop, type DashboardShop } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { give, petsOf, start, summary } from "./support/import-page.ts";
import type { Import, Result } from "./support/imports.ts";
import { assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const table = (page: Page) => page.getByRole("table", { name: "Past imports" });
const rowOf = (page: Page, file: string) => table(page).locator("tbody tr").filter({ hasText: file });

/** Imports animals with these names, each by its name, and returns them in their order. */
async function importAs(shop: DashboardShop, fileName: string, names: string[], rejected = 0): Promise<Result[]> {
  const { body: begun } = await shop.ask<Import>("POST", "/imports", { source: "Register", fileName, categories: ["Dogs"] });
  const { body: categories } = await shop.ask<{ id: number }[]>("GET", "/categories");
  const rows = names.map((name) => ({ sourceId: name.slice(0, 3), pet: { name, categoryId: categories[0]!.id }, quantity: 1 }));
  const query = `last=true&rejected=${rejected}`;
  const { status, body } = await shop.ask<Result[]>("POST", `/imports/${begun.id}/rows?${query}`, rows);
  assert.equal(status, 200);
  return body;
}

test("past imports show what each did, and who made it; an undo says before what it takes back, and afterwards what stays and why", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const [rex, luna] = await importAs(shop, "january.csv", ["Rex", "Luna", "Tom"], 2);
  await importAs(shop, "february.csv", ["Rexy", "Luna", "Tom", "Ida"]);
  await shop.ask("POST", "/store/orders", { petId: luna!.petId });
  await shop.ask("PATCH", `/pets/${rex!.petId}`, { name: "Rexine" });

  const page = await shop.open("/import");
  await rowOf(page, "january.csv").getByText("3 new, 2 rejected").waitFor();
  const second = rowOf(page, "february.csv");
  await second.getByText("1 new, 1 changed, 2 unchanged").waitFor();
  await second.getByText("from “Register”").waitFor();
  await second.getByText(/^Key \d+$/).waitFor();
  assert.deepEqual(await table(page).locator("tbody tr strong").allInnerTexts(), ["february.csv", "january.csv"]);
  await assertAccessibleOnPhone(page, "the list");

  await second.getByRole("button", { name: /^Undo february.csv, / }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Undo the import of february.csv?" });
  await dialog.getByText("The animal that it added is deleted, with its stock, description and photos.").waitFor();
  await dialog.getByText("The animal that it changed gets its earlier values.").waitFor();
  await assertAccessibleOnPhone(page, "the question");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("The import of february.csv is undone, but 1 animal stays.").waitFor();
  await second.getByText("Undone", { exact: true }).waitFor();
  assert.equal(await second.getByRole("button", { name: /^Undo/ }).count(), 0);
  await second.getByRole("button", { name: "1 animal stays" }).click();
  const details = page.getByRole("dialog", { name: "Import of february.csv" });
  await details.getByText("It was changed after the import.").waitFor();
  await assertAccessibleOnPhone(page, "what stays");
  await details.getByRole("link", { name: "Rexine" }).click();
  await page.getByRole("heading", { level: 1, name: "Rexine" }).waitFor();
  assert.deepEqual(
    (await petsOf(shop)).map(({ name }) => name),
    ["Rexine", "Luna", "Tom"],
  );
});

test("an undo shows how far it is, and an import that has just been made can be undone at once", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "animals.csv");
  await writeFile(file, ["id,name,species", ...Array.from({ length: 450 }, (_, n) => `${n},Dog ${n},dog`)].join("\n"));
  const page = await shop.open("/import");
  assert.equal(await table(page).count(), 0, "nothing was imported before");
  await give(page, file);
  await start(page, "450").click();
  await summary(page);
  const row = rowOf(page, "animals.csv");
  await row.getByText("450 new").waitFor();

  const shown = Promise.withResolvers<void>();
  await page.context().route(/\/dashboard\/v1\/imports\?/, async (route) => {
    await shown.promise; // the service may be done before the page has asked
    await route.continue();
  });
  await page.context().route(/\/imports\/\d+\/undo$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as Import), undone: 200 } });
  });
  await row.getByRole("button", { name: /^Undo animals.csv, / }).click();
  await page.getByRole("dialog").getByText("The 450 animals that it added are deleted").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await row.getByText("200 of 450 animals").waitFor();
  assert.ok(await row.getByRole("progressbar", { name: "Being undone" }).isVisible());
  await assertAccessibleOnPhone(page, "an undo that is under way");
  shown.resolve();
  await page.getByText("The import of animals.csv is undone.").waitFor();
  assert.deepEqual(await petsOf(shop), []);
});
