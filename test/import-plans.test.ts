import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chunksOf } from "../client/chunks.ts";
import { inspectFile, rowsOf, type InputFile } from "../src/importing/inspect.ts";
import { openPrices, planMapping, questionsOf, type MappingPlan } from "../src/importing/mapping-plan.ts";
import type { Mapping } from "../src/importing/mapping-schema.ts";
import { readSource } from "../src/importing/source.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";

const corpus = fileURLToPath(new URL("fixtures/imports/", import.meta.url));
const files = (await readdir(corpus)).toSorted();

/** The columns of a plan: id, name, category and status. */
const chosen = ({ mapping: { id, name, category, status } }: MappingPlan) => [id, name.columns[0], category.columns[0], status?.columns[0]];
/** The columns of the profile and of the stock. */
const shown = ({ mapping: { description, price, photos, stock } }: MappingPlan) =>
  Object.fromEntries(
    Object.entries({
      description: description?.columns[0],
      price,
      photos: photos?.columns,
      stock: typeof stock === "object" ? stock.column : stock,
    }).filter(([, value]) => value !== undefined),
  );
type Expected = {
  columns: (string | undefined)[];
  shown?: { description?: string; price?: Mapping["price"]; photos?: string[]; stock?: string };
  asks?: RegExp;
  /** Options of the command that answer all questions. */
  answers?: string[];
  /** The line and reason of each reject. */
  rejects?: string[];
};
/** The shapes of real files: their columns, and what is asked about. */
const expected: Record<string, Expected> = {
  "came-back.csv": { columns: ["Animal ID", "Name", "Species", "Status"], rejects: [] },
  "departures.csv": {
    columns: ["id", "name", "species", "Status"],
    rejects: [
      "3 “Deceased” says “Yes”, but “Status” says “Active”",
      "4 “Sold” says “x”, but “Status” says “available”",
      "5 “Outcome” says “Euthanasia”, but “Status” says “Available”",
      "9 “Deceased” says “2031-05-01”, but “Status” says “Active”",
    ],
  },
  "german-departures.csv": {
    columns: ["Nr", "Tiername", "Tierart", "Status"],
    rejects: [
      "3 “Verstorben am” says “01.05.2031”, but “Status” says “verfügbar”",
      "4 “Verkauft” says “ja”, but “Status” says “zu verkaufen”",
    ],
  },
  "polish-departures.csv": {
    columns: ["Numer", "Imię", "Gatunek", "Status"],
    rejects: [
      "2 “Data śmierci” says “2031-05-01”, but “Status” says “dostępny”",
      "4 “Adoptowany” says “tak”, but “Status” says “do adopcji”",
    ],
  },
  "dollar-prices.csv": {
    columns: ["id", "name", "species", undefined],
    shown: { price: { column: "price" } },
    asks: /which currency .*; whether a comma or a point is before the decimals of “\$1.250”/,
    answers: ["--currency", "cad", "--decimal", "comma"],
  },
  "french-prices.csv": { columns: ["Numéro", "Nom", "Espèce", undefined], shown: { price: { column: "Prix", decimal: "comma" } } },
  "german-shop.csv": {
    columns: ["Nr", "Name", "Tierart", undefined],
    shown: {
      description: "Beschreibung",
      price: { column: "Preis (EUR)", currency: "EUR", decimal: "comma" },
      photos: ["Foto 1", "Foto 2"],
      stock: "Bestand",
    },
  },
  "odd-rows.csv": {
    columns: ["id", "name", "species", undefined],
    rejects: [
      "4 has a quote that is opened and not closed",
      "5 has a quote in the wrong place",
      "9 has 4 cells where the header has 3; too many: surplus",
      "16 has a quote that is opened and not closed",
      "13 no category: species empty",
    ],
  },
  "odd-values.csv": {
    columns: ["id", "name", "species", undefined],
    shown: { description: "description", price: { column: "price", decimal: "point" }, photos: ["photos"], stock: "stock" },
    asks: /^which currency the prices of “price” have \(--currency\)$/,
    answers: ["--currency", "EUR"],
    rejects: [
      "3 the price “free” is not an amount",
      "4 the price “12,345.678 €” has more decimals than EUR has",
      "5 the price “-20 €” is not an amount",
      "6 the stock “-1” is not a whole number",
      "7 the stock “1.5” is not a whole number",
      "8 the photo “mia.jpg” is not an address that begins with https:// or http://",
      "9 the price “40” names no currency",
      "10 the price “12⁹⁰ €” is not an amount",
    ],
  },
  "shopify-products.csv": {
    columns: ["Variant SKU", "Title", "Type", undefined],
    shown: {
      description: "Body (HTML)",
      price: { column: "Variant Price", decimal: "point" },
      photos: ["Image Src"],
      stock: "Variant Inventory Qty",
    },
    asks: /which currency/,
    answers: ["--currency", "EUR"],
  },
  "swiss-currencies.csv": {
    columns: ["Code", "Name", "Species", undefined],
    shown: { price: { column: "Price", currencyColumn: "Currency", decimal: "point" } },
  },
  "woocommerce-products.csv": {
    columns: ["ID", "Name", "Categories", "In stock?"],
    shown: { description: "Description", price: { column: "Regular price", decimal: "point" }, photos: ["Images"], stock: "Stock" },
    asks: /whether the price is in “Regular price”; which status these values of “In stock\?” have: “1” \(3 rows\)/,
  },
  "asm3.csv": { columns: ["SHELTERCODE", "ANIMALNAME", "SPECIESNAME", "ANIMALSTATUS"], asks: /“Not available for adoption” \(1 row\)/ },
  "austin-outcomes.csv": { columns: ["Animal ID", "Name", "Animal Type", "Outcome Type"] },
  "dallas.csv": { columns: ["Animal Id", "Animal Breed", "Animal Type", "Outcome Type"], asks: /the name/ },
  "german-spreadsheet.csv": {
    columns: ["Nr", "Tiername", "Tierart", "Zustand"],
    shown: { stock: "Bestand" },
    asks: /“nicht verfügbar” \(1 row\)/,
  },
  "insured.csv": { columns: [undefined, "Name", "Species", "PetStatus"] },
  "king-county.csv": {
    columns: ["Animal_ID", "Animal_Name", "Animal_Type", "Record_Type"],
    shown: { photos: ["Image"] },
    asks: /“FOUND” \(1 row\), “LOST”/,
  },
  "seattle-licences.csv": { columns: ["License Number", "Animal's Name", "Species", undefined] },
  "shelterluv.csv": { columns: ["ID", "Name", "Type", "Status"], asks: /“Healthy In Home” \(1 row\)/ },
  "sonoma.csv": { columns: ["Animal ID", "Name", "Type", "Outcome Type"] },
  "spreadsheet-ids.csv": { columns: ["id", "name", "species", "status"] },
  "zuerich-hundenamen.csv": { columns: [undefined, "HundenameText", undefined, undefined] },
};

