import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { stage } from "./support/browser.ts";
import { openDashboardShop, pick } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { give, start, summary, petsOf, textOf } from "./support/import-page.ts";
import { assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const sample = fileURLToPath(new URL("../examples/longbeach-sample.csv", import.meta.url));

const [browser, service] = await stage(startService);

test("the import guesses the mapping of a shelter's file, reports its rejects accessibly, and adds nothing on a second run", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/import");
  await give(page, sample);
  await page.getByText("1 value needs a status").waitFor();
  assert.ok(await page.getByRole("button", { name: /^Import \d+ animals$/ }).isDisabled());
  await pick(page, "Status for (empty)", "Available");
  await start(page, "785").waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Number of each animal" }).inputValue(), "animal_id");
  assert.equal(await page.getByRole("combobox", { name: "Status for foster", exact: true }).inputValue(), "Pending");

  // without a column for nameless animals, theirs are the rows that cannot be taken
  await page.getByRole("button", { name: "Clear the name’s second column" }).click();
  await page.getByText(/^Rejected rows: 2\d\d$/).waitFor();
  await page.getByRole("button", { name: "Download the rejects as CSV" }).waitFor();
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 900 });
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

  await page.reload();
  await give(page, sample);
  await page.getByText("Everything in this file is in the shop already.").waitFor();
  await pick(page, "Name, if that is empty", "animal_id");
  await start(page, String(rejected)).click();
  assert.equal(await summary(page), `${rejected} created, 0 changed, ${785 - rejected} unchanged, 0 rejected.`);
  const pets = await petsOf(shop);
  assert.equal(pets.length, 785);
  assert.equal(new Set(pets.map(({ id }) => id)).size, 785);
});

test("a file with the ids of a former source, for animals with other names, is imported only once a person has named its source", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "animals.csv");
  const write = (names: string[]) => writeFile(file, `id,name,species\n${names.map((name, i) => `${i + 1},${name},dog\n`).join("")}`);
  await write(["Rex", "Bo", "Max", "Ace", "Kim"]);
  const page = await shop.open("/import");
  await give(page, file);
  await start(page, "5").click();
  await summary(page);
  await write(["Nemo", "Dory", "Hank", "Pearl", "Gill"]);
  await page.reload();
  await give(page, file);
  await page.getByText("This file has ids of “animals”, where they are animals with other names.", { exact: false }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Import / }).count(), 0);
  await page.getByLabel("Where the animals come from").first().fill("Aquarium");
  await start(page, "5").click();
  assert.equal(await summary(page), "5 created, 0 changed, 0 unchanged, 0 rejected.");
  const names = (await petsOf(shop)).map(({ name }) => name).toSorted();
  assert.deepEqual(names, ["Ace", "Bo", "Dory", "Gill", "Hank", "Kim", "Max", "Nemo", "Pearl", "Rex"]);
});

test("a changed row updates its animal under the same id; another browser does not load the file twice", async (t) => {
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
  await elsewhere.getByText("Everything in this file is in the shop already.").waitFor();
  assert.deepEqual(await petsOf(shop), first);

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

test("a stopped import resumes where it was and creates nothing twice", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "many.csv");
  const rows = Array.from({ length: 2_100 }, (_, index) => `${index},Dog ${index},dog`);
  await writeFile(file, ["id,name,type", ...rows].join("\n"));
  const page = await shop.open("/import");
  let batches = 0;
  const answered = Promise.withResolvers<void>();
  await page.context().route(/\/imports\/\d+\/rows/, async (route) => {
    batches += 1;
    const answer = batches === 2 ? await route.fetch() : undefined;
    // the service has made the second batch, but its answer never comes
    if (answer) answered.resolve();
    else await route.continue();
  });
  await give(page, file);
  await start(page, "2,100").click();
  await answered.promise;
  await page.getByText("1,000 of 2,100 animals").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("1,000 animals are done.").waitFor();

  await page.context().unroute(/\/imports\/\d+\/rows/);
  await page.getByRole("button", { name: "Try again" }).click();
  assert.equal(await summary(page), "100 created, 0 changed, 2,000 unchanged, 0 rejected.");
  const pets = await petsOf(shop);
  assert.equal(new Set(pets.map(({ name }) => name)).size, 2_100);
  assert.equal(pets.length, 2_100);
});

