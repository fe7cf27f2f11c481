import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import type { Download, Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop, pick, type DashboardShop } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Pet } from "./support/models.ts";
import { startService } from "./support/service.ts";

const sample = fileURLToPath(new URL("../examples/longbeach-sample.csv", import.meta.url));

const [browser, service] = await stage(startService);

async function give(page: Page, file: string): Promise<void> {
  await page.goto(`${service.address}/dashboard/import`);
  await page.locator("input[type=file]").setInputFiles(file);
}

const start = (page: Page, animals: string) => page.getByRole("button", { name: `Import ${animals} animals`, exact: true });

async function summary(page: Page): Promise<string> {
  await page.getByRole("heading", { name: "Done" }).waitFor();
  return page.getByText(/created, .* unchanged/).innerText();
}

async function petsOf(shop: DashboardShop): Promise<Pet[]> {
  const pets: Pet[] = [];
  let path: string | undefined = "/pets?limit=100";
  while (path !== undefined) {
    const page: { body: Pet[]; headers: Headers } = await shop.ask<Pet[]>("GET", path);
    pets.push(...page.body);
    path = /<\/v1([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1];
  }
  return pets;
}

/** Lets what the browser remembers of unanswered batches be `ms` older; runs in the page. */
const ageBatches = `(ms) => new Promise((done, failed) => {
  const opening = indexedDB.open("petstore-imports");
  opening.onsuccess = () => {
    const transaction = opening.result.transaction("imports", "readwrite");
    transaction.oncomplete = done;
    transaction.onabort = failed;
    transaction.objectStore("imports").openCursor().onsuccess = ({ target: { result: cursor } }) => {
      if (!cursor) return;
      cursor.value.batch.sentAt -= ms;
      cursor.update(cursor.value);
      cursor.continue();
    };
  };
})`;

async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), "utf8");
}

test("the shelter's file is mapped by a guess, imported with its rejects, and a second run adds nothing", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/import");
  await give(page, sample);
  await start(page, "785").waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Source id" }).inputValue(), "animal_id");
  assert.equal(await page.getByRole("combobox", { name: "Status for foster", exact: true }).inputValue(), "Pending");

  // without a column for nameless animals, theirs are the rows that cannot be taken
  await page.getByRole("button", { name: "Clear the name’s second column" }).click();
  await page.getByText(/^Rejected rows: 2\d\d$/).waitFor();
  const rejected = Number(/\d+$/.exec(await page.getByText(/^Rejected rows/).innerText())?.[0]);
  await start(page, String(785 - rejected)).click();
  assert.equal(await summary(page), `${785 - rejected} created, 0 changed, 0 unchanged, ${rejected} rejected.`);
  assert.equal((await petsOf(shop)).length, 785 - rejected);

  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download the rejects as CSV" }).click(),
  ]);
  const rows = parse<Record<string, string>>(await textOf(file), { columns: true });
  assert.equal(rows.length, rejected);
  assert.ok(rows.every(({ reason, line, animal_id }) => reason === "no name: animal_name empty" && Number(line) > 1 && animal_id));

  await give(page, sample);
  await page.getByText("Everything in this file is in the store already.").waitFor();
  await pick(page, "Name, if that is empty", "animal_id");
  await start(page, String(rejected)).click();
  assert.equal(await summary(page), `${rejected} created, 0 changed, ${785 - rejected} unchanged, 0 rejected.`);
  const pets = await petsOf(shop);
  assert.equal(pets.length, 785);
  assert.equal(new Set(pets.map(({ id }) => id)).size, 785);
});

test("a changed row changes its animal, under the id that it has; where nothing is remembered, the same file is not loaded twice", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "animals.csv");
  await writeFile(file, "id,name,species\n1,Rex,dog\n2,Tom,cat\n");
  const page = await shop.open("/import");
  await give(page, file);
  await start(page, "2").click();
  await summary(page);
  const first = await petsOf(shop);

  const elsewhere = await shop.open("/import");
  await give(elsewhere, file);
  await start(elsewhere, "2").click();
  await summary(elsewhere);
  assert.deepEqual(await petsOf(shop), first, "the same rows make the same Idempotency-Keys");

  await writeFile(file, "id,name,species\n1,Rex,dog\n2,Tomcat,cat\n3,<b>Ida</b>,dog\n");
  await give(page, file);
  await page.getByText("<b>Ida</b>").waitFor();
  await start(page, "2").click();
  assert.equal(await summary(page), "1 created, 1 changed, 1 unchanged, 0 rejected.");
  const pets = await petsOf(shop);
  assert.deepEqual(
    pets.map(({ id, name }) => [id, name]),
    [
      [first[0]?.id, "Rex"],
      [first[1]?.id, "Tomcat"],
      [pets[2]?.id, "<b>Ida</b>"],
    ],
  );
});