/** What the page shows of a file, by the functions that its worker calls. */
async function onPage(path: string) {
  const blob = await openAsBlob(path);
  const read = async (at: number, count: number) => new Uint8Array(await blob.slice(at, at + count).arrayBuffer());
  const file: InputFile = { name: path, bytes: () => chunksOf(blob.stream()), access: { size: blob.size, read }, isForPage: true };
  const { columns, guess, format } = await inspectFile(file);
  assert.ok(guess);
  const { rows, rejects } = await readSource(rowsOf(file, format), guess.mapping, path);
  const reasons = rejects.map(({ line, reason }) => `${line} ${reason}`);
  const isOpenPrice = Object.keys(openPrices(columns, guess.mapping)).length > 0;
  return { plan: planMapping(columns, guess.mapping), questions: questionsOf(columns, guess), created: rows.length, reasons, isOpenPrice };
}

test("every file of the corpus is expected", () => {
  assert.deepEqual(files, Object.keys(expected).toSorted());
});

for (const file of files)
  test(`the command makes the same plan for ${file} as the page, and asks the same`, async (t) => {
    const folder = temporaryFolder(t);
    const path = join(corpus, file);
    const page = await onPage(path);
    const { columns, shown: seen = {}, asks, answers, rejects } = expected[file]!;
    assert.deepEqual(chosen(page.plan), columns);
    assert.deepEqual(shown(page.plan), seen);
    if (rejects) assert.deepEqual(page.reasons, rejects);
    assert.match(page.questions.join("; "), asks ?? /^$/);
    const records = ["--rejects", join(folder, "rejects.csv"), "--state", join(folder, "state.json")];
    const { code, out, error } = await runCommand(["import", path, "--dry-run", "--json", ...records], {});
    if (asks) {
      assert.equal(code, 2, out);
      for (const question of page.questions) assert.ok(error.includes(JSON.stringify(question).slice(1, -1)), error);
      const mapping = join(folder, "mapping.json");
      assert.equal((await runCommand(["import", path, "--write-mapping", mapping], {})).code, 0);
      const isOpen = page.plan.statuses.some(({ status }) => status === undefined) || page.isOpenPrice;
      const { code: again, error: refused } = await runCommand(["import", path, "--mapping", mapping, "--dry-run", ...records], {});
      assert.equal(again, isOpen ? 2 : 0, refused);
      if (isOpen)
        assert.match(
          refused,
          /status\.values\..* must be one of available, pending, sold, reject|price\.currency must be the code of a currency/,
        );
      if (answers) assert.equal((await runCommand(["import", path, "--dry-run", ...answers, ...records], {})).code, 0);
    } else {
      if (page.plan.mapping.photos) {
        const { out: text } = await runCommand(["import", path, "--dry-run", ...records], {});
        assert.match(text, /Photos: .*; the service fetches them after the import\./);
      }
      const report = JSON.parse(out) as { plan: MappingPlan; created: number; rejected: number };
      assert.deepEqual(report.plan, JSON.parse(JSON.stringify(page.plan)));
      assert.deepEqual([report.created, report.rejected], [page.created, page.reasons.length]);
    }
  });

