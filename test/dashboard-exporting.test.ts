import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { give, summary, petsOf, textOf } from "./support/import-page.ts";
import type { Pet } from "./support/models.ts";
import { goWithin } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

test("our own export, edited, changes the same animals, and a saved mapping can be loaded", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("Dogs");
  const [rex, tom, ida] = [await shop.pet("Rex", dogs), await shop.pet("Tom", dogs), await shop.pet("Ida", dogs)];
  await shop.ask("PUT", `/store/inventory/${tom}`, { quantity: 3 });
  const page = await shop.open("/animals?export=true");
  const dialog = page.getByRole("dialog", { name: "Export animals" });
  const [csv] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Export" }).click()]);
  const text = await textOf(csv);
  assert.match(text.split("\n")[2] ?? "", new RegExp(`^${tom},Tom,${dogs},available,Dogs,3,x(-[0-9a-f]{8}){5}$`));
  // The stock of Ida changes after the export.
  await shop.ask("PUT", `/store/inventory/${ida}`, { quantity: 7 });
  const edited = text
    .replace(`${rex},Rex,${dogs},available,Dogs,`, `${rex},Rexi,${dogs},pending,Puppies,`)
    .replace(",Dogs,3", ",Dogs,5")
    .replace(`${ida},Ida,${dogs},available,Dogs,,`, `${ida},Ida,${dogs},available,Dogs,1,`)
    .replace(/$/, `999999,Ghost,${dogs},sold,Dogs,,\n`);
  const file = join(temporaryFolder(t), "animals.csv");
  await writeFile(file, edited.replaceAll(",", ";"));
  await goWithin(page, "/dashboard/import");
  await give(page, file);
  await page.getByText("Name: Rex → Rexi").waitFor();
  await page.getByText("Stock: 3 → 5").waitFor();
  await page.getByText("Stock: stays 7, not 1").waitFor();
  await page.getByRole("checkbox", { name: "Use the values of the file all the same" }).waitFor();
  await page.getByText("there is no animal 999999 any more").waitFor();
  await page.getByRole("button", { name: "Change 2 animals" }).click();
  assert.equal(await summary(page), "0 created, 2 changed, 1 unchanged, 1 rejected.");
  await page
    .getByRole("row", { name: /animals.csv.*2 changed, 1 rejected/s })
    .getByText("from “Edited export”")
    .waitFor();
  const { body: categories } = await shop.ask<{ id: number; name: string }[]>("GET", "/categories");
  const puppies = categories.find(({ name }) => name === "Puppies")?.id;
  assert.deepEqual(await petsOf(shop), [
    { id: rex, name: "Rexi", categoryId: puppies, status: "pending" },
    { id: tom, name: "Tom", categoryId: dogs, status: "available" },
    { id: ida, name: "Ida", categoryId: dogs, status: "available" },
  ]);
  assert.equal((await shop.ask<{ quantity: number }>("GET", `/store/inventory/${tom}`)).body.quantity, 5);
  assert.equal((await shop.ask<{ quantity: number }>("GET", `/store/inventory/${ida}`)).body.quantity, 7);

  await writeFile(file, "who,what\nAda,dog\n");
  await give(page, file);
  const load = page.locator('input[accept*="json"]');
  const mapping = join(temporaryFolder(t), "mapping.json");
  await writeFile(mapping, JSON.stringify({ name: { columns: ["nobody"] }, category: { columns: ["what"] } }));
  await load.setInputFiles(mapping);
  await page.getByText("That file has no saved columns").waitFor();
  await writeFile(mapping, JSON.stringify({ name: { columns: ["who"] }, category: { columns: ["what"] } }));
  await load.setInputFiles(mapping);
  await page.getByRole("cell", { name: "dog" }).waitFor();
});

test("an export holds every animal that the filters show, as CSV and as JSON lines", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const animals = Array.from({ length: 230 }, (_, index) => ({
    name: index === 0 ? 'The "one", of many' : `Dog ${index}`,
    categoryId,
    status: index % 2 === 0 ? "sold" : "available",
  }));
  await shop.ask("POST", "/pets/batch", animals);
  const all = await petsOf(shop);
  const page = await shop.open("/animals");

  await page.getByRole("button", { name: "Export" }).click();
  const dialog = page.getByRole("dialog", { name: "Export animals" });
  const [csv] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Export" }).click()]);
  assert.equal(csv.suggestedFilename(), "animals.csv");
  const text = await textOf(csv);
  assert.ok(text.startsWith("\uFEFF"), "so that Excel reads it as UTF-8");
  const rows = parse<Record<string, string>>(text, { columns: true, bom: true });
  assert.deepEqual(
    rows.map(({ id, name, categoryId: category, status }) => ({ id: Number(id), name, categoryId: Number(category), status })),
    all,
  );

  await page.goto(`${service.address}/dashboard/animals?status=sold&export=true`);
  await dialog.getByRole("radio", { name: /^JSON lines/ }).check();
  const [ndjson] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Export" }).click()]);
  const lines = (await textOf(ndjson)).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as Pet),
    all.filter(({ status }) => status === "sold"),
  );
});
