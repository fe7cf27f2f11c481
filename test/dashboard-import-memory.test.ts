import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { hashOf } from "../src/importing/memory.ts";
import { stage } from "./support/browser.ts";
import { openDashboardShop, pick } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { give, petsOf, start, summary } from "./support/import-page.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

type Remembered = { account: number; name: string; head: object; animals: { sourceId: string; petId: number; hash: string }[] };

/** Makes the browser know an import, as releases before 1.2 stored it. */
async function remember(page: Page, { account, name, head, animals }: Remembered): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("petstore-imports", 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore("imports");
      opening.result.createObjectStore("animals");
    };
    opening.onerror = reject;
    opening.onsuccess = () => {
      const transaction = opening.result.transaction(["imports", "animals"], "readwrite");
      const of = ${JSON.stringify([account, name])};
      transaction.objectStore("imports").put(${JSON.stringify(head)}, of);
      for (const animal of ${JSON.stringify(animals)}) transaction.objectStore("animals").put(animal, [...of, animal.sourceId]);
      transaction.oncomplete = () => { opening.result.close(); resolve(); };
    };
  })`);
}

/** The imports that the browser still knows by the old form. */
const rememberedIn = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const opening = indexedDB.open("petstore-imports", 1);
    opening.onsuccess = () => {
      const counting = opening.result.transaction("imports").objectStore("imports").count();
      counting.onsuccess = () => { opening.result.close(); resolve(counting.result); };
    };
  })`);

test("the page hands over what an earlier release remembered in the browser, once, and creates nothing twice", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const dogs = await shop.category("dog");
  const rex = await shop.pet("Rex", dogs);
  const tom = await shop.pet("Tom", dogs);
  const file = join(temporaryFolder(t), "animals.csv");
  // The number of each animal is in a column that the guess would not choose.
  await writeFile(file, "id,chip,name,species,status\n9,A1,Rex,dog,unknown\n8,A2,Tomcat,dog,available\n7,A3,Ida,dog,available\n");
  const page = await shop.open("/import");
  const animals = [
    { sourceId: "A1", petId: rex, hash: hashOf({ sourceId: "A1", name: "Rex", category: "dog", status: "available" }) },
    { sourceId: "A2", petId: tom, hash: hashOf({ sourceId: "A2", name: "Tom", category: "dog", status: "available" }) },
  ];
  const status = { columns: ["status"], values: { unknown: "available", available: "available" } };
  const mapping = { id: "chip", name: { columns: ["name"] }, category: { columns: ["species"] }, status };
  await remember(page, { account: shop.id, name: "animals.csv", head: { batch: null, mapping, usedAt: 0 }, animals });
  await give(page, file);
  assert.equal(await page.getByRole("combobox", { name: "Number of each animal" }).inputValue(), "chip");
  await page.getByText("1 value needs a status").waitFor();
  await pick(page, "Status for unknown", "Available");
  await page.getByRole("button", { name: "Import 1 animal", exact: true }).click();
  assert.equal(await summary(page), "1 created, 1 changed, 1 unchanged, 0 rejected.");
  assert.deepEqual((await petsOf(shop)).map(({ id, name }) => [id, name]).slice(0, 2), [
    [rex, "Rex"],
    [tom, "Tomcat"],
  ]);
  assert.equal(await rememberedIn(page), 0);
  await give(page, file);
  await page.getByText("Everything in this file is in the shop already.").waitFor();
});

test("the page remembers the columns and answers of the last import of such a file, and asks about new values alone", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const folder = temporaryFolder(t);
  const january = join(folder, "january.csv");
  await writeFile(january, "id,name,call name,species,status\n1,Rex von Stein,Rex,dog,blue\n2,Tom,Tom,cat,red\n");
  const page = await shop.open("/import");
  await give(page, january);
  await page.getByText("2 values need a status").waitFor();
  await pick(page, "Name", "call name");
  await pick(page, "Status for blue", "Available");
  await pick(page, "Status for red", "Sold");
  await page.getByLabel("Where the animals come from").first().fill("Cattery");
  await start(page, "2").click();
  await summary(page);

  const february = join(folder, "other.csv");
  await writeFile(february, "status,species,call name,name,id\nred,dog,Rex,Rex von Stein,1\nwhite,cat,Mia,Mia,3\n");
  await page.reload();
  await give(page, february);
  await page.getByText("As in the last import of such a file.").waitFor();
  await page.getByText("1 value needs a status").waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Name", exact: true }).inputValue(), "call name");
  assert.equal(await page.getByRole("combobox", { name: "Status for red", exact: true }).inputValue(), "Sold");
  assert.equal(await page.getByLabel("Where the animals come from").first().inputValue(), "Cattery");
  await pick(page, "Status for white", "Pending");
  await start(page, "2").click();
  assert.equal(await summary(page), "1 created, 1 changed, 0 unchanged, 0 rejected.");

  const other = join(folder, "others.csv");
  await writeFile(other, "id,name,species\n1,Ada,dog\n");
  await give(page, other);
  await page.getByText("Guessed from the header line and the values.").waitFor();
});