test("a mapping can say that columns of departures do not count, and its columns must exist", async (t) => {
  const folder = temporaryFolder(t);
  const mapping = join(folder, "mapping.json");
  const path = join(corpus, "departures.csv");
  await runCommand(["import", path, "--write-mapping", mapping], {});
  const guessed = JSON.parse(await readFile(mapping, "utf8")) as Mapping;
  const imports = async (ignore: string[]) => {
    await writeFile(mapping, JSON.stringify({ ...guessed, ignore }));
    return runCommand(["import", path, "--mapping", mapping, "--dry-run", "--json", "--rejects", join(folder, "rejects.csv")], {});
  };
  assert.partialDeepStrictEqual(JSON.parse((await imports(["Outcome", "Deceased"])).out), { created: 7, rejected: 1 });
  assert.partialDeepStrictEqual(JSON.parse((await imports(["Outcome", "Deceased", "Sold"])).out), { created: 8, rejected: 0 });
  const { code, error } = await imports(["Adopted"]);
  assert.equal(code, 2);
  assert.match(error, /has no column “Adopted”/);
});

test("ids that a spreadsheet has changed are refused with the reason, and all others are text", async () => {
  const { created, reasons } = await onPage(join(corpus, "spreadsheet-ids.csv"));
  assert.equal(created, 2, "007 and 7 are two animals");
  assert.deepEqual(
    reasons.map((reason) => reason.replace(/; format.*/, "")),
    [
      "2 the id “9.85E+14”: a spreadsheet has shortened it",
      "3 the id “1,234”: a spreadsheet has grouped the digits of it",
      "4 the id “12.0”: a spreadsheet has added decimals to it",
    ],
  );
});

test("a file none of whose rows can be read is guessed by its header, and all its rows are rejects", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "odd.csv");
  await writeFile(path, 'id,name,species\n1,"Rex,Dog\n2,"Tom, the "king"",Cat\n');
  const { questions, reasons, created } = await onPage(path);
  assert.deepEqual([questions, created, reasons.length], [[], 0, 2]);
  const { code, out } = await runCommand(["import", path, "--dry-run", "--json"], {});
  assert.equal(code, 1);
  assert.partialDeepStrictEqual(JSON.parse(out), { rows: 2, created: 0, rejected: 2 });
});
