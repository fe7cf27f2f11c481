import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "../src/importing/report.ts";
import { exported, namesIn, openProxy, openShop, petstore, type Pet } from "./support/importing.ts";
import { xlsx } from "./support/sheets.ts";

test("descriptions, prices and stock of a file arrive, and a later file changes only what it says differently", async (t) => {
  const shop = await openShop(t);
  const file = join(shop.folder, "shop.csv");
  const header = "id,name,species,description,price (EUR),stock";
  const run = async (...rows: string[]): Promise<Report> => {
    await writeFile(file, [header, ...rows].join("\n"));
    const { code, out, error } = await petstore(shop, "import", file, "--json");
    assert.equal(code, 0, error);
    return JSON.parse(out) as Report;
  };
  const [rex, tom] = [`1,Rex,Dog,"${"Friendly, and calm. ".repeat(200)}","1,250.00",2`, "2,Tom,Cat,,90,1"];
  assert.partialDeepStrictEqual(await run(rex, tom), { created: 2, rejected: 0 });
  const [{ id } = { id: 0 }] = await exported<Pet>(shop, "pets");
  const headers = { "content-type": "application/json", authorization: `Bearer ${shop.key}` };
  const profile = async () => (await (await fetch(`${shop.url}/v1/pets/${id}/profile`, { headers })).json()) as { description: string };
  assert.partialDeepStrictEqual(await profile(), { price: { amount: 125_000, currency: "EUR" } });
  assert.equal((await profile()).description.length, 3_999);
  assert.partialDeepStrictEqual(await run(tom, rex), { created: 0, updated: 0, unchanged: 2 });
  await fetch(`${shop.url}/v1/pets/${id}/profile`, { method: "PATCH", headers, body: '{"description": "Sweet"}' });
  const report = await run(rex.replace("1,250.00", "1,100.00"), tom.replace(",90,", ",cheap,"));
  assert.partialDeepStrictEqual(report, { created: 0, updated: 1, unchanged: 0, rejected: 1 });
  assert.partialDeepStrictEqual(await profile(), { description: "Sweet", price: { amount: 110_000, currency: "EUR" } });
});

test("prices that name no currency are in that of the shop once an owner has chosen one, unless the command names another", async (t) => {
  const shop = await openShop(t);
  const file = join(shop.folder, "shop.csv");
  await writeFile(file, "id,name,species,price\n1,Rex,Dog,1250.00\n2,Tom,Cat,90.00 EUR\n");
  const asked = await petstore(shop, "import", file);
  assert.match(asked.error, /does not show which currency the prices of “price” have \(--currency\)\. Nothing was imported/);
  await shop.setCurrency("CHF");
  const pricesAfter = async (...more: string[]) => {
    const { code, error } = await petstore(shop, "import", file, ...more);
    assert.equal(code, 0, error);
    const headers = { authorization: `Bearer ${shop.key}` };
    const profiles = (await exported<Pet>(shop, "pets")).map(async ({ id, name }) => {
      const { price } = (await (await fetch(`${shop.url}/v1/pets/${id}/profile`, { headers })).json()) as { price: object };
      return [name, price];
    });
    return Object.fromEntries((await Promise.all(profiles)) as [string, object][]);
  };
  const tom = { amount: 9_000, currency: "EUR" };
  assert.deepEqual(await pricesAfter(), { Rex: { amount: 125_000, currency: "CHF" }, Tom: tom });
  assert.deepEqual(await pricesAfter("--currency", "usd"), { Rex: { amount: 125_000, currency: "USD" }, Tom: tom });
});

test("rows with long descriptions are sent in batches that the service takes", async (t) => {
  const proxy = await openProxy(t, 1_048_576);
  const shop = { ...(await openShop(t)), url: proxy.url };
  const file = join(shop.folder, "texts.csv");
  const rows = Array.from({ length: 400 }, (_, n) => `${n},Pet ${n},Dog,${"ü".repeat(4_000)}`);
  await writeFile(file, ["id,name,species,description", ...rows].join("\n"));
  const { code, out, error } = await petstore(shop, "import", file, "--json");
  assert.equal(code, 0, error);
  assert.partialDeepStrictEqual(JSON.parse(out), { created: 400, rejected: 0 });
});

test("another sheet of a workbook can be chosen, and the summary says that several have rows", async (t) => {
  const shop = await openShop(t);
  const sheet = (name: string, pet: string) => {
    const cells = (...texts: string[]) => `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;
    return { name, rows: cells("Id", "Name", "Species") + cells("1", pet, "Dog") };
  };
  const file = join(shop.folder, "book.xlsx");
  await writeFile(file, xlsx({ sheets: [sheet("Sold, old", "Rex"), sheet("Here", "Bo")] }));
  const { out } = await petstore(shop, "import", file, "--dry-run");
  assert.match(out, /those of the sheet “Sold, old”\. The workbook has several with rows: “Sold, old”, “Here”; --sheet names another\./);
  assert.equal((await petstore(shop, "import", file, "--sheet", "Here")).code, 0);
  assert.deepEqual(await namesIn(shop), ["Bo"]);
  const sold = await petstore(shop, "import", file, "--json");
  assert.partialDeepStrictEqual(
    JSON.parse(sold.out),
    { created: 1, source: "book Sold, old" },
    "the animals of each sheet are counted from 1",
  );
  const { code, error } = await petstore(shop, "import", file, "--sheet", "Gone");
  assert.deepEqual([code, /has no sheet "Gone", but "Sold, old", "Here"/.test(error)], [2, true], error);
  await writeFile(file, "Name,Species\nRex,Dog\n");
  assert.match((await petstore(shop, "import", file, "--sheet", "Here")).error, /is not a workbook, so it has no sheet to choose/);
});
