import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { readCsv } from "../../src/importing/csv-file.ts";
import { parseMapping } from "../../src/importing/mapping-file.ts";
import { readSource } from "../../src/importing/source.ts";
import { readColumns, type Column } from "./columns.ts";
import { guessMapping } from "./guess.ts";

const root = new URL("../../", import.meta.url).pathname;
const column = (name: string, ...values: string[]): Column => ({ name, values: values.map((value) => ({ value, rows: 1 })) });

test("the guessed mapping of the shelter's file reads every row like the mapping written by hand", async () => {
  const file = `${root}examples/longbeach-sample.csv`;
  const guessed = guessMapping((await readColumns(readCsv(file))).columns);
  assert.ok(guessed);
  parseMapping(JSON.stringify(guessed), "the guess");
  const byHand = parseMapping(await readFile(`${root}examples/longbeach.mapping.json`, "utf8"), "by hand");
  const [ours, theirs] = [await readSource(readCsv(file), guessed, file), await readSource(readCsv(file), byHand, file)];
  assert.deepEqual(ours.rejects, theirs.rejects);
  assert.deepEqual(
    ours.rows.map(({ pet }) => pet),
    theirs.rows.map(({ pet }) => pet),
  );
});

test("headers are recognized by their words, in any spelling", () => {
  for (const header of [
    ["petId", "petName", "species", "availability"],
    ["Pet ID", "Pet name", "Species", "Availability"],
    ["PET_ID", "PET_NAME", "SPECIES", "AVAILABILITY"],
  ] as const) {
    const mapping = guessMapping(header.map((name) => column(name, "For sale", "on hold")));
    const [id = "", name = "", species = "", availability = ""] = header;
    assert.deepEqual(mapping, {
      id,
      name: { columns: [name, id], transforms: ["strip-stars"] },
      category: { columns: [species] },
      status: { columns: [availability], values: { "for sale": "available", "on hold": "pending" } },
    });
  }
});

test("a value without a known word gets no status, and a column with too many values is not the status", () => {
  assert.deepEqual(guessMapping([column("id"), column("name"), column("type"), column("status", "sold", "purple")])?.status?.values, {
    sold: "sold",
  });
  assert.equal(guessMapping([column("id"), column("name"), column("type"), { name: "status", values: undefined }])?.status, undefined);
});

test("a column becomes the id only if its header says so", () => {
  assert.equal(guessMapping([column("name"), column("species")])?.id, undefined);
  assert.equal(guessMapping([column("Name"), column("Nr."), column("Tierart")])?.id, "Nr.");
  assert.deepEqual(guessMapping([column("Tiername"), column("Art"), column("Zustand", "Verfügbar", "verkauft")]), {
    name: { columns: ["Tiername"], transforms: ["strip-stars"] },
    category: { columns: ["Art"] },
    status: { columns: ["Zustand"], values: { verfügbar: "available", verkauft: "sold" } },
  });
});

test("a file with only names gets one category that can be changed; a file without a header gets no guess", () => {
  assert.deepEqual(guessMapping([column("Name")]), {
    name: { columns: ["Name"], transforms: ["strip-stars"] },
    category: { columns: [], default: "Other" },
  });
  assert.equal(guessMapping([]), undefined);
  assert.equal(guessMapping([column("")]), undefined);
});