test("an import that is stopped goes on where it was, and makes nothing twice", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "many.csv");
  const rows = Array.from({ length: 2_500 }, (_, index) => `${index},Dog ${index},dog`);
  await writeFile(file, ["id,name,type", ...rows].join("\n"));
  const page = await shop.open("/import");
  let batches = 0;
  const answered = Promise.withResolvers<void>();
  await page.context().route("**/pets/batch", async (route) => {
    batches += 1;
    const answer = batches === 2 ? await route.fetch() : undefined;
    // the service has made the second batch, but its answer never comes
    if (answer) answered.resolve();
    else await route.continue();
  });
  await give(page, file);
  await start(page, "2,500").click();
  await answered.promise;
  await page.getByText("1,000 of 2,500 animals").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("1,000 animals are done.").waitFor();

  await page.context().unroute("**/pets/batch");
  await page.getByRole("button", { name: "Try again" }).click();
  assert.equal(await summary(page), "500 created, 0 changed, 2,000 unchanged, 0 rejected.");
  const pets = await petsOf(shop);
  assert.equal(new Set(pets.map(({ name }) => name)).size, 2_500);
  assert.equal(pets.length, 2_500);
});

test("a batch whose answer nobody can ask for any more is told of, and sent again only when somebody says so", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "lost.csv");
  await writeFile(file, "id,name,type\n1,Rex,dog\n");
  const page = await shop.open("/import");
  const sent = Promise.withResolvers<void>();
  await page.context().route("**/pets/batch", () => sent.resolve());
  await give(page, file);
  await page.getByRole("button", { name: "Import 1 animal" }).click();
  await sent.promise;
  await page.getByRole("button", { name: "Stop" }).click();
  await page.context().unroute("**/pets/batch");
  await page.evaluate(`(${ageBatches})(24 * 3_600_000)`);

  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText(/before the service confirmed its last animals \(1, beginning with “Rex”, on .*too late to find out/).waitFor();
  assert.deepEqual(await petsOf(shop), []);
  await page.getByRole("button", { name: "Send these animals again" }).click();
  assert.equal(await summary(page), "0 created, 0 changed, 1 unchanged, 0 rejected.");
  assert.equal((await petsOf(shop)).length, 1);
});

test("while a limit is reached the import waits as long as it is told, and then goes on", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "few.csv");
  await writeFile(file, "id,name,type\n1,Rex,dog\n");
  const page = await shop.open("/import");
  let refusals = 0;
  await page.context().route("**/pets/batch", async (route) => {
    refusals += 1;
    const json = { code: "rate_limit_exceeded", message: "Too many.", status: 429 };
    return refusals === 1 ? route.fulfill({ status: 429, headers: { "retry-after": "1" }, json }) : route.continue();
  });
  await give(page, file);
  await page.getByRole("button", { name: "Import 1 animal" }).click();
  assert.equal(await summary(page), "1 created, 0 changed, 0 unchanged, 0 rejected.");
  assert.equal(refusals, 2);
});

test("a file that cannot be read is refused in words before anything is sent", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const folder = temporaryFolder(t);
  const page = await shop.open("/import");
  const cases: [string, string | Buffer, RegExp][] = [
    ["quote.csv", 'id,name\n1,"Rex\n', /a quote is opened after line 1 and never closed/],
    ["latin.csv", Buffer.from("id,name\n1,Ros\u00e9\n", "latin1"), /is not UTF-8 text/],
    ["empty.csv", "", /is empty: not even a header line/],
    ["header.csv", "id,name\n", /a header line and nothing below it/],
  ];
  for (const [name, content, words] of cases) {
    await writeFile(join(folder, name), content);
    await give(page, join(folder, name));
    await page.getByText(words).waitFor();
  }
  assert.deepEqual(await petsOf(shop), []);
});

test("an export holds every animal that the filters show, as CSV and as JSON lines", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const animals = Array.from({ length: 230 }, (_, index) => ({
    name: index === 0 ? 'The "one", of\nmany' : `Dog ${index}`,
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
  const rows = parse<Record<string, string>>(await textOf(csv), { columns: true });
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