test("at a rate limit the import waits for Retry-After, and then continues", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "few.csv");
  await writeFile(file, "id,name,type\n1,Rex,dog\n");
  const page = await shop.open("/import");
  let refusals = 0;
  await page.context().route(/\/imports\/\d+\/rows/, async (route) => {
    refusals += 1;
    const json = { code: "rate_limit_exceeded", message: "Too many.", status: 429 };
    return refusals === 1 ? route.fulfill({ status: 429, headers: { "retry-after": "1" }, json }) : route.continue();
  });
  await give(page, file);
  await page.getByRole("button", { name: "Import 1 animal" }).click();
  assert.equal(await summary(page), "1 created, 0 changed, 0 unchanged, 0 rejected.");
  assert.equal(refusals, 3, "the refused call, the same again, and the end of the import");
});

test("without an id column every row is an animal, also on a second run; where ids repeat, the page warns", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "names.csv");
  await writeFile(file, "name,species\nBella,dog\nMia,cat\nBella,dog\nBella,dog\n");
  const page = await shop.open("/import");
  await give(page, file);
  await start(page, "4").click();
  await summary(page);
  await writeFile(file, "name,species\nBella,dog\nRex,dog\nMia,cat\nBella,dog\nBella,dog\nBella,dog\n");
  await give(page, file);
  await start(page, "2").click();
  assert.equal(await summary(page), "2 created, 0 changed, 4 unchanged, 0 rejected.");
  assert.deepEqual((await petsOf(shop)).map(({ name }) => name).toSorted(), ["Bella", "Bella", "Bella", "Bella", "Mia", "Rex"]);

  const repeating = join(temporaryFolder(t), "repeating.csv");
  await writeFile(repeating, "id,name,species\n7,Ada,dog\n7,Ben,dog\n8,Cy,dog\n");
  await give(page, repeating);
  const warning = page.getByRole("alert").filter({ hasText: "1 row will be left out" });
  await warning.getByText("“7”").waitFor();
  await start(page, "2").waitFor();
  await warning.getByRole("button", { name: "Yes, import every row" }).click();
  await start(page, "3").waitFor();
  await warning.waitFor({ state: "detached" });
});

test("columns of facts are recognized by their headers and can be chosen, and a birth that cannot be read names its row and column", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "facts.csv");
  const row = (id: number, born: string) => `${id},Dog ${id},Dogs,Beagle,Female,${born},Brown,Small,Yes`;
  await writeFile(
    file,
    ["id,name,category,Breed,Sex,Date of birth,Color,Size,House-trained", row(1, "2024-05-17"), row(2, "17/05/2024")].join("\n"),
  );
  const page = await shop.open("/import");
  await give(page, file);
  await start(page, "2").waitFor();
  const facts = page.getByRole("group", { name: "Facts", exact: true });
  const columns = facts.getByRole("combobox");
  const chosen = async () => Promise.all((await columns.all()).slice(0, 6).map((one) => one.inputValue()));
  assert.deepEqual(
    await chosen(),
    ["", "Breed", "Sex", "", "Color", "Size"],
    "a column of births with one that cannot be read is left open",
  );
  await page.getByText("Columns that are not used: Date of birth, House-trained.").waitFor();
  await pick(page, "Born", "Date of birth");
  await facts.getByRole("combobox", { name: "Further facts" }).click();
  await page.getByRole("option", { name: "House-trained" }).click();
  await page.keyboard.press("Escape");
  await page.getByText("Date of birth: “17/05/2024” is not a year or a day of birth such as 2024-05-17").waitFor();
  await page.getByRole("table", { name: "The first animals" }).getByText("Beagle, Female, 2024-05-17, Brown, Small, Yes").waitFor();
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("button", { name: "Import 1 animal" }).click();
  assert.equal(await summary(page), "1 created, 0 changed, 0 unchanged, 1 rejected.");
  const [pet] = await petsOf(shop);
  assert.partialDeepStrictEqual((await shop.ask<object>("GET", `/pets/${pet!.id}/profile`)).body, {
    facts: {
      breed: "Beagle",
      sex: "Female",
      born: "2024-05-17",
      colour: "Brown",
      size: "Small",
      own: [{ name: "House-trained", value: "Yes" }],
    },
  });
});
