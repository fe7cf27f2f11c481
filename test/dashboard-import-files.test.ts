import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { openDashboardShop, pick } from "./support/dashboard-shop.ts";
import { newMember } from "./support/dashboard.ts";
import { temporaryFolder } from "./support/folder.ts";
import { give, start, summary, petsOf } from "./support/import-page.ts";
import { assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { xlsx } from "./support/sheets.ts";

const [browser, service] = await stage(startService);

test("what the guess does not settle is asked, and nothing is imported before it is answered", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "unclear.csv");
  const rows = ["Rex,Dog,Not available,open", "Tom,Cat,Sold,paid", "Bo,Dog,,open", "Kim,Cat,For sale,paid"];
  await writeFile(file, ["Shelter Name,Name,Species,Status,Availability", ...rows.map((row) => `North,${row}`)].join("\n"));
  const page = await shop.open("/import");
  await give(page, file);
  await page.getByText("2 values need a status").waitFor();
  const button = page.getByRole("button", { name: /^Import \d animals$/ });
  assert.equal(await page.getByRole("combobox", { name: "Name", exact: true }).inputValue(), "Name");
  assert.equal(await page.getByRole("combobox", { name: "Status for Not available", exact: true }).inputValue(), "");
  await pick(page, "Status for Not available", "Reject the rows");
  assert.ok(await button.isDisabled());
  await page.getByText("1 value needs a status").waitFor();
  await pick(page, "Status for (empty)", "Pending");
  await start(page, "3").click();
  assert.equal(await summary(page), "3 created, 0 changed, 0 unchanged, 1 rejected.");
  assert.deepEqual(
    (await petsOf(shop)).map(({ name, status }) => [name, status]),
    [
      ["Tom", "sold"],
      ["Bo", "pending"],
      ["Kim", "available"],
    ],
  );

  const several = join(temporaryFolder(t), "several.csv");
  await writeFile(several, "Name,Species,Status,Availability\nAda,Dog,sold,for sale\nBen,Cat,for sale,sold\n");
  await give(page, several);
  await page.getByText("Several columns fit, or none").waitFor();
  await page.getByText("Answer the questions above.").waitFor();
  await assertAccessibleOnPhone(page);
  await page.getByRole("checkbox", { name: "These columns are right" }).check();
  await start(page, "2").click();
  assert.equal(await summary(page), "2 created, 0 changed, 0 unchanged, 0 rejected.");
});

test("a workbook is imported as the rows of its first visible sheet, or of the one that is chosen", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "animals.xlsx");
  const rows = [
    ["Name", "Species", "Status"],
    ["Rex", "Dog", "Available"],
    ["Tom", "Cat", "Sold"],
  ];
  const cells = rows.map((row) => `<row>${row.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`);
  const hidden = { name: "Lists", state: "hidden", rows: "" };
  const old = { name: "Old", rows: cells.slice(0, 2).join("") };
  await writeFile(file, xlsx({ sheets: [hidden, old, { name: "Animals", rows: cells.join("") }] }));
  const page = await shop.open("/import");
  await give(page, file);
  await page.getByRole("button", { name: "Import 1 animal", exact: true }).waitFor();
  await page.getByText("2 sheets of this workbook have rows.").waitFor();
  await pick(page, "Sheet", "Animals");
  await start(page, "2").click();
  assert.equal(await summary(page), "2 created, 0 changed, 0 unchanged, 0 rejected.");
  assert.deepEqual(
    (await petsOf(shop)).map(({ name, status }) => [name, status]),
    [
      ["Rex", "available"],
      ["Tom", "sold"],
    ],
  );
});

