import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import type { Report } from "../src/importing/report.ts";
import { exported, fileOf, importing, namesIn, openShop, petstore, refusal, type Pet } from "./support/importing.ts";
import { until } from "./support/until.ts";

type Shop = Awaited<ReturnType<typeof openShop>>;

/** Imports an export of the shop, which needs no mapping. */
async function importExport(shop: Shop, content: string | Buffer, ...more: string[]): Promise<Report> {
  const file = join(shop.folder, "pets.csv");
  await writeFile(file, content);
  const { code, out, error } = await petstore(shop, "import", file, "--rejects", join(shop.folder, "rejects.csv"), "--json", ...more);
  assert.equal(code, 0, error);
  return JSON.parse(out) as Report;
}

const exportOf = async (shop: Shop) => (await petstore(shop, "export", "pets", "--format", "csv")).out;
const edited = ({ edits = [] }: Report) =>
  edits.map(({ name, fields }) => [name, ...fields.map(({ field, after }) => `${field} ${after}`)]);

/** A shop with three animals. */
async function openStocked(t: Parameters<typeof openShop>[0]) {
  const shop = await openShop(t);
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,", 'A2,"Tom, the cat",cat,', "A3,Müsli,dog,foster"]));
  return { shop, pets: await exported<Pet>(shop, "pets"), text: await exportOf(shop) };
}

async function setStock(shop: Shop, petId: number, quantity: number): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${shop.key}` };
  const body = JSON.stringify({ quantity });
  assert.equal((await fetch(`${shop.url}/v1/store/inventory/${petId}`, { method: "PUT", headers, body })).status, 200);
}

/** What programs make of the table of an export, and the options that its import then needs. */
const forms: Record<string, { write: (table: string[][]) => string | Buffer; options?: string[] }> = {
  "as it is": { write: (table) => stringify(table) },
  "in capitals": { write: ([header = [], ...rows]) => stringify([header.map((name) => name.toUpperCase()), ...rows]) },
  "in another order": { write: (table) => stringify(table.map((row) => row.toReversed())) },
  "with more columns": { write: (table) => stringify(table.map((row, at) => [at === 0 ? "Notes" : "kept", ...row, ""])) },
  "with fewer columns": { write: (table) => stringify(table.map(([id, name, , , , , digests]) => [id, name, digests])) },
  "with renamed columns": { write: ([header = [], ...rows]) => stringify([header.map(renamed), ...rows]) },
  "with the line ends of an old Mac": { write: (table) => stringify(table, { record_delimiter: "\r" }) },
  "with semicolons and CR LF": { write: (table) => stringify(table, { delimiter: ";", record_delimiter: "\r\n" }) },
  "as Unicode text": { write: (table) => Buffer.from(`\uFEFF${stringify(table, { delimiter: "\t" })}`, "utf16le") },
  "in windows-1252": { write: (table) => Buffer.from(stringify(table), "latin1"), options: ["--encoding", "windows-1252"] },
  "without its digests": { write: (table) => stringify(table.map((row) => row.slice(0, -1))) },
};
const renamed = (name: string): string => (["status", "stock", "category"].includes(name) ? `our ${name}` : name);

test("an export is recognized whatever a spreadsheet did to its header, order, line ends and encoding, and only edits are applied", async (t) => {
  const { shop, text } = await openStocked(t);
  const table = parse(text);
  for (const [form, { write, options = [] }] of Object.entries(forms)) {
    const unedited = await importExport(shop, write(table), ...options);
    assert.partialDeepStrictEqual(unedited, { rows: 3, created: 0, updated: 0, unchanged: 3, rejected: 0, edits: [] }, form);
    assert.equal(unedited.importId, undefined, "nothing to undo");
    const changed = table.map((row) => row.map((cell) => (cell === "Rex" ? "Max" : cell)));
    const report = await importExport(shop, write(changed), "--dry-run", ...options);
    assert.partialDeepStrictEqual(report, { created: 0, updated: 1, unchanged: 2, rejected: 0 }, form);
    assert.deepEqual(edited(report), [["Rex", "name Max"]], form);
  }
  assert.deepEqual(await namesIn(shop), ["Rex", "Tom, the cat", "Müsli"]);

  const file = join(shop.folder, "pets.csv");
  await writeFile(file, text.replace(/^id,/, "Number,"));
  assert.match(await refusal(shop, "import", file), /Are its rows new animals \(--rows new\), or changes/);
});

test("an encoding that lacks letters edits no name, and an export whose ids a spreadsheet shortened adds no animal", async (t) => {
  const { shop, text } = await openStocked(t);
  const id = parse(text)[1]![0]!;
  for (const name of ["日本 Łódź", "🐈 cat?", "?Ж?"]) {
    const headers = { "content-type": "application/json", authorization: `Bearer ${shop.key}` };
    await fetch(`${shop.url}/v1/pets/${id}`, { method: "PATCH", headers, body: JSON.stringify({ name }) });
    const rows = await exportOf(shop);
    for (const lost of [/[^\0-\u00FF]/g, /[^\0-\u00FF]/gu]) {
      const file = rows.replaceAll(lost, "?");
      assert.partialDeepStrictEqual(await importExport(shop, file, "--dry-run"), { updated: 0, unchanged: 3, edits: [] }, file);
      const report = await importExport(shop, file.replace(name.replaceAll(lost, "?"), "? new"), "--dry-run");
      assert.partialDeepStrictEqual(report, { updated: 1, unchanged: 2 });
    }
  }
  const file = join(shop.folder, "short.csv");
  await writeFile(file, text.replaceAll(/^\d+/gm, "1.01E+03"));
  const { code, out } = await petstore(shop, "import", file, "--json");
  assert.partialDeepStrictEqual(JSON.parse(out), { created: 0, updated: 0, rejected: 3 });
  assert.equal(code, 1);
  assert.match(await readFile(`${file}.petstore-rejects.csv`, "utf8"), /a spreadsheet has shortened it/);
});

test("edits of an export are an import, which lists them and takes them back", async (t) => {
  const { shop, pets, text } = await openStocked(t);
  const [rex] = pets as [Pet];
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,"]), "--source", "Other"); // so that another import is newer than the shop's
  const before = await exportOf(shop);
  const file = text.replace(`${rex.id},Rex,${rex.categoryId},available,dog,1`, `${rex.id},Max,${rex.categoryId},available,Puppies,3`);
  const rows = file.replace(/(Tom.*)available/, "$1sold").replace("Müsli", "\u200b");
  const dryRun = await importExport(shop, rows, "--dry-run");
  const report = await importExport(shop, rows);
  assert.partialDeepStrictEqual(report, { created: 0, updated: 1, unchanged: 0, rejected: 2, categoriesMade: ["Puppies"] });
  assert.deepEqual([dryRun.updated, dryRun.rejected], [report.updated, report.rejected]);
  const rejects = await readFile(join(shop.folder, "rejects.csv"), "utf8");
  assert.match(rejects, /its stock is counted, so its status follows the count: edit the stock"\n.*,4,name must /);
  assert.equal(report.source, undefined);
  const after = await exported<Pet>(shop, "pets");
  assert.deepEqual([after[0]!.name, after[1]!.name], ["Max", "Tom, the cat"]);
  assert.notEqual(after[0]!.categoryId, rex.categoryId);
  assert.equal((await exported<{ petId: number; quantity: number }>(shop, "inventory"))[0]!.quantity, 3);
  const { out } = await petstore(shop, "imports", "get", String(report.importId), "--json");
  assert.partialDeepStrictEqual(JSON.parse(out), {
    source: "Edited export",
    fileName: "pets.csv",
    updated: 1,
    rejected: 2,
    status: "finished",
  });

  assert.equal((await petstore(shop, "imports", "undo", String(report.importId))).code, 0);
  const get = async () =>
    JSON.parse((await petstore(shop, "imports", "get", String(report.importId), "--json")).out) as { status: string; stays: object };
  await until(async () => (await get()).status === "undone");
  assert.deepEqual((await get()).stays, { count: 0, pets: [] });
  assert.equal(await exportOf(shop), before);
  assert.equal(
    (await exported<{ name: string }>(shop, "categories")).some(({ name }) => name === "Puppies"),
    false,
  );
});

test("an edit of a value that the shop has changed since waits for --apply-stale, and later exports are edited anew", async (t) => {
  const { shop, pets, text } = await openStocked(t);
  const [rex] = pets as [Pet];
  await setStock(shop, rex.id, 2);
  const row = `${rex.id},Rex,${rex.categoryId},available,dog,`;
  const file = text.replace(`${row}1`, `${row.replace("Rex", "Max")}5`);
  const report = await importExport(shop, file);
  assert.partialDeepStrictEqual(report, { updated: 1, stale: 1 });
  assert.deepEqual(report.edits?.[0]?.stale, [{ field: "stock", before: "2", after: "5" }]);
  const stockOf = async () => (await exported<{ petId: number; quantity: number }>(shop, "inventory"))[0]!.quantity;
  assert.deepEqual([await stockOf(), (await namesIn(shop))[0]], [2, "Max"]);
  assert.partialDeepStrictEqual(await importExport(shop, file, "--apply-stale"), { updated: 1, stale: 0 });
  assert.equal(await stockOf(), 5);

  // The same values again, which the shop has changed in between.
  await importExport(shop, (await exportOf(shop)).replace(",Max,", ",Moritz,"));
  await importExport(shop, (await exportOf(shop)).replace(",Moritz,", ",Max,"));
  assert.equal((await namesIn(shop))[0], "Max");
});

test("the numbers of animals in an edited export are no ids of another file", async (t) => {
  const { shop, pets, text } = await openStocked(t);
  await importExport(shop, text.replace("Rex", "Max").replace("Müsli", "Mia"));
  const file = join(shop.folder, "register.csv");
  await writeFile(file, ["id,name,species", ...pets.map(({ id }) => `${id},Other ${id},bird`)].join("\n"));
  const { code, out, error } = await petstore(shop, "import", file, "--json");
  assert.equal(code, 0, error);
  assert.partialDeepStrictEqual(JSON.parse(out), { created: 3, updated: 0, source: "register" });
  assert.deepEqual((await namesIn(shop)).slice(0, 3), ["Max", "Tom, the cat", "Mia"]);
});

test("the rejects of an edited export can be corrected and imported again, any number of times", async (t) => {
  const { shop, text } = await openStocked(t);
  const rejects = join(shop.folder, "rejects.csv");
  const invisible = "\u200b";
  let content = text.replace("Rex", invisible).replace("Müsli", `${invisible}${invisible}`);
  for (const [wrong, right, left] of [
    ["none", "", 2],
    [`,${invisible},`, ",Max,", 1],
    [`,${invisible}${invisible},`, ",Mia,", 0],
  ] as const) {
    content = content.replace(wrong, right);
    const report = await importExport(shop, content);
    assert.deepEqual([report.rejected, report.created], [left, 0]);
    if (left > 0) content = await readFile(rejects, "utf8");
    if (left > 0) assert.match(content, /^id,name,categoryId,status,category,stock,exported,line,reason\n/);
  }
  assert.deepEqual(await namesIn(shop), ["Max", "Tom, the cat", "Mia"]);
});