test("an unreadable file is refused in plain words before any request", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const folder = temporaryFolder(t);
  const page = await shop.open("/import");
  const cases: [string, string | Buffer, RegExp][] = [
    ["quote.csv", 'id,"name\n1,Rex\n', /line 1 has a quote that is opened and not closed/],
    ["workbook.csv", Buffer.from("504b030414000600", "hex"), /is a zip file that breaks off/],
    ["old.xls", Buffer.from("d0cf11e0a1b11ae1", "hex"), /is a workbook of an old spreadsheet program/],
    ["picture.csv", Buffer.from("id,name\n1,\u0001\u0002\n"), /is not a text file/],
    [
      "damaged.csv",
      Buffer.concat([Buffer.from("id,name\n1,Zoë é\n2,"), Buffer.from([0xc3, 0x0a])]),
      /UTF-8 text with 1 damaged characters/,
    ],
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

test("files of spreadsheets in any usual encoding and with any usual delimiter are read as they are meant", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const folder = temporaryFolder(t);
  const page = await shop.open("/import");
  const lines = ["Nr;Tiername;Tierart;Zustand", "1;Zoë, die Große;Hund;verkauft", "2;Müsli;Katze;verfügbar", ""].join("\r\n");
  const tabs = lines.replaceAll(";", "\t");
  const cases: [string, Buffer, string, string][] = [
    ["semicolons.csv", Buffer.from(lines), "UTF-8", "Semicolons"],
    ["tabs.txt", Buffer.from(`\uFEFF${tabs}`, "utf16le"), "UTF-16", "Tabs"],
    ["big.csv", Buffer.from(tabs, "utf16le").swap16(), "UTF-16 (big-endian)", "Tabs"],
    ["windows.csv", Buffer.from(`sep=;\r\n${lines}`, "latin1"), "Windows-1252 (Western Europe)", "Semicolons"],
    ["bars.csv", Buffer.from(`\uFEFF${lines.replaceAll(";", "|")}`), "UTF-8", "Bars |"],
  ];
  for (const [name, content, encoding, delimiter] of cases) {
    await writeFile(join(folder, name), content);
    await give(page, join(folder, name));
    await start(page, "2").waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Text encoding" }).inputValue(), encoding, name);
    assert.equal(await page.getByRole("combobox", { name: "Columns are separated by" }).inputValue(), delimiter, name);
    const rows = await page.getByRole("table", { name: "The first animals" }).locator("tbody tr").allInnerTexts();
    assert.deepEqual(
      rows.map((row) => row.split(/\s*\t\s*|\n+/).filter(Boolean)),
      [
        ["1", "Zoë, die Große", "Hund", "Sold"],
        ["2", "Müsli", "Katze", "Available"],
      ],
      name,
    );
  }
  const button = start(page, "2");
  const box = await button.boundingBox();
  assert.ok(box && box.y + box.height <= (page.viewportSize()?.height ?? 0), "the start button is in the window");
});

test("prices that name no currency are in that of the shop on the page, which shows it and asks nothing", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const owner = await newMember(service, { account: shop.id, email: "francs@shop.example", role: "owner" });
  await owner.ask("PATCH", "/account", { currency: "CHF" });
  const file = join(temporaryFolder(t), "prices.csv");
  await writeFile(file, "id,Name,Species,Price\n1,Rex,Dog,300.00\n2,Tom,Cat,400.00");
  const page = await shop.open("/import");
  await give(page, file);
  await page.getByText("300.00 CHF", { exact: true }).waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Currency of prices that name none" }).inputValue(), "CHF");
  assert.equal(await page.getByText("The prices are not clear").count(), 0);
  await pick(page, "Currency of prices that name none", "USD");
  await page.getByText("300.00 USD", { exact: true }).waitFor();
  await start(page, "2").click();
  assert.equal(await summary(page), "2 created, 0 changed, 0 unchanged, 0 rejected.");
  const [rex] = await petsOf(shop);
  const { body } = await shop.ask<object>("GET", `/pets/${rex?.id}/profile`);
  assert.partialDeepStrictEqual(body, { price: { amount: 30_000, currency: "USD" } });
});

test("prices, descriptions, photos and stock are chosen on the page, which asks for the currency and the amounts that prices leave open", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const file = join(temporaryFolder(t), "prices.csv");
  const rows = ['1,Rex,Dog,Friendly,"1,250",2', "2,Tom,Cat,,free,1", "3,Bo,Dog,Calm,300,1"];
  await writeFile(file, ["id,Name,Species,Description,Price,Stock", ...rows].join("\n"));
  const page = await shop.open("/import");
  await give(page, file);
  await page.getByText("The prices are not clear").waitFor();
  await page.getByText("Answer the questions above.").waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Price", exact: true }).inputValue(), "Price");
  assert.equal(await page.getByRole("combobox", { name: "Stock", exact: true }).inputValue(), "Stock");
  await pick(page, "Currency of prices that name none", "EUR");
  await pick(page, "What “1,250” means", "A point is before the decimals");
  await page.getByText("the price “free” is not an amount").waitFor();
  await page.getByText("1250.00 EUR", { exact: true }).waitFor();
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  await start(page, "2").click();
  assert.equal(await summary(page), "2 created, 0 changed, 0 unchanged, 1 rejected.");
  const [rex] = await petsOf(shop);
  const { body } = await shop.ask<object>("GET", `/pets/${rex?.id}/profile`);
  assert.partialDeepStrictEqual(body, { description: "Friendly", price: { amount: 125_000, currency: "EUR" } });
});
